// What can be done with the selected recordings: below the list, in place of the actions of the current one.
import { useEffect, useState } from 'preact/hooks';
import { useRole } from '../../service';
import { text } from '../../text';
import { Button } from '../../ui';
import type { Action } from './batch';
import { BatchDialog } from './batch_dialog';
import { ExportMany } from './export_many';
import type { RecordingList } from './recording_list';
import type { Selecting } from './selection';

const t = text.library;

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

export function BulkBar({ rows, selecting, refresh }: { rows: RecordingList; selecting: Selecting; refresh: () => void }) {
    const [open, setOpen] = useState<Action | 'export' | null>(null);
    const mayEdit = useRole('edit');
    const { search, count, active, trashed, selectAll, clear } = selecting;
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
            <div class="library-actions library-bulk" role="group" aria-label={t.bulk} onKeyDown={(event) => event.key === 'Escape' && clear()}>
                {!search && count < (rows.total ?? 0) && <Button onClick={selectAll}>{t.selectAllOf(rows.total ?? 0, rows.more)}</Button>}
                {mayEdit && active && <Button onClick={() => setOpen('tag')}>{t.batch.tag.button}</Button>}
                {mayEdit && active && <Button onClick={() => setOpen('move')}>{t.batch.move.button}</Button>}
                {active && <Button onClick={() => setOpen('export')}>{t.exportMany.button}</Button>}
                {mayEdit && active && <Button icon="trash" label={t.batch.trash.button} onClick={() => setOpen('trash')} />}
                {mayEdit && trashed && <Button onClick={() => setOpen('restore')}>{t.batch.restore.button}</Button>}
                <Button kind="quiet" icon="close" label={t.selectNone} onClick={clear} />
            </div>
            {open === 'export' && <ExportMany selection={selecting} onClose={close} />}
            {open && open !== 'export' && <BatchDialog action={open} selection={selecting} onDone={done} onClose={close} />}
        </>
    );
}
