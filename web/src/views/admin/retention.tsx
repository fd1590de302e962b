// Retention rules and quotas. Each change is reviewed before it is saved: the server lists what the new rules would
// delete.
import { useState } from 'preact/hooks';
import { get, send } from '../../api';
import { bytes, count, dateTime } from '../../format';
import { text } from '../../text/common';
import { adminText } from '../../text/admin';
import { showToast } from '../../toasts';
import type { Collection, Quota, Retention as Rules, RetentionItem, RetentionRule } from '../../types';
import { Badge, Button, Dialog } from '../../ui';
import { useRequest } from '../../use_request';
import {
    Action,
    FieldError,
    FormDialog,
    inZone,
    Loaded,
    moment,
    Table,
    useList,
    words,
    type Column,
    type Rows,
    type Values,
} from './parts';
import { parseSize, sizeText, usage } from './sizes';

const t = adminText.retention;
type Document = Pick<Rules, 'rules' | 'quotas'>;
type ListName = keyof Document;
type Entry = RetentionRule & Quota;
const PREVIEW_ROWS = 1000;
const DAY_MS = 86_400_000;
const NEARLY = 0.9; // of a quota, from which on it is said

const SHARED = { name: 'collection', label: t.collection, help: t.globHelp, placeholder: 'lab*' };
const FIELDS = {
    rules: [
        SHARED,
        { name: 'max_age', label: t.maxAge, help: t.maxAgeHelp, placeholder: '90d' },
        { name: 'max_size', label: t.maxSize, help: t.maxSizeHelp, placeholder: '5 TB' },
        { name: 'keep', label: t.keep, help: t.keepHelp, placeholder: 'golden customer:acme' },
    ],
    quotas: [
        SHARED,
        { name: 'size', label: t.size, help: t.quotaHelp, placeholder: '1 TB' },
        { name: 'recordings', label: t.recordings, help: t.recordingsHelp, placeholder: '5000' },
    ],
};
const keepText = (keep: RetentionRule['keep']) =>
    Object.entries(keep ?? {})
        .map(([key, value]) => (value === null ? key : `${key}:${value}`))
        .join(' ');
const valuesOf = (entry: Partial<Entry>): Values => ({
    collection: entry.collection ?? '',
    max_age: entry.max_age ?? '',
    max_size: sizeText(entry.max_size),
    keep: keepText(entry.keep),
    size: sizeText(entry.size),
    recordings: String(entry.recordings ?? ''),
});

function keepOf(value: string | undefined): RetentionRule['keep'] {
    return Object.fromEntries(
        words(value).map((word) => {
            const at = word.indexOf(':');
            return at < 0 ? [word, null] : [word.slice(0, at), word.slice(at + 1)];
        }),
    );
}
function sizeOf(values: Values, name: string): number | undefined {
    const size = values[name] ? parseSize(values[name]!) : undefined;
    if (size === null) {
        throw new FieldError(name, t.sizeForm);
    }
    return size;
}
function entryOf(list: ListName, values: Values): Entry {
    const { collection, max_age, keep, recordings } = values;
    if (list === 'rules') {
        return {
            collection: collection!,
            ...(max_age ? { max_age } : {}),
            max_size: sizeOf(values, 'max_size'),
            ...(keep ? { keep: keepOf(keep) } : {}),
        };
    }
    if (recordings && !/^\d+$/.test(recordings)) {
        throw new FieldError('recordings', t.numberForm);
    }
    return {
        collection: collection!,
        size: sizeOf(values, 'size'),
        ...(recordings ? { recordings: Number(recordings) } : {}),
    };
}

// ---- the dry run

const dryRun = (document: Document | null) =>
    send<Rows<RetentionItem>>('POST', '/admin/retention/run', {
        params: { dry_run: true, limit: PREVIEW_ROWS },
        ...(document ? { body: document } : {}),
    }) as Promise<Rows<RetentionItem>>;
const totalOf = (items: RetentionItem[]) => items.reduce((sum, item) => sum + item.size, 0);

function summary({ items, next }: Rows<RetentionItem>): string {
    const of = (action: string) => items.filter((item) => item.action === action);
    return items.length === 0
        ? t.nothing
        : t.wouldDelete(
              of('trash').length,
              bytes(totalOf(of('trash'))),
              of('purge').length,
              bytes(totalOf(of('purge'))),
              Boolean(next),
          );
}

interface Review {
    found: Rows<RetentionItem>;
    document: Document | null; // to save; null: what is saved, to run
}
function ReviewDialog({
    review,
    when,
    onClose,
    onDone,
}: {
    review: Review;
    when: string; // the rules are applied
    onClose: () => void;
    onDone: () => void;
}) {
    const { found, document } = review;
    const save = () => send('PUT', '/admin/retention', { body: document });
    const run = () => send('POST', '/admin/retention/run').then(() => showToast(t.started));
    return (
        <Dialog
            wide
            title={document ? t.reviewTitle : t.runTitle}
            onClose={onClose}
            actions={
                <>
                    <Button onClick={onClose}>{text.cancel}</Button>
                    <Action
                        kind={found.items.length > 0 ? 'danger' : 'main'}
                        disabled={!document && found.items.length === 0}
                        label={document ? t.save : t.runNow}
                        run={document ? save : run}
                        done={() => (onClose(), onDone())}
                    />
                </>
            }
        >
            <p>{summary(found)}</p>
            {document && <p class="muted">{when}</p>}
            <Table
                caption={t.runTitle}
                empty=""
                rows={found.items.slice(0, 200)}
                columns={[
                    {
                        title: t.recording,
                        cell: (i) => (
                            <a class="admin-long" href={`recordings/${i.recording}`}>
                                {i.name}
                            </a>
                        ),
                    },
                    { title: t.collection, cell: (i) => i.collection },
                    {
                        title: t.action,
                        cell: (i) => (i.action === 'purge' ? <span class="error">{t.purge}</span> : t.trash),
                    },
                    { title: t.why, cell: (i) => t.whys[i.why] },
                    { title: t.size, right: true, cell: (i) => bytes(i.size) },
                    { title: inZone(t.added), cell: (i) => dateTime(i.created) },
                ]}
            />
            {found.items.length > 200 && <p class="muted">{text.moreItems(found.items.length - 200)}</p>}
        </Dialog>
    );
}

// ---- the view

/** How full the fullest collection of a quota is. */
function Usage({ text: said, share }: ReturnType<typeof usage>) {
    return (
        <>
            {said}{' '}
            {share >= NEARLY && <Badge kind={share >= 1 ? 'bad' : 'warn'}>{share >= 1 ? t.full : t.nearly}</Badge>}
        </>
    );
}

/** When the rules are applied next: a day after the last run; the server looks every ten minutes. */
function nextRun({ last_run: last }: Rules): string {
    const due = last ? Date.parse(last.ended) + DAY_MS : 0;
    return due < Date.now() ? t.nextSoon : t.next(moment(new Date(due).toISOString()));
}

interface Editing {
    list: ListName;
    at: number; // the length of the list: a new one
}

export function Retention() {
    const rules = useRequest((signal) => get<Rules>('/admin/retention', {}, signal), []);
    const collections = useList<Collection>('/collections', { limit: 1000 });
    const [editing, setEditing] = useState<Editing | null>(null);
    const [review, setReview] = useState<Review | null>(null);
    const show = async (document: Document | null) => setReview({ document, found: await dryRun(document) });
    return (
        <Loaded of={rules}>
            {(saved) => {
                const changed = (list: ListName, change: (entries: Entry[]) => void): Document => {
                    const copy = { rules: [...saved.rules], quotas: [...saved.quotas] };
                    change(copy[list] as Entry[]);
                    return copy;
                };
                const actions = (list: ListName): Column<Entry> => ({
                    title: '',
                    right: true,
                    cell: (entry) => {
                        const at = (saved[list] as Entry[]).indexOf(entry);
                        return (
                            <span class="admin-actions">
                                {saved[list].length > 1 && (
                                    <Action
                                        kind="quiet"
                                        icon="up"
                                        disabled={at === 0}
                                        label={t.earlier(entry.collection)}
                                        run={() =>
                                            show(changed(list, (all) => all.splice(at - 1, 0, ...all.splice(at, 1))))
                                        }
                                    />
                                )}
                                <Button
                                    kind="quiet"
                                    icon="edit"
                                    label={t.edit(entry.collection)}
                                    onClick={() => setEditing({ list, at })}
                                />
                                <Action
                                    kind="quiet"
                                    icon="trash"
                                    label={t.remove(entry.collection)}
                                    run={() => show(changed(list, (all) => all.splice(at, 1)))}
                                />
                            </span>
                        );
                    },
                });
                const submit = async (values: Values) => {
                    const { list, at } = editing!;
                    await show(changed(list, (all) => all.splice(at, 1, entryOf(list, values))));
                    setEditing(null);
                };
                const add = (list: ListName, label: string) => (
                    <div class="row">
                        <Button icon="plus" onClick={() => setEditing({ list, at: saved[list].length })}>
                            {label}
                        </Button>
                    </div>
                );
                return (
                    <>
                        <p>{saved.trash_days > 0 ? t.trashDays(saved.trash_days) : t.trashForever}</p>
                        <h2>{t.rules}</h2>
                        <Table
                            caption={t.rules}
                            empty={t.noRules}
                            rows={saved.rules as Entry[]}
                            columns={[
                                { title: t.collection, cell: (r) => r.collection },
                                { title: t.maxAge, cell: (r) => r.max_age ?? '' },
                                { title: t.maxSize, right: true, cell: (r) => sizeText(r.max_size) },
                                { title: t.keep, cell: (r) => keepText(r.keep) },
                                actions('rules'),
                            ]}
                        />
                        {add('rules', t.addRule)}
                        <h2>{t.quotas}</h2>
                        <Table
                            caption={t.quotas}
                            empty={t.noQuotas}
                            rows={saved.quotas as Entry[]}
                            columns={[
                                { title: t.collection, cell: (q) => q.collection },
                                { title: t.size, right: true, cell: (q) => sizeText(q.size) },
                                {
                                    title: t.recordings,
                                    right: true,
                                    cell: (q) => (q.recordings === undefined ? '' : count(q.recordings)),
                                },
                                {
                                    title: t.fullest,
                                    cell: (q) => <Usage {...usage(q, saved.quotas, collections.value?.items ?? [])} />,
                                },
                                actions('quotas'),
                            ]}
                        />
                        {add('quotas', t.addQuota)}
                        <h2>{t.run}</h2>
                        <p class="muted">
                            {t.runHelp}{' '}
                            {saved.last_run
                                ? t.lastRun(
                                      moment(saved.last_run.ended),
                                      saved.last_run.trashed,
                                      saved.last_run.purged,
                                      saved.last_run.failed,
                                  )
                                : t.neverRun}{' '}
                            {(saved.rules.length > 0 || saved.trash_days > 0) && nextRun(saved)}
                        </p>
                        <div class="row">
                            <Action label={t.preview} run={() => show(null)} />
                        </div>
                        {editing && (
                            <FormDialog
                                title={editing.list === 'rules' ? t.rule : t.quota}
                                button={t.review}
                                fields={FIELDS[editing.list]}
                                initial={valuesOf((saved[editing.list] as Entry[])[editing.at] ?? {})}
                                submit={submit}
                                onClose={() => setEditing(null)}
                            />
                        )}
                        {review && (
                            <ReviewDialog
                                review={review}
                                when={nextRun(saved)}
                                onClose={() => setReview(null)}
                                onDone={rules.reload}
                            />
                        )}
                    </>
                );
            }}
        </Loaded>
    );
}
