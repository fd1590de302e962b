// A table of any length that renders only the visible rows. The caller holds the rows.
import type { ComponentChildren } from 'preact';
import { useEffect, useId, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { Icon } from './basic';

export interface Column<Row> {
    key: string;
    title: string;
    width: string; // a track of a CSS grid: '8ch', 'minmax(12ch, 1fr)'
    right?: boolean; // numbers
    sort?: boolean; // can be sorted by this column
    help?: string;
    head?: ComponentChildren; // instead of the title
    cell: (row: Row, index: number) => ComponentChildren;
}
export interface Sort {
    key: string;
    down: boolean;
}
export interface VirtualTableProps<Row> {
    label: string;
    columns: Column<Row>[];
    count: number;
    rowAt: (index: number) => Row | undefined; // undefined: not loaded yet
    rowHeight?: number;
    current?: number; // the current row; -1: none
    onCurrent?: (index: number) => void;
    onOpen?: (index: number) => void; // Enter, or a double click
    onSeen?: (first: number, end: number) => void; // the visible rows, to be loaded
    onKey?: (event: KeyboardEvent, index: number) => void; // keys the table does not handle itself
    sort?: Sort;
    onSort?: (sort: Sort) => void;
    rowClass?: (row: Row, index: number) => string;
    reveal?: number; // scrolls to this row when it changes
    selected?: (row: Row) => boolean; // several rows can be selected; without it, the current one is
    source?: unknown; // identity of the list: when it changes, the table scrolls to the top
}

const MAX_HEIGHT = 8e6; // px: some browsers render taller elements wrongly; above it the scroll bar is scaled
const OVERSCAN = 8; // rows rendered beyond the visible ones

function useHeight(ref: { current: HTMLElement | null }): number {
    const [height, setHeight] = useState(600);
    useLayoutEffect(() => {
        const watch = new ResizeObserver(([entry]) => setHeight(entry!.contentRect.height));
        watch.observe(ref.current!);
        return () => watch.disconnect();
    }, []);
    return height;
}

function Head<Row>({ columns, sort, onSort }: Pick<VirtualTableProps<Row>, 'columns' | 'sort' | 'onSort'>) {
    return (
        <div class="table-head" role="row" aria-rowindex={1}>
            {columns.map((column, i) => {
                const on = sort?.key === column.key;
                return (
                    <div
                        key={column.key}
                        role="columnheader"
                        aria-colindex={i + 1}
                        aria-sort={on ? (sort.down ? 'descending' : 'ascending') : undefined}
                        class={`cell c-${column.key} ${column.right ? 'right' : ''}`}
                        title={column.help}
                    >
                        {column.sort && onSort ? (
                            <button
                                type="button"
                                onClick={() => onSort({ key: column.key, down: on ? !sort.down : !!column.right })}
                            >
                                {column.title}
                                {on && <Icon name={sort.down ? 'down' : 'up'} size={12} />}
                            </button>
                        ) : (
                            (column.head ?? column.title)
                        )}
                    </div>
                );
            })}
        </div>
    );
}

/** Rendered again only when the row or the columns have changed, not while the table scrolls. */
function Cells<Row>({ row, index, columns }: { row: Row | undefined; index: number; columns: Column<Row>[] }) {
    return useMemo(
        () => (
            <>
                {columns.map((column, i) => (
                    <div
                        key={column.key}
                        role="gridcell"
                        aria-colindex={i + 1}
                        class={`cell c-${column.key} ${column.right ? 'right' : ''}`}
                    >
                        {row === undefined ? '' : column.cell(row, index)}
                    </div>
                ))}
            </>
        ),
        [row, index, columns],
    );
}

export function VirtualTable<Row>(props: VirtualTableProps<Row>) {
    const {
        label,
        columns,
        count,
        rowAt,
        rowHeight = 28,
        current = -1,
        onCurrent,
        onOpen,
        onSeen,
        onKey,
        rowClass,
        reveal,
        selected,
        source,
    } = props;
    const body = useRef<HTMLDivElement>(null);
    const id = useId();
    const [top, setTop] = useState(0);
    const height = useHeight(body);
    const fullHeight = count * rowHeight;
    const scrollHeight = Math.min(fullHeight, MAX_HEIGHT);
    const scale = scrollHeight > height ? (fullHeight - height) / (scrollHeight - height) : 1;
    const at = top * scale; // in px of the unscaled table
    const first = Math.max(0, Math.min(Math.floor(at / rowHeight) - OVERSCAN, count - 1));
    const end = Math.min(count, Math.ceil((at + height) / rowHeight) + OVERSCAN);

    useEffect(() => onSeen?.(first, end), [first, end, count]);

    const show = (index: number) => {
        const box = body.current!;
        const from = index * rowHeight;
        const seen = box.scrollTop * scale;
        const visible = box.clientHeight; // `height` is not known on the first render
        if (from < seen) {
            box.scrollTop = from / scale;
        } else if (from + rowHeight > seen + visible) {
            box.scrollTop = (from + rowHeight - visible) / scale;
        }
    };
    const drawn = useRef(source);
    useLayoutEffect(() => {
        if (drawn.current !== source) {
            drawn.current = source;
            body.current!.scrollTop = 0;
            setTop(0);
            onSeen?.(0, Math.ceil(height / rowHeight) + OVERSCAN);
        }
    }, [source]);
    useLayoutEffect(() => {
        if (reveal !== undefined && reveal >= 0 && count > 0) {
            show(reveal);
        }
    }, [reveal, source, count > 0]);

    const move = (event: KeyboardEvent) => {
        const page = Math.max(1, Math.floor(height / rowHeight) - 1);
        const to = {
            ArrowDown: current + 1,
            ArrowUp: current - 1,
            PageDown: current + page,
            PageUp: current - page,
            Home: 0,
            End: count - 1,
        }[event.key];
        if (to !== undefined && !event.altKey && !event.metaKey && count > 0) {
            const index = Math.max(0, Math.min(to, count - 1));
            onCurrent?.(index);
            show(index);
            event.preventDefault();
        } else if (event.key === 'Enter' && current >= 0 && event.target === body.current) {
            onOpen?.(current);
            event.preventDefault();
        } else {
            onKey?.(event, current);
        }
    };
    const rows = [];
    for (let index = first; index < end; index++) {
        const row = rowAt(index);
        rows.push(
            <div
                key={index}
                id={`${id}-${index}`}
                role="row"
                aria-rowindex={index + 2}
                aria-selected={selected ? row !== undefined && selected(row) : index === current}
                class={`table-row ${index === current ? 'current' : ''} ${row === undefined ? 'waiting' : (rowClass?.(row, index) ?? '')}`}
                style={{ transform: `translateY(${index * rowHeight - at + top}px)`, height: `${rowHeight}px` }}
                onClick={() => onCurrent?.(index)}
                onDblClick={() => onOpen?.(index)}
            >
                <Cells row={row} index={index} columns={columns} />
            </div>,
        );
    }
    return (
        <div class="table" ref={(e) => e?.style.setProperty('--columns', columns.map((c) => c.width).join(' '))}>
            <div role="rowgroup" class="table-top" id={`${id}-head`}>
                <Head columns={columns} sort={props.sort} onSort={props.onSort} />
            </div>
            <div
                class="table-body"
                role="grid"
                ref={body}
                tabIndex={0}
                aria-label={label}
                aria-multiselectable={selected ? true : undefined}
                aria-rowcount={count + 1}
                aria-colcount={columns.length}
                // the scrolling element has the focus, so it must be the grid; the header is outside of it
                aria-owns={`${id}-head`}
                aria-activedescendant={current >= first && current < end ? `${id}-${current}` : undefined}
                onScroll={(event) => setTop(event.currentTarget.scrollTop)}
                onKeyDown={move}
            >
                <div class="table-space" role="presentation" style={{ height: `${scrollHeight}px` }} />
                {rows}
            </div>
        </div>
    );
}
