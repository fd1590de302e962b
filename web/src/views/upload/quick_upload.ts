// Files dropped outside the upload view go to the collection that was used last.
import type { DroppedFiles } from '../../file_drop';
import { filesFromDrop } from './files';
import { addFiles } from './queue';

export const COLLECTION_KEY = 'reel.collection';
export const lastCollection = (): string => localStorage.getItem(COLLECTION_KEY) ?? 'default';

export async function uploadDropped(dropped: DroppedFiles): Promise<void> {
    addFiles(await filesFromDrop(dropped), lastCollection(), {});
}
