// What people say of the recording: description, tags, notes. Its one rule: a change is sent at once with the tag of what was seen; when somebody was
// faster, what they wrote is loaded and the words typed here stay in the field.
import { useState } from 'preact/hooks';
import { href } from '../../address';
import { ApiError, getAll, patch, send } from '../../api';
import { useAsk } from '../../ask';
import { ago } from '../../format';
import { text } from '../../text';
import { showError } from '../../toasts';
import type { Recording } from '../../types';
import { Button, Failed, Field } from '../../ui';
import { quoted } from '../library/query';

export interface Loaded {
    recording: Recording;
    tag: string | null;
    again: () => void;
}

/** Sends a merge patch; false: it was not taken, and why has been told. */
export async function change({ recording, tag, again }: Loaded, body: unknown): Promise<boolean> {
    try {
        await patch(`/recordings/${recording.id}`, body, tag);
        again();
        return true;
    } catch (error) {
        if (error instanceof ApiError && error.status === 412) {
            again();
            showError(new Error(text.about.changedMeanwhile));
        } else {
            showError(error);
        }
        return false;
    }
}

export function Description(loaded: Loaded) {
    const { recording } = loaded;
    const [draft, setDraft] = useState<string | null>(null);
    if (draft === null) {
        return (
            <div class="about-description">
                {recording.description ? <p>{recording.description}</p> : <p class="soft">{text.about.noDescription}</p>}
                <Button kind="quiet" icon="edit" label={text.about.editDescription} onClick={() => setDraft(recording.description)} />
            </div>
        );
    }
    const save = async () => (await change(loaded, { description: draft })) && setDraft(null);
    return (
        <form onSubmit={(event) => (event.preventDefault(), void save())}>
            <Field multiline label={text.about.description} value={draft} onInput={(event) => setDraft(event.currentTarget.value)} />
            <div class="row about-add">
                <Button type="submit" kind="main">
                    {text.about.save}
                </Button>
                <Button onClick={() => setDraft(null)}>{text.cancel}</Button>
            </div>
        </form>
    );
}

export function Tags(loaded: Loaded) {
    const { recording } = loaded;
    const [typed, setTyped] = useState('');
    const [error, setError] = useState<string | null>(null);
    const add = async () => {
        const [, key = '', value = ''] = /^\s*([^=\s]+)\s*=\s*(.*?)\s*$/.exec(typed) ?? [];
        if (!key || !value) {
            setError(text.about.tagForm);
        } else if (await change(loaded, { tags: { [key]: value } })) {
            setTyped('');
            setError(null);
        }
    };
    return (
        <div>
            <ul class="about-tags">
                {Object.entries(recording.tags).map(([key, value]) => (
                    <li key={key} class="tag">
                        <a href={href('/', { q: `${quoted(key)}:${quoted(value)}` })}>
                            <span class="soft">{key}</span> {value}
                        </a>
                        <button type="button" aria-label={text.about.removeTag(key)} onClick={() => void change(loaded, { tags: { [key]: null } })}>
                            ×
                        </button>
                    </li>
                ))}
            </ul>
            <form class="row about-add" onSubmit={(event) => (event.preventDefault(), void add())}>
                <Field label={text.about.addTag} hidden_label placeholder={text.about.tagHint} value={typed} error={error} onInput={(event) => setTyped(event.currentTarget.value)} class="grow" />
                <Button type="submit" disabled={!typed.trim()}>
                    {text.about.add}
                </Button>
            </form>
        </div>
    );
}

interface Note {
    id: string;
    author: string;
    text: string;
    created: string;
}
export function Notes({ recording }: Loaded) {
    const notes = useAsk((signal) => getAll<Note>(`/recordings/${recording.id}/notes`, {}, 1000, signal), [recording.id, recording.notes]);
    const [typed, setTyped] = useState('');
    const act = async (what: Promise<unknown>) => {
        try {
            await what;
            notes.again();
            return true;
        } catch (error) {
            showError(error);
            return false;
        }
    };
    const add = async () => (await act(send('POST', `/recordings/${recording.id}/notes`, { body: { text: typed } }))) && setTyped('');
    return (
        <section class="about-part">
            <h3>{text.about.notes}</h3>
            {notes.error !== null && <Failed error={notes.error} retry={notes.again} />}
            <ul class="about-list">
                {(notes.value ?? []).map((note) => (
                    <li key={note.id} class="about-note">
                        <p>{note.text}</p>
                        <p class="small soft row">
                            <span class="grow">
                                {note.author}, {ago(note.created)}
                            </span>
                            <Button kind="quiet" icon="trash" label={text.about.removeNote} onClick={() => void act(send('DELETE', `/recordings/${recording.id}/notes/${note.id}`))} />
                        </p>
                    </li>
                ))}
            </ul>
            <form class="about-add" onSubmit={(event) => (event.preventDefault(), void add())}>
                <Field multiline label={text.about.addNote} value={typed} onInput={(event) => setTyped(event.currentTarget.value)} />
                <Button type="submit" disabled={!typed.trim()}>
                    {text.about.add}
                </Button>
            </form>
        </section>
    );
}
