// Trash, restore, delete permanently. Trashing offers an undo; the caller confirms deletion.
import { send } from '../../api';
import { text } from '../../text/common';
import { libraryText } from '../../text/library';
import { showError, showToast } from '../../toasts';
import type { Recording } from '../../types';

const t = libraryText;

async function attempt(work: () => Promise<unknown>, done: () => void): Promise<void> {
    try {
        await work();
        done();
    } catch (error) {
        showError(error);
    }
}

export function restore(recording: Recording, after: () => void): Promise<void> {
    return attempt(
        () => send('POST', `/recordings/${recording.id}/restore`),
        () => {
            showToast(t.restored(recording.name));
            after();
        },
    );
}

export function trash(recording: Recording, after: () => void): Promise<void> {
    return attempt(
        () => send('DELETE', `/recordings/${recording.id}`),
        () => {
            showToast(t.trashed(recording.name), { label: text.undo, run: () => void restore(recording, after) });
            after();
        },
    );
}

export function purge(recording: Recording, after: () => void): Promise<void> {
    return attempt(
        () => send('DELETE', `/recordings/${recording.id}`, { params: { purge: true } }),
        () => {
            showToast(t.purged(recording.name));
            after();
        },
    );
}
