// Files that are dropped anywhere on the page are uploaded. Its one rule: the code for that comes with the page's first drag, before the drop.
import { go } from './address';
import { showError } from './toasts';

export interface Dropped {
    entries: FileSystemEntry[];
    files: File[]; // where the browser gives no entries
}
/** To be called while the drop is handled: afterwards the browser forgets. */
export function droppedOf(data: DataTransfer): Dropped {
    const entries = [...data.items].map((item) => item.webkitGetAsEntry()).filter((entry) => entry !== null);
    return { entries, files: entries.length > 0 ? [] : [...data.files] };
}

const hasFiles = (event: DragEvent) => event.dataTransfer?.types.includes('Files') ?? false;

export function catchDrops(): void {
    let anywhere: Promise<typeof import('./views/upload/anywhere')> | null = null;
    document.addEventListener('dragover', (event) => {
        if (hasFiles(event)) {
            event.preventDefault();
            anywhere ??= import('./views/upload/anywhere');
        }
    });
    document.addEventListener('drop', (event) => {
        if (!event.defaultPrevented && hasFiles(event)) {
            event.preventDefault();
            const dropped = droppedOf(event.dataTransfer!);
            anywhere ??= import('./views/upload/anywhere');
            anywhere.then((upload) => upload.take(dropped)).then(() => go('/upload'), showError);
        }
    });
}
