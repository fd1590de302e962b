// A modal dialog, based on <dialog>: it traps the focus and restores it; Escape closes it.
import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import { text } from '../text/common';
import { Button, Field } from './basic';

export function Dialog({
    title,
    onClose,
    children,
    actions,
    wide,
}: {
    title: string;
    onClose: () => void;
    children: ComponentChildren;
    actions?: ComponentChildren;
    wide?: boolean;
}) {
    const dialog = useRef<HTMLDialogElement>(null);
    const id = useId();
    useEffect(() => {
        const shown = dialog.current!;
        shown.showModal();
        return () => shown.close();
    }, []);
    return (
        <dialog
            ref={dialog}
            class={wide ? 'dialog wide' : 'dialog'}
            aria-labelledby={id}
            onCancel={(event) => (event.preventDefault(), onClose())}
            onMouseDown={(event) => event.target === dialog.current && onClose()}
        >
            <div class="head">
                <h2 id={id}>{title}</h2>
                <Button kind="quiet" icon="close" label={text.close} onClick={onClose} />
            </div>
            <div class="body">{children}</div>
            {actions && <div class="foot">{actions}</div>}
        </dialog>
    );
}

/** A confirmation dialog. `word` must be typed to confirm, if given. */
export function Confirm({
    title,
    help,
    button,
    word,
    onYes,
    onClose,
}: {
    title: string;
    help: ComponentChildren;
    button: string;
    word?: string;
    onYes: () => void;
    onClose: () => void;
}) {
    const [typed, setTyped] = useState('');
    return (
        <Dialog
            title={title}
            onClose={onClose}
            actions={
                <>
                    <Button onClick={onClose}>{text.cancel}</Button>
                    <Button
                        kind="danger"
                        disabled={word !== undefined && typed !== word}
                        onClick={() => (onYes(), onClose())}
                    >
                        {button}
                    </Button>
                </>
            }
        >
            <p>{help}</p>
            {word !== undefined && (
                <Field
                    label={text.typeToConfirm(word)}
                    value={typed}
                    autocomplete="off"
                    onInput={(event) => setTyped(event.currentTarget.value)}
                />
            )}
        </Dialog>
    );
}
