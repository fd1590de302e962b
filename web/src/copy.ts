// Text into the clipboard, also where the browser has no clipboard for pages (plain http off this machine).
import { text } from './text';
import { showError, showToast } from './toasts';

function copyByHand(words: string): boolean {
    const field = document.createElement('textarea');
    field.value = words;
    field.setAttribute('readonly', '');
    field.className = 'unseen';
    (document.querySelector('dialog[open]') ?? document.body).append(field); // a modal dialog keeps the focus in itself
    field.select();
    const done = document.execCommand('copy');
    field.remove();
    return done;
}

export async function copyText(what: string | Promise<string>): Promise<void> {
    try {
        const words = await what;
        if (navigator.clipboard) {
            await navigator.clipboard.writeText(words);
        } else if (!copyByHand(words)) {
            throw new Error(text.cannotCopy(words));
        }
        showToast(text.copied);
    } catch (error) {
        showError(error);
    }
}
