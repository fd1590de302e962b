// What a search for values found: the recordings in which the condition held, and when. Each time opens its recording.
import { useEffect, useState } from 'preact/hooks';
import { ApiError, getPage, send, type Page, type Params } from '../../../api';
import { href } from '../../../address';
import { dateTime, duration, offset } from '../../../format';
import { timeNs } from '../../../recording_time';
import { useRole } from '../../../service';
import { text } from '../../../text/common';
import { foundText as t } from '../../../text/found';
import { showToast } from '../../../toasts';
import type { FoundInterval, FoundValues, PendingValues } from '../../../types';
import { Button, Dialog, EmptyState, Failed, Field, Spinner } from '../../../ui';
import { useRequest } from '../../../use_request';
import { conditionOf } from '../value_query';

const SHOWN = 10; // times of a recording, before all are asked for
const RECORDINGS_MAX = 200;
const PENDING_MS = 1500;

interface Search {
    q: string;
    where: string; // with its "for 2s"
    start: string | null;
    end: string | null;
}
interface Found {
    items: FoundValues[];
    pending: PendingValues[];
    searched: number;
    more: boolean;
}
const paramsOf = ({ q, where, start, end }: Search): Params => ({ q: q || null, start, end, ...conditionOf(where) });

async function find(search: Search, signal: AbortSignal): Promise<Found> {
    const found: Found = { items: [], pending: [], searched: 0, more: false };
    let cursor: string | null = null;
    do {
        const page: Page<FoundValues> & { pending: PendingValues[]; searched: number } = (await getPage<FoundValues>(
            '/search/values',
            { ...paramsOf(search), limit: 100 },
            cursor,
            signal,
        )) as never;
        found.items.push(...page.items);
        found.pending.push(...page.pending);
        found.searched += page.searched;
        cursor = page.next;
    } while (cursor && found.items.length < RECORDINGS_MAX);
    return { ...found, more: cursor !== null };
}

/** Returns how many events there are in how many recordings. */
async function saveEvents(search: Search, title: string): Promise<{ events: number; recordings: number }> {
    const saved = { events: 0, recordings: 0 };
    let cursor: string | null = null;
    do {
        const params: Params = { ...paramsOf(search), save_as: 'event', title: title || null, cursor };
        const page: Page<{ events: number; problem: string | null }> | null = await send('POST', '/search/values', {
            params,
        });
        for (const { events, problem } of page?.items ?? []) {
            if (problem) {
                throw new Error(problem);
            }
            saved.events += events;
            saved.recordings += events > 0 ? 1 : 0;
        }
        cursor = page?.next ?? null;
    } while (cursor);
    return saved;
}

function SaveDialog({ search, onClose }: { search: Search; onClose: () => void }) {
    const [title, setTitle] = useState('');
    const [error, setError] = useState<string | null>(null);
    const [saving, setSaving] = useState(false);
    const run = () => {
        setSaving(true);
        saveEvents(search, title.trim())
            .then(({ events, recordings }) => (showToast(t.saved(events, recordings)), onClose()))
            .catch((why: unknown) => setError(why instanceof Error ? why.message : String(why)))
            .finally(() => setSaving(false));
    };
    return (
        <Dialog
            title={t.saveTitle}
            onClose={onClose}
            actions={
                <>
                    <Button onClick={onClose}>{text.cancel}</Button>
                    <Button kind="main" disabled={saving} onClick={run}>
                        {t.saveButton}
                    </Button>
                </>
            }
        >
            <Field
                focused
                label={t.eventTitle}
                value={title}
                help={t.eventHelp(search.where)}
                error={error}
                onInput={(event) => setTitle(event.currentTarget.value)}
                onKeyDown={(event) => event.key === 'Enter' && run()}
            />
        </Dialog>
    );
}

const valueText = ({ min, max }: { min: number | null; max: number | null }) =>
    min === null || max === null ? '' : min === max ? String(min) : t.between(String(min), String(max));

function Time({ of, interval }: { of: string; interval: FoundInterval }) {
    const { start, start_ns, end_ns } = interval;
    const lasts = BigInt(end_ns) - BigInt(start_ns);
    const range = lasts > 0n ? `@${start_ns}~@${end_ns}` : null;
    const wall = dateTime(start, 3);
    return (
        <li>
            <a href={href(`recordings/${of}`, { at: '@' + start_ns, range })}>
                {wall === '–' ? offset(timeNs(start)) : wall}
            </a>{' '}
            <span class="muted small">{[duration(lasts), valueText(interval)].filter(Boolean).join(' · ')}</span>
        </li>
    );
}

function Hits({ item }: { item: FoundValues }) {
    const [all, setAll] = useState(item.intervals.length <= SHOWN + 2);
    const shown = all ? item.intervals : item.intervals.slice(0, SHOWN);
    const left = item.intervals_total - shown.length;
    return (
        <li class="found-recording">
            <h2>
                <a href={href(`recordings/${item.recording}`)}>{item.name}</a>
            </h2>
            <p class="muted small">
                {[item.collection, t.times(item.intervals_total), t.held(duration(Math.round(item.held_s * 1e9)))].join(
                    ' · ',
                )}
                {!item.complete && ` · ${t.incomplete}`}
            </p>
            <ul class="found-times" aria-label={t.timesOf(item.name)}>
                {shown.map((interval) => (
                    <Time key={interval.start_ns} of={item.recording} interval={interval} />
                ))}
            </ul>
            {left > 0 &&
                (all ? (
                    <p class="muted small">{text.moreItems(left)}</p>
                ) : (
                    <Button kind="quiet" onClick={() => setAll(true)}>
                        {text.moreItems(left)}
                    </Button>
                ))}
        </li>
    );
}

function Head({ search, found, loading }: { search: Search; found: Found | null; loading: boolean }) {
    const mayEdit = useRole('edit');
    const [saving, setSaving] = useState(false);
    const waiting = found?.pending.filter(({ problem }) => problem === null).length ?? 0;
    const failed = found?.pending.filter(({ problem }) => problem !== null) ?? [];
    return (
        <div class="found-head row">
            <h1 class="found-title">
                {t.title} <span class="mono">{search.where}</span>
            </h1>
            <span role="status" class="muted grow">
                {found && [t.found(found.items.length, found.more), t.searched(found.searched)].join(' ')}
                {waiting > 0 && ` ${t.waiting(waiting)}`}
            </span>
            {(loading || waiting > 0) && <Spinner />}
            {failed.length > 0 && (
                <span class="error" title={failed.map(({ name, problem }) => `${name}: ${problem}`).join('\n')}>
                    {t.failed(failed.length)}
                </span>
            )}
            {mayEdit && found && found.items.length > 0 && <Button onClick={() => setSaving(true)}>{t.save}</Button>}
            {saving && <SaveDialog search={search} onClose={() => setSaving(false)} />}
        </div>
    );
}

export default function FoundView(search: Search) {
    const result = useRequest((signal) => find(search, signal), [search.q, search.where, search.start, search.end]);
    const found = result.error === null ? result.value : null;
    const waiting = found?.pending.some(({ problem }) => problem === null);
    useEffect(() => {
        const timer = waiting && !result.loading ? setTimeout(result.reload, PENDING_MS) : undefined;
        return () => clearTimeout(timer);
    }, [waiting, result.loading]);
    const wrong = result.error instanceof ApiError && result.error.status === 400;
    return (
        <section class="found" aria-label={t.title}>
            <Head search={search} found={found} loading={result.loading} />
            {result.error !== null && <Failed error={result.error} retry={wrong ? undefined : result.reload} />}
            {found && found.items.length > 0 ? (
                <ul class="found-list">
                    {found.items.map((item) => (
                        <Hits key={item.recording + search.where} item={item} />
                    ))}
                </ul>
            ) : (
                found && !waiting && <EmptyState title={t.none} help={t.noneHelp} />
            )}
        </section>
    );
}
