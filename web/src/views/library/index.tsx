// The library: find a recording. Its one rule: what is asked is in the address (q, start, end, sort, at), and nowhere else.
import { useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { go, setQuery, useAddress } from '../../address';
import { onChange } from '../../api';
import { text } from '../../text';
import type { Recording } from '../../types';
import { Button, Confirm, EmptyState, Failed, Select, Spinner, VirtualTable, type Sort } from '../../ui';
import { purge, restore, trash } from './actions';
import { SORTS, columnsFor, pathOf } from './columns';
import { CollectionNote, Facets } from './facets';
import { Overview } from './overview';
import { termsOf } from './query';
import { Rows } from './rows';

const words = text.library;
const REFRESH_AFTER_MS = 400;
const COUNT_AGAIN_MS = 3000; // facets and overview: dear, and no hurry
const NEWEST = '-created';

function useWidth() {
    const ref = useRef<HTMLDivElement>(null);
    const [width, setWidth] = useState(innerWidth);
    useLayoutEffect(() => {
        const watch = new ResizeObserver(([entry]) => setWidth(entry!.contentRect.width));
        watch.observe(ref.current!);
        return () => watch.disconnect();
    }, []);
    return { ref, width };
}

/** The rows of what is asked, kept up to date; `round` rises when counts are to be made again. */
function useRows(q: string, start: string | null, end: string | null, sort: string) {
    const [, draw] = useState(0);
    const [round, setRound] = useState(0);
    const rows = useMemo(() => new Rows({ q: q || null, start, end, sort }, () => draw((n) => n + 1)), [q, start, end, sort]);
    const timers = useRef<{ list?: ReturnType<typeof setTimeout>; counts?: ReturnType<typeof setTimeout> }>({});
    const refresh = useCallback(() => {
        timers.current.list ??= setTimeout(() => ((timers.current.list = undefined), rows.refresh()), REFRESH_AFTER_MS);
        timers.current.counts ??= setTimeout(() => ((timers.current.counts = undefined), setRound((n) => n + 1)), COUNT_AGAIN_MS);
    }, [rows]);
    useEffect(() => onChange(refresh), [refresh]);
    useEffect(
        () => () => {
            rows.stop();
            clearTimeout(timers.current.list);
            timers.current.list = undefined;
        },
        [rows],
    );
    return { rows, round, refresh };
}

/** Which row the keyboard is at: in the address a little later, since browsers count how often that is written. */
function useCurrent(at: string | null) {
    const [current, setCurrent] = useState(at === null ? -1 : Number(at));
    const timer = useRef<ReturnType<typeof setTimeout>>();
    useEffect(() => setCurrent(at === null ? -1 : Number(at)), [at]);
    const keep = (index: number) => {
        clearTimeout(timer.current);
        timer.current = undefined;
        setQuery({ at: index }, true);
    };
    const move = (index: number) => {
        setCurrent(index);
        clearTimeout(timer.current);
        timer.current = setTimeout(() => keep(index), 300);
    };
    useEffect(() => () => clearTimeout(timer.current), []);
    return { current, move, keep };
}

function Empty({ q, start, end, sort }: { q: string; start: string | null; end: string | null; sort: string }) {
    if (q === 'state:trashed') {
        return <EmptyState title={words.trashEmpty} />;
    }
    if (q || start || end) {
        return (
            <EmptyState title={words.nothing} help={words.nothingHelp}>
                <Button kind="main" onClick={() => setQuery({ q: null, start: null, end: null, at: null, sort })}>
                    {words.nothingClear}
                </Button>
            </EmptyState>
        );
    }
    return (
        <EmptyState title={words.empty} help={words.emptyHelp}>
            <code class="library-curl">{`curl -T run.bag ${location.origin}/api/v1/recordings/by-name/lab/`}</code>
            <a class="button main" href="/upload">
                {words.emptyUpload}
            </a>
        </EmptyState>
    );
}

function Actions({ recording, refresh }: { recording: Recording | undefined; refresh: () => void }) {
    const [asks, setAsks] = useState(false);
    if (!recording) {
        return null;
    }
    return (
        <div class="library-actions">
            <span class="ellipsis">{recording.name}</span>
            <Button onClick={() => go(pathOf(recording))}>{words.open}</Button>
            {recording.state === 'trashed' ? (
                <>
                    <Button onClick={() => void restore(recording, refresh)}>{words.restore}</Button>
                    <Button kind="danger" onClick={() => setAsks(true)}>
                        {words.purge}
                    </Button>
                </>
            ) : (
                <Button icon="trash" label={words.toTrash} onClick={() => void trash(recording, refresh)} />
            )}
            {asks && (
                <Confirm
                    title={words.purgeTitle}
                    help={words.purgeHelp(recording.name)}
                    button={words.purge}
                    onYes={() => void purge(recording, refresh)}
                    onClose={() => setAsks(false)}
                />
            )}
        </div>
    );
}

function Foot({
    rows,
    current,
    sort,
    onSort,
    narrow,
    refresh,
    facets,
    onFacets,
}: {
    rows: Rows;
    current: Recording | undefined;
    sort: Sort;
    onSort: (sort: Sort) => void;
    narrow: boolean;
    refresh: () => void;
    facets: boolean;
    onFacets: () => void;
}) {
    return (
        <footer class="library-foot">
            <Button kind="quiet" icon="filter" class="library-filter" pressed={facets} onClick={onFacets}>
                {words.showFacets}
            </Button>
            {narrow && (
                <>
                    <Select
                        label={words.sortBy}
                        hidden_label
                        value={sort.key}
                        options={SORTS}
                        onChange={(key) => onSort({ key, down: key !== 'name' })}
                    />
                    <Button
                        kind="quiet"
                        icon={sort.down ? 'down' : 'up'}
                        label={words.sortBy}
                        onClick={() => onSort({ ...sort, down: !sort.down })}
                    />
                </>
            )}
            <span role="status" class="library-count">
                {rows.total === null ? <Spinner /> : words.found(rows.total, rows.more)}
            </span>
            <Actions recording={current} refresh={refresh} />
        </footer>
    );
}

function List({
    rows,
    sort,
    onSort,
    onWidth,
    state,
    refresh,
}: {
    rows: Rows;
    sort: Sort;
    onSort: (sort: Sort) => void;
    onWidth: (narrow: boolean) => void;
    state: ReturnType<typeof useCurrent>;
    refresh: () => void;
}) {
    const { ref, width } = useWidth();
    const shape = useMemo(() => columnsFor(width), [width]);
    useEffect(() => onWidth(shape.narrow), [shape.narrow]);
    const { current, move, keep } = state;
    const open = (index: number) => {
        const row = rows.at(index);
        if (row) {
            keep(index); // so that back comes to this row
            go(pathOf(row));
        }
    };
    const key = (event: KeyboardEvent, index: number) => {
        const row = rows.at(index);
        if (event.key === 'Delete' && row && row.state !== 'trashed') {
            void trash(row, refresh);
        }
    };
    return (
        <div class="library-list" ref={ref}>
            <VirtualTable
                label={words.list}
                columns={shape.columns}
                rowHeight={shape.rowHeight}
                count={rows.total ?? 0}
                rowAt={(index) => rows.at(index)}
                current={current}
                reveal={current}
                of={rows}
                onCurrent={move}
                onOpen={open}
                onSeen={(first, end) => rows.show(first, end)}
                onKey={key}
                sort={sort}
                onSort={onSort}
                rowClass={(row) => (row.state === 'trashed' ? 'library-trashed' : '')}
            />
        </div>
    );
}

/** The one collection that is looked at, if it is one. */
function oneCollection(q: string): string | null {
    const terms = termsOf(q).filter((term) => term.key === 'collection' && !term.not && term.values.length === 1 && !/[*?]/.test(term.values[0]!));
    return terms.length === 1 ? terms[0]!.values[0]! : null;
}

export function Library() {
    const { query } = useAddress();
    const q = query.get('q') ?? '';
    const start = query.get('start');
    const end = query.get('end');
    const order = query.get('sort') ?? NEWEST;
    const sort: Sort = { key: order.replace(/^-/, ''), down: order.startsWith('-') };
    const { rows, round, refresh } = useRows(q, start, end, order);
    const state = useCurrent(query.get('at'));
    const [facets, setFacets] = useState(false); // where there is no room for them beside the list
    const [narrow, setNarrow] = useState(false);
    const onSort = (next: Sort) => setQuery({ sort: (next.down ? '-' : '') + next.key, at: null });
    const collection = oneCollection(q);
    return (
        <div class={`library ${facets ? 'with-facets' : ''}`}>
            <h1 class="unseen">{words.title}</h1>
            <Facets query={q} start={start} end={end} round={round} />
            <div class="library-main">
                <Overview query={q} start={start} end={end} round={round} />
                {collection && <CollectionNote key={collection} name={collection} round={round} />}
                {rows.error !== null && <Failed error={rows.error} retry={() => rows.refresh()} />}
                {rows.error === null && rows.total === 0 ? (
                    <Empty q={q} start={start} end={end} sort={order} />
                ) : (
                    <List rows={rows} sort={sort} onSort={onSort} onWidth={setNarrow} state={state} refresh={refresh} />
                )}
                <Foot
                    rows={rows}
                    current={rows.at(state.current)}
                    sort={sort}
                    onSort={onSort}
                    narrow={narrow}
                    refresh={refresh}
                    facets={facets}
                    onFacets={() => setFacets(!facets)}
                />
            </div>
        </div>
    );
}
