// What can be done with the selected recordings: below the list, in place of the actions of the current one.
import { useEffect, useState } from 'preact/hooks';
import { go, href } from '../../address';
import { useRole } from '../../service';
import { libraryText } from '../../text/library';
import { Button } from '../../ui';
import type { Action } from './batch';
import { BatchDialog } from './batch_dialog';
import { ExportMany } from './export_many';
import type { RecordingList } from './recording_list';
import type { Selecting } from './selection';

const t = libraryText;

/** When the bar disappears with the focus, the list gets it. */
function useListFocus() {
    useEffect(
        () => () =>
            void setTimeout(() => {
                if (document.activeElement === document.body) {
                    document.querySelector<HTMLElement>('.library-list .table-body')?.focus({ preventScroll: true });
                }
            }),
        [],
    );
}

/** Opens the first recording with the second one beside it. */
const compare = ([first, second]: string[]) => go(href(`recordings/${first}`, { with: second }));

export function BulkBar({
    rows,
    selecting,
    refresh,
}: {
    rows: RecordingList;
    selecting: Selecting;
    refresh: () => void;
}) {
    const [open, setOpen] = useState<Action | 'export' | 'merge' | null>(null);
    const mayEdit = useRole('edit');
    const { search, ids, count, active, trashed, selectAll, clear } = selecting;
    const close = () => setOpen(null);
    useListFocus();
    const done = (whole: boolean) => {
        refresh();
        if (whole && (open === 'trash' || open === 'restore')) {
            clear(); // they have left the list
        }
    };
    return (
        <>
            <div
                class="library-actions library-bulk"
                role="group"
                aria-label={t.bulk}
                onKeyDown={(event) => event.key === 'Escape' && clear()}
            >
                {!search && count < (rows.total ?? 0) && (
                    <Button onClick={selectAll}>{t.selectAllOf(rows.total ?? 0, rows.more)}</Button>
                )}
                {mayEdit && active && <Button onClick={() => setOpen('tag')}>{t.batch.tag.button}</Button>}
                {mayEdit && active && <Button onClick={() => setOpen('move')}>{t.batch.move.button}</Button>}
                {active && !search && count === 2 && (
                    <Button onClick={() => compare([...ids.keys()])}>{t.compare}</Button>
                )}
                {active && count >= 2 && <Button onClick={() => setOpen('merge')}>{t.exportMany.merge}</Button>}
                {active && <Button onClick={() => setOpen('export')}>{t.exportMany.button}</Button>}
                {mayEdit && active && (
                    <Button icon="trash" label={t.batch.trash.button} onClick={() => setOpen('trash')} />
                )}
                {mayEdit && trashed && <Button onClick={() => setOpen('restore')}>{t.batch.restore.button}</Button>}
                <Button kind="quiet" icon="close" label={t.selectNone} onClick={clear} />
            </div>
            {(open === 'export' || open === 'merge') && (
                <ExportMany selection={selecting} merge={open === 'merge'} onClose={close} />
            )}
            {open && open !== 'export' && open !== 'merge' && (
                <BatchDialog action={open} selection={selecting} onDone={done} onClose={close} />
            )}
        </>
    );
}
