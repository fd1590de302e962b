// Which recordings are selected: single ones and ranges by their ids, or all that the search finds.
import { useEffect, useRef, useState } from 'preact/hooks';
import { libraryText } from '../../text/library';
import { showError } from '../../toasts';
import type { Recording } from '../../types';
import type { Column } from '../../ui';
import { hasTerm } from './query';
import type { RecordingList, Search } from './recording_list';

const t = libraryText;
export const MOST = 10_000; // recordings that the server changes at a time

export interface Selection {
    ids: ReadonlyMap<string, boolean>; // by id: whether it is in the trash
    search: Search | null; // all that it finds; null: only `ids`
    count: number;
    trashed: boolean; // some are in the trash
    active: boolean; // some are not
}

export interface Selecting extends Selection {
    has: (row: Recording) => boolean;
    toggle: (index: number, range: boolean) => void; // `range`: all since the last one that was toggled
    selectAll: () => void;
    clear: () => void;
}

const NONE: ReadonlyMap<string, boolean> = new Map();

export function useSelection(rows: RecordingList): Selecting {
    const [ids, setIds] = useState(NONE);
    const [all, setAll] = useState(false);
    const last = useRef(-1);
    const set = (every: boolean) => {
        last.current = -1;
        setIds(NONE);
        setAll(every);
    };
    const clear = () => set(false);
    useEffect(clear, [JSON.stringify(rows.search)]); // what is no longer shown must not be changed by mistake
    const has = (row: Recording) => all || ids.has(row.id);
    const change = async (index: number, extend: boolean) => {
        const row = rows.at(index);
        if (!row) {
            return;
        }
        const on = !has(row);
        const from = extend && last.current >= 0 ? last.current : index;
        last.current = index;
        const every = all ? idsOf(await rows.between(0, Math.min(rows.total ?? 0, MOST))) : null;
        const range = idsOf(
            from === index ? [row] : await rows.between(Math.min(from, index), Math.max(from, index) + 1),
        );
        setAll(false);
        setIds((before) => {
            const next = new Map(every ?? before);
            range.forEach(([id, trashed]) => (on ? next.set(id, trashed) : next.delete(id)));
            return next;
        });
    };
    const inTrash = all && hasTerm(rows.query, 'state', 'trashed');
    const trashed = [...ids.values()];
    return {
        ids,
        search: all ? rows.search : null,
        count: all ? (rows.total ?? 0) : ids.size,
        trashed: all ? inTrash : trashed.includes(true),
        active: all ? !inTrash : trashed.includes(false),
        has,
        toggle: (index, range) => void change(index, range).catch(showError),
        selectAll: () => set(true),
        clear,
    };
}

const idsOf = (rows: Recording[]): [string, boolean][] => rows.map((row) => [row.id, row.state === 'trashed']);

/** The column of check boxes. They are no tab stops: the list has the focus, and Space selects the current row. */
export function selectColumn({ has, toggle, selectAll, clear, count, search }: Selecting): Column<Recording> {
    return {
        key: 'select',
        title: t.select,
        width: '24px',
        head: (
            <label class="library-check">
                <input
                    type="checkbox"
                    aria-label={t.selectAll}
                    checked={search !== null}
                    indeterminate={search === null && count > 0}
                    onChange={(event) => (event.currentTarget.checked ? selectAll() : clear())}
                />
            </label>
        ),
        cell: (row, index) => (
            <label
                class="library-check"
                onDblClick={(event) => event.stopPropagation()}
                onMouseDown={(event) => event.preventDefault()}
            >
                <input
                    type="checkbox"
                    tabIndex={-1}
                    aria-label={t.selectOne(row.name)}
                    checked={has(row)}
                    onClick={(event) => {
                        toggle(index, event.shiftKey);
                        event.currentTarget.closest<HTMLElement>('[role="grid"]')?.focus({ preventScroll: true });
                    }}
                />
            </label>
        ),
    };
}
