// Files dropped anywhere on the page: a sheet asks where they go, before anything is sent. Its code is loaded by the
// drop.
import { address } from './address';
import { linkKey } from './shared_link';
import { Store } from './store';
import { selectedCollection } from './views/library/query';

export interface DroppedFiles {
    entries: FileSystemEntry[];
    files: File[]; // only where the browser has no entries
}
export interface Dropped {
    files: DroppedFiles;
    collection: string | null; // that the library shows
    recording: string | null; // that is shown
}
/** What the sheet is asking about; null: it is closed. */
export const droppedFiles = new Store<Dropped | null>(null);

/** Must be called synchronously in the drop event: afterwards the browser clears the data. */
export function readDrop(data: DataTransfer): DroppedFiles {
    const entries = [...data.items].map((item) => item.webkitGetAsEntry()).filter((entry) => entry !== null);
    return { entries, files: entries.length > 0 ? [] : [...data.files] };
}

const hasFiles = (event: DragEvent) => event.dataTransfer?.types.includes('Files') ?? false;

export function handleFileDrops(): void {
    document.addEventListener('dragover', (event) => {
        if (hasFiles(event)) {
            event.preventDefault();
        }
    });
    document.addEventListener('drop', (event) => {
        if (!event.defaultPrevented && hasFiles(event) && !linkKey) {
            event.preventDefault();
            const { path, query } = address.get();
            const recording = /^recordings\/([^/]+)/.exec(path)?.[1] ?? null;
            const collection = path === '' ? selectedCollection(query.get('q') ?? '') : null;
            droppedFiles.set({ files: readDrop(event.dataTransfer!), collection, recording });
        }
    });
}
