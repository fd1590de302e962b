// The library: a searchable list of recordings. The URL holds its state (q, start, end, sort, row).
import { useCallback, useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { useWidth } from '../../use_size';
import { go, href, setQuery, useAddress } from '../../address';
import { get, getBytes, onChange } from '../../api';
import { service, useRole } from '../../service';
import { useStore } from '../../store';
import { useRequest } from '../../use_request';
import { libraryText } from '../../text/library';
import { showError } from '../../toasts';
import type { Recording, Stat } from '../../types';
import { Button, Confirm, EmptyState, Failed, lazy, Menu, Select, Spinner, VirtualTable, type Sort } from '../../ui';
import { purge, restore, trash } from './actions';
import { BulkBar } from './bulk_bar';
import { OPTIONAL, SORTS, columnsFor, columnsWithoutRoom, hiddenColumns, recordingPath, toggleColumn } from './columns';
import { useDates } from './dates';
import { CollectionDescription, Filters } from './filters';
import { Histogram } from './histogram';
import { selectedCollection, termsOf } from './query';
import { Mistakes } from './mistake_bar';
import { mistake, mistakeOf } from './mistakes';
import { Peek, movePeek, peeked } from './preview';
import { Previews } from './previews';
import { RecordingList } from './recording_list';
import { meantBy } from './value_query';
import { selectColumn, useSelection, type Selecting } from './selection';

const t = libraryText;
const REFRESH_AFTER_MS = 400;
const RECOUNT_AFTER_MS = 3000; // filters and histogram: expensive, and not urgent
const NEWEST = '-created';
const DEMOS = ['demo.bag', 'demo.nanover.zip'];
const Found = lazy(() => import('./found'));

/** The list for a search, kept up to date; `refreshCount` increases when counts must be reloaded. */
function useRows(q: string, start: string | null, end: string | null, sort: string) {
    const [, draw] = useState(0);
    const [refreshCount, setRefreshCount] = useState(0);
    const rows = useMemo(
        () => new RecordingList({ q: q || null, start, end, sort }, () => draw((n) => n + 1)),
        [q, start, end, sort],
    );
    const timers = useRef<{ list?: ReturnType<typeof setTimeout>; counts?: ReturnType<typeof setTimeout> }>({});
    const latest = useRef(rows); // a change may be answered after the search has changed
    latest.current = rows;
    const refresh = useCallback(() => {
        timers.current.list ??= setTimeout(
            () => ((timers.current.list = undefined), latest.current.refresh()),
            REFRESH_AFTER_MS,
        );
        timers.current.counts ??= setTimeout(
            () => ((timers.current.counts = undefined), setRefreshCount((n) => n + 1)),
            RECOUNT_AFTER_MS,
        );
    }, []);
    useEffect(() => onChange(refresh), []);
    useEffect(() => () => rows.stop(), [rows]);
    useEffect(() => () => clearTimeout(timers.current.list), []);
    return { rows, refreshCount, refresh };
}

/** What is shown: the last search that was answered, until the next one is; of one that is refused nothing. */
function useAnswered(rows: RecordingList) {
    const last = useRef<RecordingList | null>(null);
    if (rows.total !== null && rows.error === null) {
        last.current = rows;
    }
    const wrong = rows.error === null ? null : mistakeOf(rows.error, rows.query);
    const text = wrong && `${wrong.query} ${wrong.message}`;
    useEffect(() => mistake.set(wrong), [text]);
    useEffect(() => () => mistake.set(null), []);
    const answered = last.current;
    return { shown: answered && rows.error === null ? answered : rows, answered, wrong };
}

/** The current row. The URL is updated with a delay, since browsers limit how often it may change. */
function useCurrentRow(row: string | null) {
    const [current, setCurrent] = useState(row === null ? -1 : Number(row));
    const timer = useRef<ReturnType<typeof setTimeout>>();
    useEffect(() => setCurrent(row === null ? -1 : Number(row)), [row]);
    const keep = (index: number) => {
        clearTimeout(timer.current);
        timer.current = undefined;
        setQuery({ row: index }, true);
    };
    const move = (index: number) => {
        setCurrent(index);
        clearTimeout(timer.current);
        timer.current = setTimeout(() => keep(index), 300);
    };
    useEffect(() => () => clearTimeout(timer.current), []);
    return { current, move, keep };
}

/** The tags of events are not searched with recordings, but in the list of events. */
function InEvents({ q }: { q: string }) {
    const words = termsOf(q).filter((term) => term.key === null && !term.not);
    return words.length === 0 ? null : (
        <p>
            <a href={href('events', { q: words.map(({ values }) => values[0]).join(' ') })}>{t.inEvents}</a>
        </p>
    );
}

function Empty({ q, start, end, sort }: { q: string; start: string | null; end: string | null; sort: string }) {
    const mayUpload = useRole('upload');
    const meant = meantBy(q);
    if (q === 'state:trashed') {
        return <EmptyState title={t.trashEmpty} />;
    }
    if (q || start || end) {
        return (
            <EmptyState title={t.noMatch} help={t.noMatchHelp}>
                {meant && (
                    <p>
                        {t.meant} <a href={href('', { q: meant, start, end, sort })}>{meant}</a>
                    </p>
                )}
                <InEvents q={q} />
                <Button kind="main" onClick={() => setQuery({ q: null, start: null, end: null, row: null, sort })}>
                    {t.showAll}
                </Button>
            </EmptyState>
        );
    }
    return (
        <EmptyState title={t.empty} help={mayUpload ? t.emptyHelp : t.noUpload}>
            {mayUpload && <EmptyUpload />}
            <EmptyTrash />
        </EmptyState>
    );
}

function EmptyUpload() {
    const known = useStore(service);
    return (
        <>
            <code class="library-curl">{`curl -T run.bag ${document.baseURI}api/v1/recordings/by-name/lab/`}</code>
            <a class="button main" href="upload">
                {t.emptyUpload}
            </a>
            <Button onClick={() => void uploadDemo().catch(showError)}>{t.demo}</Button>
            <p class="library-formats small muted">
                {t.formats((known?.formats ?? []).map(({ title, suffixes }) => `${suffixes[0]}: ${title}`))}
            </p>
        </>
    );
}

/** The recordings that `reel demo` writes, uploaded as any file. */
async function uploadDemo(): Promise<void> {
    const files = DEMOS.map(async (name) => ({ name, file: new File([await getBytes(`/demo/${name}`)], name) }));
    const { addFiles } = await import('../upload/queue');
    addFiles(await Promise.all(files), 'demo', {});
    go('upload');
}

/** There are no filters, but what was deleted may be wanted. */
function EmptyTrash() {
    const stats = useRequest((signal) => get<{ items: Stat[] }>('/stats', { by: 'state' }, signal), []).value;
    const trashed = stats?.items.find((stat) => stat.name === 'trashed')?.recordings ?? 0;
    return (
        trashed > 0 && (
            <p>
                <a href={href('', { q: 'state:trashed' })}>{t.inTrash(trashed)}</a>
            </p>
        )
    );
}

function Actions({ recording, refresh }: { recording: Recording | undefined; refresh: () => void }) {
    const [confirming, setConfirming] = useState(false);
    const [mayEdit, mayPurge] = [useRole('edit'), useRole('admin')];
    if (!recording) {
        return null;
    }
    return (
        <div class="library-actions">
            <span class="ellipsis">{recording.name}</span>
            <Button onClick={() => go(recordingPath(recording))}>{t.open}</Button>
            {mayEdit && recording.state !== 'trashed' && recording.state !== 'recording' && (
                <Button icon="trash" label={t.toTrash} onClick={() => void trash(recording, refresh)} />
            )}
            {mayEdit && recording.state === 'trashed' && (
                <Button onClick={() => void restore(recording, refresh)}>{t.restore}</Button>
            )}
            {mayPurge && recording.state === 'trashed' && (
                <Button kind="danger" onClick={() => setConfirming(true)}>
                    {t.purge}
                </Button>
            )}
            {confirming && (
                <Confirm
                    title={t.purgeTitle}
                    help={t.purgeHelp(recording.name)}
                    button={t.purge}
                    onYes={() => void purge(recording, refresh)}
                    onClose={() => setConfirming(false)}
                />
            )}
        </div>
    );
}

function countOf(total: number, more: boolean, { count, search }: Selecting): string {
    return search ? t.allSelected(total, more) : count > 0 ? t.selected(count, total, more) : t.found(total, more);
}

function ColumnMenu() {
    const hidden = useStore(hiddenColumns);
    const noRoom = useStore(columnsWithoutRoom);
    return (
        <Menu
            icon="columns"
            label={t.shownColumns}
            items={OPTIONAL.map((key) => ({
                label: noRoom.includes(key) ? t.noRoom(t.columns[key]!) : t.columns[key]!,
                checked: !hidden.includes(key),
                run: () => toggleColumn(key),
            }))}
        />
    );
}

function Foot({
    rows,
    current,
    sort,
    onSort,
    sortHidden,
    selecting,
    refresh,
    filtersOpen,
    onFilters,
}: {
    rows: RecordingList;
    selecting: Selecting;
    current: Recording | undefined;
    sort: Sort;
    onSort: (sort: Sort) => void;
    sortHidden: boolean; // the list does not show the column of the default order
    refresh: () => void;
    filtersOpen: boolean;
    onFilters: () => void;
}) {
    return (
        <footer class="library-foot">
            <Button kind="quiet" icon="filter" class="library-filter-button" pressed={filtersOpen} onClick={onFilters}>
                {t.filters}
            </Button>
            {sortHidden && (
                <>
                    <Select
                        label={t.sortBy}
                        hidden_label
                        value={sort.key}
                        options={SORTS}
                        onChange={(key) => onSort({ key, down: key !== 'name' })}
                    />
                    <Button
                        kind="quiet"
                        icon={sort.down ? 'down' : 'up'}
                        label={t.sortBy}
                        onClick={() => onSort({ ...sort, down: !sort.down })}
                    />
                </>
            )}
            <ColumnMenu />
            <span role="status" class="library-count">
                {rows.error !== null && rows.total === null ? null : rows.total === null ? (
                    <Spinner />
                ) : (
                    countOf(rows.total, rows.more, selecting)
                )}
            </span>
            {selecting.count > 0 ? (
                <BulkBar rows={rows} selecting={selecting} refresh={refresh} />
            ) : (
                <Actions recording={current} refresh={refresh} />
            )}
        </footer>
    );
}

function List({
    rows,
    sort,
    onSort,
    onHidden,
    state,
    selecting,
    refresh,
}: {
    rows: RecordingList;
    sort: Sort;
    onSort: (sort: Sort) => void;
    onHidden: (hidden: boolean) => void; // the column of the default order
    state: ReturnType<typeof useCurrentRow>;
    selecting: Selecting;
    refresh: () => void;
}) {
    const ref = useRef<HTMLDivElement>(null);
    const width = useWidth(ref, innerWidth);
    const mayEdit = useRole('edit');
    const states = rows.hasStates;
    const off = useStore(hiddenColumns);
    const [drawn, draw] = useState(0);
    const previews = useMemo(() => new Previews(() => draw((n) => n + 1)), []);
    useEffect(() => () => previews.stop(), []);
    const shape = useMemo(() => columnsFor(width, states, off, previews), [width, states, off]);
    const { ids, search } = selecting;
    const columns = useMemo(
        () => [selectColumn(selecting), ...shape.columns],
        [rows, ids, search, shape, drawn], // previews are drawn when they are there
    );
    useEffect(() => columnsWithoutRoom.set(shape.noRoom), [shape]);
    const seen = useRef<[number, number]>([0, 0]);
    const showPreviews = () => {
        const [first, end] = seen.current;
        const loaded = Array.from({ length: end - first }, (_, i) => rows.at(first + i)).filter(
            (row) => row !== undefined,
        );
        off.includes('preview') || previews.show(loaded);
    };
    useEffect(showPreviews); // after each drawing: rows may have been loaded
    const hidden = !shape.columns.some((column) => column.key === 'created');
    useEffect(() => onHidden(hidden), [hidden]);
    const { current, move, keep } = state;
    const open = (index: number) => {
        const row = rows.at(index);
        if (row) {
            keep(index); // so that the back button returns to this row
            go(recordingPath(row));
        }
    };
    const key = (event: KeyboardEvent, index: number) => {
        const row = rows.at(index);
        if (event.key === 'Delete' && mayEdit && row && row.state !== 'trashed' && row.state !== 'recording') {
            void trash(row, refresh);
        } else if (event.key === ' ' && index >= 0) {
            event.preventDefault(); // it would scroll
            selecting.toggle(index, event.shiftKey);
        } else if (event.key === 'p' && row && previews.of(row)?.picture) {
            const cell = document.querySelector('.library-list .table-row.current .library-thumbnail');
            peeked.set(peeked.get() || !cell ? null : { recording: row, frame: 0, cell });
        } else if (peeked.get() && (event.key === 'ArrowLeft' || event.key === 'ArrowRight')) {
            movePeek(event.key === 'ArrowLeft' ? -1 : 1);
        } else if (event.key === 'Escape') {
            peeked.get() ? peeked.set(null) : selecting.clear();
        }
    };
    return (
        <div class="library-list" ref={ref}>
            <VirtualTable
                label={t.list}
                columns={columns}
                rowHeight={shape.rowHeight}
                count={rows.total ?? 0}
                rowAt={(index) => rows.at(index)}
                current={current}
                reveal={current}
                source={rows}
                onCurrent={move}
                onOpen={open}
                onSeen={(first, end) => {
                    seen.current = [first, end];
                    rows.show(first, end);
                    showPreviews();
                }}
                onKey={key}
                selected={selecting.has}
                sort={sort}
                onSort={onSort}
                rowClass={(row) => (row.state === 'trashed' ? 'library-trashed' : '')}
            />
            <Peek />
        </div>
    );
}

export function Library() {
    const { query } = useAddress();
    const q = query.get('q') ?? '';
    const dates = { start: query.get('start'), end: query.get('end') };
    const { start, end } = useDates(dates.start, dates.end);
    const order = query.get('sort') ?? NEWEST;
    const sort: Sort = { key: order.replace(/^-/, ''), down: order.startsWith('-') };
    const { rows, refreshCount, refresh } = useRows(q, start, end, order);
    const state = useCurrentRow(query.get('row'));
    const [filtersOpen, setFiltersOpen] = useState(false); // in narrow windows, where filters are hidden by default
    const [sortHidden, setSortHidden] = useState(false);
    const onSort = (next: Sort) => setQuery({ sort: (next.down ? '-' : '') + next.key, row: null });
    const { shown, answered, wrong } = useAnswered(rows);
    const selecting = useSelection(shown);
    const good = answered?.query ?? (wrong ? '' : null); // null: not known yet
    const collection = selectedCollection(good ?? q);
    const where = query.get('where');
    if (where) {
        return (
            <div class="library">
                <Filters query={good} dates={dates} start={start} end={end} refreshCount={refreshCount} />
                <div class="library-main">
                    <Mistakes />
                    <Found q={q} where={where} start={start} end={end} />
                </div>
            </div>
        );
    }
    if (shown.error === null && shown.total === 0 && !q && !start && !end) {
        return (
            <div class="library">
                <h1 class="visually-hidden">{t.title}</h1>
                <div class="library-main">
                    <Empty q="" start={start} end={end} sort={order} />
                </div>
            </div>
        );
    }
    return (
        <div class={`library ${filtersOpen ? 'filters-open' : ''}`}>
            <h1 class="visually-hidden">{t.title}</h1>
            <Filters query={good} dates={dates} start={start} end={end} refreshCount={refreshCount} />
            <div class="library-main">
                <Mistakes />
                <Histogram query={good} start={start} end={end} refreshCount={refreshCount} />
                {collection && <CollectionDescription key={collection} name={collection} refreshCount={refreshCount} />}
                {rows.error !== null && !wrong && <Failed error={rows.error} retry={() => rows.refresh()} />}
                {shown.error === null && shown.total === 0 ? (
                    <Empty q={shown.query} start={start} end={end} sort={order} />
                ) : shown.error === null ? (
                    <List
                        rows={shown}
                        sort={sort}
                        onSort={onSort}
                        onHidden={setSortHidden}
                        state={state}
                        selecting={selecting}
                        refresh={refresh}
                    />
                ) : null}
                <Foot
                    rows={shown}
                    current={shown.at(state.current)}
                    sort={sort}
                    onSort={onSort}
                    sortHidden={sortHidden}
                    selecting={selecting}
                    refresh={refresh}
                    filtersOpen={filtersOpen}
                    onFilters={() => setFiltersOpen(!filtersOpen)}
                />
            </div>
        </div>
    );
}
