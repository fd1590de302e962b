// Storage: collections with their totals, descriptions and names; the trash.
import { useState } from 'preact/hooks';
import { ApiError, get, getPage, patch, send } from '../../api';
import { bytes, count, duration } from '../../format';
import { useRole } from '../../service';
import { adminText } from '../../text/admin';
import { libraryText } from '../../text/library';
import { showToast } from '../../toasts';
import type { Collection, Recording, Stat } from '../../types';
import { Button, Progress } from '../../ui';
import { useRequest } from '../../use_request';
import { Action, FormDialog, ListTable, useList, type Values } from './parts';

const t = adminText.storage;

/** The trash: how much is in it, and a button that deletes all of it permanently. */
function Trash({ done }: { done: () => void }) {
    const trash = useRequest((signal) => get<{ items: Stat[] }>('/stats', { by: 'state' }, signal), []);
    const [left, setLeft] = useState<number | null>(null);
    const mayPurge = useRole('admin');
    const found = trash.value?.items.find((stat) => stat.name === 'trashed');
    const n = found?.recordings ?? 0;
    const run = () => emptyTrash(setLeft).finally(() => (setLeft(null), trash.reload(), done()));
    if (!trash.value) {
        return null;
    }
    return (
        <>
            <h2>{t.trash}</h2>
            <p class="muted">
                {n > 0 ? (
                    <a href="./?q=state%3Atrashed">{t.inTrash(n, bytes(found?.size ?? 0))}</a>
                ) : (
                    libraryText.trashEmpty
                )}
            </p>
            {mayPurge && n > 0 && (
                <div class="admin-job">
                    <Action
                        kind="danger"
                        label={t.emptyTrash}
                        confirm={{ title: t.emptyTrashTitle, help: t.emptyTrashHelp(n), button: libraryText.purge }}
                        run={run}
                        done={() => showToast(t.trashEmptied)}
                    />
                    {left !== null && <Progress label={t.emptyTrash} value={n > 0 ? 1 - left / n : null} />}
                </div>
            )}
        </>
    );
}

/**
 * Deletes what is in the trash, page by page. Recordings that were deleted or restored in the meantime are passed over.
 */
async function emptyTrash(report: (left: number) => void): Promise<void> {
    for (;;) {
        const page = await getPage<Recording>('/recordings', { state: 'trashed', limit: 100, count: true });
        report(page.total ?? page.items.length);
        if (page.items.length === 0) {
            return;
        }
        for (const [i, recording] of page.items.entries()) {
            await send('DELETE', `/recordings/${recording.id}`, { params: { purge: true } }).catch((error: unknown) => {
                if (!(error instanceof ApiError && error.status === 404)) {
                    throw error;
                }
            });
            report((page.total ?? page.items.length) - i - 1);
        }
    }
}

const FIELDS = [
    { name: 'name', label: t.name, help: t.nameHelp },
    { name: 'description', label: t.description, multiline: true },
];

export function Storage() {
    const list = useList<Collection>('/collections', { limit: 200 });
    const service = useRequest((signal) => get<{ free_bytes: number }>('', {}, signal), []);
    const [editing, setEditing] = useState<Collection | null>(null);
    const [mayEdit, mayRename] = [useRole('edit'), useRole('admin')];
    const save = async ({ name, description }: Values) => {
        await patch(`/collections/${encodeURIComponent(editing!.name)}`, {
            description,
            ...(name !== editing!.name ? { name } : {}),
        });
        setEditing(null);
        list.reload();
    };
    return (
        <>
            <ListTable
                caption={t.title}
                empty={t.none}
                of={list}
                columns={[
                    {
                        title: t.collection,
                        cell: (c) => <a href={`./?q=${encodeURIComponent(`collection:"${c.name}"`)}`}>{c.name}</a>,
                    },
                    { title: t.recordings, right: true, cell: (c) => count(c.recordings) },
                    { title: t.size, right: true, cell: (c) => bytes(c.size) },
                    { title: t.messages, right: true, cell: (c) => count(c.messages) },
                    { title: t.duration, right: true, cell: (c) => duration(Math.round(c.duration_s * 1e9)) },
                    { title: t.description, cell: (c) => <span class="admin-reason">{c.description}</span> },
                    {
                        title: '',
                        right: true,
                        cell: (c) =>
                            mayEdit && (
                                <Button kind="quiet" icon="edit" label={t.edit(c.name)} onClick={() => setEditing(c)} />
                            ),
                    },
                ]}
            />
            {service.value && <p>{t.free(bytes(service.value.free_bytes))}</p>}
            <Trash done={list.reload} />
            {editing && (
                <FormDialog
                    title={t.edit(editing.name)}
                    button={t.save}
                    fields={FIELDS.filter(({ name }) => mayRename || name !== 'name')}
                    initial={{ name: editing.name, description: editing.description }}
                    submit={save}
                    onClose={() => setEditing(null)}
                />
            )}
        </>
    );
}
