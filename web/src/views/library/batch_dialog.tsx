// The dialog of a batch: what to change, what would change, then the progress of the job and what could not be changed.
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import { get } from '../../api';
import { text } from '../../text/common';
import { libraryText } from '../../text/library';
import { uploadText } from '../../text/upload';
import { showError, showToast } from '../../toasts';
import type { BatchPlan, BatchResult, Job, Values } from '../../types';
import { Button, Dialog, Failed, Field, Progress, Spinner } from '../../ui';
import { useRequest } from '../../use_request';
import { parseTags } from '../upload/tags';
import { carryOut, foresee, targetOf, type Action, type Batch } from './batch';
import type { Selection } from './selection';

const t = libraryText.batch;
const SHOWN = 100;

interface FormProps {
    onEdit: () => void; // what was foreseen no longer holds
    onPreview: (change: Partial<Batch>) => void;
}

function TagForm({ onEdit, onPreview }: FormProps) {
    const [set, setSet] = useState('');
    const [unset, setUnset] = useState('');
    const tags = parseTags(set);
    const keys = unset.split(/[\s,]+/).filter(Boolean);
    const preview = () =>
        tags && onPreview({ tags: { ...tags, ...Object.fromEntries(keys.map((key) => [key, null])) } });
    const edit = (change: (value: string) => void) => (event: { currentTarget: HTMLInputElement }) => (
        change(event.currentTarget.value),
        onEdit()
    );
    return (
        <form class="library-form" onSubmit={(event) => (event.preventDefault(), preview())}>
            <Field
                focused
                label={t.add}
                value={set}
                autocomplete="off"
                placeholder={uploadText.tagsExample}
                error={tags ? null : uploadText.tagForm}
                onInput={edit(setSet)}
            />
            <Field label={t.remove} value={unset} autocomplete="off" help={t.removeHelp} onInput={edit(setUnset)} />
            <Button type="submit" disabled={!tags || Object.keys(tags).length + keys.length === 0}>
                {t.preview}
            </Button>
        </form>
    );
}

function MoveForm({ onEdit, onPreview }: FormProps) {
    const list = useId();
    const [collection, setCollection] = useState('');
    const [name, setName] = useState('{name}');
    const known = useRequest((signal) => get<Values>('/values', { field: 'collection', limit: 200 }, signal), []).value;
    const renames = name.trim() !== '{name}';
    const preview = () =>
        onPreview({ ...(collection.trim() ? { collection: collection.trim() } : {}), ...(renames ? { name } : {}) });
    const edit = (change: (value: string) => void) => (event: { currentTarget: HTMLInputElement }) => (
        change(event.currentTarget.value),
        onEdit()
    );
    return (
        <form class="library-form" onSubmit={(event) => (event.preventDefault(), preview())}>
            <Field
                focused
                label={t.collection}
                value={collection}
                list={list}
                autocomplete="off"
                help={t.collectionHelp}
                onInput={edit(setCollection)}
            />
            <datalist id={list}>
                {(known?.items ?? []).map((item) => (
                    <option key={item.value} value={item.value} />
                ))}
            </datalist>
            <Field label={t.newName} value={name} autocomplete="off" help={t.newNameHelp} onInput={edit(setName)} />
            <Button type="submit" disabled={!name.trim() || (!collection.trim() && !renames)}>
                {t.preview}
            </Button>
        </form>
    );
}

/** Names, each with its new one or with what is wrong; the first ones of many. */
function Items({
    items,
    total,
}: {
    items: (Partial<BatchPlan['items'][number]> & Pick<BatchResult, 'recording' | 'collection' | 'name'>)[];
    total: number;
}) {
    const place = (collection: string, name: string) => `${collection}/${name}`;
    return (
        <ul class="library-items" tabIndex={0} aria-label={t.items}>
            {items.slice(0, SHOWN).map((one) => (
                <li key={one.recording}>
                    {place(one.collection, one.name)}
                    {one.problem ? (
                        <span class="error"> {one.problem}</span>
                    ) : (
                        (one.new_collection ?? one.new_name) !== undefined && (
                            <span class="muted">
                                {' '}
                                → {place(one.new_collection ?? one.collection, one.new_name || one.name)}
                            </span>
                        )
                    )}
                </li>
            ))}
            {total > SHOWN && <li class="muted">{text.moreItems(total - SHOWN)}</li>}
        </ul>
    );
}

function Foreseen({ plan }: { plan: BatchPlan }) {
    return (
        <div role="status">
            <p>
                <strong>{t.would(plan.changes, plan.matched)}</strong>
            </p>
            {plan.not_found.length > 0 && <p class="error">{t.notFound(plan.not_found.length)}</p>}
            {plan.problems > 0 && <p class="error">{t.problems(plan.problems)}</p>}
            <Items items={plan.items} total={plan.matched} />
        </div>
    );
}

function Running({ job }: { job: Job | null }) {
    const [done, total] = [job?.done ?? 0, job?.total ?? 0];
    const label = total > 0 ? t.running(done, total) : t.starting;
    return (
        <div role="status">
            <p>{label}</p>
            <Progress value={total > 0 ? done / total : null} label={label} />
        </div>
    );
}

/** Carries a batch out; the job goes on when the dialog is closed, and a message says what it did. */
function useJob(action: Action, selection: Selection, onDone: (whole: boolean) => void, onClose: () => void) {
    const [job, setJob] = useState<Job | null>(null);
    const [state, setState] = useState<'asking' | 'running' | BatchResult[]>('asking');
    const open = useRef(true);
    useEffect(() => () => void (open.current = false), []);
    const end = (failed: BatchResult[]) => {
        onDone(failed.length === 0);
        if (failed.length === 0) {
            open.current && onClose();
        } else if (open.current) {
            setState(failed);
        } else {
            showToast(`${t.failed(failed.length)} ${failed[0]!.name}: ${failed[0]!.problem}`, undefined, 'error');
        }
    };
    const start = (batch: Batch) => {
        setState('running');
        carryOut(action, batch, selection, setJob).then(end, (error: unknown) => {
            showError(error);
            setState('asking');
        });
    };
    return { job, state, start };
}

export function BatchDialog({
    action,
    selection,
    onDone,
    onClose,
}: {
    action: Action;
    selection: Selection;
    onDone: (whole: boolean) => void;
    onClose: () => void;
}) {
    const Form = { tag: TagForm, move: MoveForm, trash: null, restore: null }[action];
    const name = action === 'trash' || action === 'restore' ? action : 'change';
    const [change, setChange] = useState<Partial<Batch> | null>(Form ? null : {});
    const { value, error, loading, reload } = useRequest(
        async (signal) => {
            const batch: Batch | null = change && { ...change, action: name, ...(await targetOf(selection, signal)) };
            return batch && { batch, plan: await foresee(batch, signal) };
        },
        [change],
    );
    const { job, state, start } = useJob(action, selection, onDone, onClose);
    const ready = change && !loading && error === null ? value : null;
    return (
        <Dialog
            title={t[action].title}
            onClose={onClose}
            actions={
                state === 'asking' ? (
                    <>
                        {Form && !ready && !loading && <span class="small muted">{t.previewFirst}</span>}
                        {ready && ready.plan.changes === 0 && <span class="small muted">{t.nothingChanges}</span>}
                        <Button onClick={onClose}>{text.cancel}</Button>
                        <Button
                            kind="main"
                            disabled={!ready || ready.plan.changes === 0}
                            onClick={() => ready && start(ready.batch)}
                        >
                            {t[action].run(ready?.plan.changes ?? selection.count)}
                        </Button>
                    </>
                ) : (
                    <Button onClick={onClose}>{text.close}</Button>
                )
            }
        >
            {state === 'asking' && Form && <Form onEdit={() => setChange(null)} onPreview={setChange} />}
            {state === 'asking' &&
                change &&
                (loading ? (
                    <Spinner />
                ) : error !== null ? (
                    <Failed error={error} retry={reload} />
                ) : (
                    value && <Foreseen plan={value.plan} />
                ))}
            {state === 'running' && <Running job={job} />}
            {Array.isArray(state) && (
                <>
                    <p class="error">{t.failed(state.length)}</p>
                    <Items items={state} total={state.length} />
                </>
            )}
        </Dialog>
    );
}
