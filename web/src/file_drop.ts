// Files dropped anywhere on the page are uploaded. The upload code is loaded by the first drag, before the drop.
import { go } from './address';
import { showError } from './toasts';

export interface DroppedFiles {
    entries: FileSystemEntry[];
    files: File[]; // only where the browser has no entries
}
/** Must be called synchronously in the drop event: afterwards the browser clears the data. */
export function readDrop(data: DataTransfer): DroppedFiles {
    const entries = [...data.items].map((item) => item.webkitGetAsEntry()).filter((entry) => entry !== null);
    return { entries, files: entries.length > 0 ? [] : [...data.files] };
}

const hasFiles = (event: DragEvent) => event.dataTransfer?.types.includes('Files') ?? false;

export function handleFileDrops(): void {
    let loaded: Promise<typeof import('./views/upload/quick_upload')> | null = null;
    document.addEventListener('dragover', (event) => {
        if (hasFiles(event)) {
            event.preventDefault();
            loaded ??= import('./views/upload/quick_upload');
        }
    });
    document.addEventListener('drop', (event) => {
        if (!event.defaultPrevented && hasFiles(event)) {
            event.preventDefault();
            const dropped = readDrop(event.dataTransfer!);
            loaded ??= import('./views/upload/quick_upload');
            loaded.then((upload) => upload.uploadDropped(dropped)).then(() => go('/upload'), showError);
        }
    });
}
