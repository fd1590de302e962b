// Short messages in the corner. Errors stay until closed; others disappear after some seconds.
import { Store } from './store';

export interface Toast {
    id: number;
    kind: 'info' | 'error';
    message: string;
    action?: { label: string; run: () => void };
}
export const toasts = new Store<Toast[]>([]);
let next = 1;
const DURATION_MS = 6000;
const ACTION_DURATION_MS = 12000;

export function dropToast(id: number): void {
    toasts.set(toasts.get().filter((toast) => toast.id !== id));
}

/** Returns the id, for dropToast(). */
export function showToast(message: string, action?: Toast['action'], kind: Toast['kind'] = 'info'): number {
    const id = next++;
    // an error that is repeated is shown once
    const others = toasts.get().filter((one) => one.kind !== 'error' || one.message !== message);
    toasts.set([...others.slice(-3), { id, kind, message, action }]);
    if (kind === 'info') {
        setTimeout(() => dropToast(id), action ? ACTION_DURATION_MS : DURATION_MS);
    }
    return id;
}

/** Shows the message of an error. Requests that the page aborted itself are not errors. */
export function showError(error: unknown): void {
    if (error instanceof DOMException && error.name === 'AbortError') {
        return;
    }
    showToast(error instanceof Error ? error.message : String(error), undefined, 'error');
}
