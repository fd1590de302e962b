// The progress of the uploads, for the header of every page: the uploads themselves are loaded with their view.
import { Store } from './store';

export interface UploadProgress {
    left: number; // files
    part: number; // of the bytes, 0 … 1
}
/** Null: nothing is sent. */
export const uploadProgress = new Store<UploadProgress | null>(null);
