// What was dropped outside the upload view goes to the collection that was used last.
import type { Dropped } from '../../drops';
import { filesOf } from './dropped';
import { addFiles } from './queue';

export const COLLECTION_KEY = 'reel.collection';
export const lastCollection = (): string => localStorage.getItem(COLLECTION_KEY) ?? 'default';

export async function take(dropped: Dropped): Promise<void> {
    addFiles(await filesOf(dropped), lastCollection(), {});
}
