// Description, tags and notes. Changes are sent with the ETag of the version shown; after a conflict the new version is
// loaded and the typed text stays in the field.
import { useEffect, useRef, useState } from 'preact/hooks';
import { href } from '../../address';
import { ApiError, getAll, patch, send } from '../../api';
import { useRequest } from '../../use_request';
import { ago } from '../../format';
import { linkKey } from '../../shared_link';
import { useRole } from '../../service';
import { text } from '../../text/common';
import { detailsText } from '../../text/recording';
import { showError } from '../../toasts';
import type { Recording } from '../../types';
import { Button, Failed, Field } from '../../ui';
import { quoted } from '../library/query';

export interface Loaded {
    recording: Recording;
    tag: string | null;
    reload: () => void;
}

/** Sends a merge patch. Returns false after an error, which has been shown. */
export async function change({ recording, tag, reload }: Loaded, body: unknown): Promise<boolean> {
    try {
        await patch(`/recordings/${recording.id}`, body, tag);
        reload();
        return true;
    } catch (error) {
        if (error instanceof ApiError && error.status === 412) {
            reload();
            showError(new Error(detailsText.editConflict));
        } else {
            showError(error);
        }
        return false;
    }
}

/**
 * The text being edited, null when it is not. When the editor closes, the focus returns to the button that opened it.
 */
export function useDraft() {
    const [draft, setDraft] = useState<string | null>(null);
    const button = useRef<HTMLSpanElement>(null); // the element around it
    const opened = useRef(false);
    useEffect(() => {
        if (draft === null && opened.current) {
            button.current?.querySelector('button')?.focus();
        }
        opened.current = draft !== null;
    }, [draft === null]);
    return { draft, setDraft, button };
}

export function Description(loaded: Loaded) {
    const { recording } = loaded;
    const mayEdit = useRole('edit');
    const { draft, setDraft, button } = useDraft();
    if (draft === null) {
        return (
            <div class="details-description">
                {recording.description ? (
                    <p>{recording.description}</p>
                ) : (
                    <p class="muted">{detailsText.noDescription}</p>
                )}
                {mayEdit && (
                    <span ref={button}>
                        <Button
                            kind="quiet"
                            icon="edit"
                            label={detailsText.editDescription}
                            onClick={() => setDraft(recording.description)}
                        />
                    </span>
                )}
            </div>
        );
    }
    const save = async () =>
        (draft === recording.description || (await change(loaded, { description: draft }))) && setDraft(null);
    const key = (event: KeyboardEvent) => {
        if (event.key === 'Escape') {
            setDraft(null);
        } else if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) {
            void save();
        }
    };
    return (
        <form onSubmit={(event) => (event.preventDefault(), void save())}>
            <Field
                multiline
                focused
                label={detailsText.description}
                value={draft}
                onInput={(event) => setDraft(event.currentTarget.value)}
                onKeyDown={key}
            />
            <div class="row details-add">
                <Button type="submit" kind="main">
                    {detailsText.save}
                </Button>
                <Button onClick={() => setDraft(null)}>{text.cancel}</Button>
            </div>
        </form>
    );
}

export function Tags(loaded: Loaded) {
    const { recording } = loaded;
    const mayEdit = useRole('edit');
    const [typed, setTyped] = useState('');
    const [error, setError] = useState<string | null>(null);
    const add = async () => {
        const [, key = '', value = ''] = /^\s*([^=:\s]+)\s*[=:]\s*(.*?)\s*$/.exec(typed) ?? [];
        if (!key || !value) {
            setError(detailsText.tagForm);
        } else if (await change(loaded, { tags: { [key]: value } })) {
            setTyped('');
            setError(null);
        }
    };
    if (!mayEdit && Object.keys(recording.tags).length === 0) {
        return null;
    }
    return (
        <section class="details-part">
            <h3>{detailsText.tags}</h3>
            <ul class="details-tags">
                {Object.entries(recording.tags).map(([key, value]) => (
                    <li key={key} class="tag">
                        <a href={linkKey ? undefined : href('', { q: `${quoted(key)}:${quoted(value)}` })}>
                            <span class="muted">{key}</span> {value}
                        </a>
                        {mayEdit && (
                            <button
                                type="button"
                                aria-label={detailsText.removeTag(key)}
                                onClick={() => void change(loaded, { tags: { [key]: null } })}
                            >
                                ×
                            </button>
                        )}
                    </li>
                ))}
            </ul>
            {mayEdit && (
                <form class="row details-add" onSubmit={(event) => (event.preventDefault(), void add())}>
                    <Field
                        label={detailsText.addTag}
                        hidden_label
                        placeholder={detailsText.tagHint}
                        value={typed}
                        error={error}
                        onInput={(event) => setTyped(event.currentTarget.value)}
                        class="grow"
                    />
                    <Button type="submit" disabled={!typed.trim()}>
                        {detailsText.add}
                    </Button>
                </form>
            )}
        </section>
    );
}

interface Note {
    id: string;
    author: string;
    text: string;
    created: string;
}
export function Notes({ recording }: Loaded) {
    const notes = useRequest(
        (signal) => getAll<Note>(`/recordings/${recording.id}/notes`, {}, 1000, signal),
        [recording.id, recording.notes],
    );
    const mayEdit = useRole('edit');
    const [typed, setTyped] = useState('');
    const submit = async (request: Promise<unknown>) => {
        try {
            await request;
            notes.reload();
            return true;
        } catch (error) {
            showError(error);
            return false;
        }
    };
    const add = async () =>
        (await submit(send('POST', `/recordings/${recording.id}/notes`, { body: { text: typed } }))) && setTyped('');
    return (
        <section class="details-part">
            <h3>{detailsText.notes}</h3>
            {notes.error !== null && <Failed error={notes.error} retry={notes.reload} />}
            <ul class="details-list">
                {(notes.value ?? []).map((note) => (
                    <li key={note.id} class="details-note">
                        <p>{note.text}</p>
                        <p class="small muted row">
                            <span class="grow">
                                {note.author}, {ago(note.created)}
                            </span>
                            {mayEdit && (
                                <Button
                                    kind="quiet"
                                    icon="trash"
                                    label={detailsText.removeNote}
                                    onClick={() =>
                                        void submit(send('DELETE', `/recordings/${recording.id}/notes/${note.id}`))
                                    }
                                />
                            )}
                        </p>
                    </li>
                ))}
            </ul>
            {mayEdit && (
                <form class="details-add" onSubmit={(event) => (event.preventDefault(), void add())}>
                    <Field
                        multiline
                        label={detailsText.addNote}
                        value={typed}
                        onInput={(event) => setTyped(event.currentTarget.value)}
                    />
                    <Button type="submit" disabled={!typed.trim()}>
                        {detailsText.add}
                    </Button>
                </form>
            )}
        </section>
    );
}
