// To the trash and back. Its one rule: what can be undone is done at once and offered to be undone; what cannot asks first.
import { send } from '../../api';
import { text } from '../../text';
import { showError, showToast } from '../../toasts';
import type { Recording } from '../../types';

const words = text.library;

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
            showToast(words.restored(recording.name));
            after();
        },
    );
}

export function trash(recording: Recording, after: () => void): Promise<void> {
    return attempt(
        () => send('DELETE', `/recordings/${recording.id}`),
        () => {
            showToast(words.trashed(recording.name), { label: text.undo, run: () => void restore(recording, after) });
            after();
        },
    );
}

export function purge(recording: Recording, after: () => void): Promise<void> {
    return attempt(
        () => send('DELETE', `/recordings/${recording.id}`, { params: { purge: true } }),
        () => {
            showToast(words.purged(recording.name));
            after();
        },
    );
}
