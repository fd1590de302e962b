// Short messages in the corner. Its one rule: an error stays until it is closed, all else goes by itself.
import { Store } from './store';

export interface Toast {
    id: number;
    kind: 'info' | 'error';
    message: string;
    action?: { label: string; run: () => void };
}
export const toasts = new Store<Toast[]>([]);
let next = 1;
const GOES_AFTER_MS = 6000;
const WITH_ACTION_MS = 12000;

export function dropToast(id: number): void {
    toasts.set(toasts.get().filter((toast) => toast.id !== id));
}

export function showToast(message: string, action?: Toast['action'], kind: Toast['kind'] = 'info'): void {
    const id = next++;
    toasts.set([...toasts.get().slice(-3), { id, kind, message, action }]);
    if (kind === 'info') {
        setTimeout(() => dropToast(id), action ? WITH_ACTION_MS : GOES_AFTER_MS);
    }
}

/** What went wrong, in the server's words. What was given up by the page itself is no error. */
export function showError(error: unknown): void {
    if (error instanceof DOMException && error.name === 'AbortError') {
        return;
    }
    showToast(error instanceof Error ? error.message : String(error), undefined, 'error');
}
