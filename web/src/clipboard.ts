// Copies text to the clipboard, also where navigator.clipboard is missing (plain http from another host).
import { text } from './text/common';
import { showError, showToast } from './toasts';

function copyWithCommand(value: string): boolean {
    const field = document.createElement('textarea');
    field.value = value;
    field.setAttribute('readonly', '');
    field.className = 'visually-hidden';
    // outside a modal dialog it could not take the focus
    (document.querySelector('dialog[open]') ?? document.body).append(field);
    field.select();
    const done = document.execCommand('copy');
    field.remove();
    return done;
}

export async function copyText(source: string | Promise<string>): Promise<void> {
    try {
        const value = await source;
        if (navigator.clipboard) {
            await navigator.clipboard.writeText(value);
        } else if (!copyWithCommand(value)) {
            throw new Error(text.cannotCopy(value));
        }
        showToast(text.copied);
    } catch (error) {
        showError(error);
    }
}
