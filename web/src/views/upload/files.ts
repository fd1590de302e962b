// The files of a drop or a file picker, with the contents of folders. Hidden files are skipped; names include the
// folder.
import type { DroppedFiles } from '../../file_drop';
import type { Chosen } from './queue';

const hidden = (name: string) => name.split('/').some((part) => part.startsWith('.'));

function readAll(reader: FileSystemDirectoryReader): Promise<FileSystemEntry[]> {
    return new Promise((resolve, reject) => {
        const all: FileSystemEntry[] = [];
        const more = () =>
            reader.readEntries((entries) => {
                if (entries.length === 0) {
                    resolve(all);
                } else {
                    all.push(...entries);
                    more(); // browsers return about 100 entries per call
                }
            }, reject);
        more();
    });
}

async function walk(entry: FileSystemEntry, out: Chosen[]): Promise<void> {
    if (hidden(entry.name)) {
        return;
    }
    if (entry.isDirectory) {
        for (const child of await readAll((entry as FileSystemDirectoryEntry).createReader())) {
            await walk(child, out);
        }
        return;
    }
    const file = await new Promise<File>((resolve, reject) => (entry as FileSystemFileEntry).file(resolve, reject));
    out.push({ file, name: entry.fullPath.replace(/^\//, '') });
}

export async function filesFromDrop({ entries, files }: DroppedFiles): Promise<Chosen[]> {
    const out: Chosen[] = files.map((file) => ({ file, name: file.name }));
    for (const entry of entries) {
        await walk(entry, out);
    }
    return out;
}

export function filesFromInput(list: FileList): Chosen[] {
    return [...list]
        .map((file) => ({ file, name: file.webkitRelativePath || file.name }))
        .filter(({ name }) => !hidden(name));
}
