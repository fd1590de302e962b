// Files that could not be imported or read: try again, download, dismiss.
import { download, getAll, send } from '../../api';
import { ago, count } from '../../format';
import { useRole } from '../../service';
import { text } from '../../text/common';
import { adminText } from '../../text/admin';
import { showToast } from '../../toasts';
import type { Failure } from '../../types';
import { Action, ListTable, useList } from './parts';

const t = adminText.failures;

/** One after the other; the first that is refused ends it. */
async function forAll(act: (failure: Failure) => Promise<unknown>): Promise<void> {
    for (const failure of await getAll<Failure>('/failures')) {
        await act(failure);
    }
}
const retry = ({ id }: Failure) => send('POST', `/failures/${id}/retry`);
const forget = ({ id }: Failure) => send('DELETE', `/failures/${id}`);

export function Failures() {
    const list = useList<Failure>('/failures', { limit: 200 });
    const mayEdit = useRole('edit');
    const some = (list.value?.items.length ?? 0) > 0;
    return (
        <>
            {mayEdit && some && (
                <div class="row">
                    <Action
                        label={t.retryAll}
                        run={() => forAll(retry)}
                        done={() => (showToast(t.retrying), list.reload())}
                    />
                    <Action
                        kind="danger"
                        label={t.dismissAll}
                        confirm={{ title: t.dismissAllTitle, help: t.dismissHelp, button: t.dismissAll }}
                        run={() => forAll(forget)}
                        done={list.reload}
                    />
                </div>
            )}
            <ListTable
                caption={t.title}
                empty={t.none}
                of={list}
                columns={[
                    {
                        title: t.file,
                        cell: (f) =>
                            f.recording ? (
                                <a class="admin-long" href={`recordings/${f.recording}`}>
                                    {f.name ?? f.recording}
                                </a>
                            ) : (
                                <span class="admin-long mono">{f.path ?? f.name}</span>
                            ),
                    },
                    { title: t.collection, cell: (f) => f.collection },
                    { title: t.reason, cell: (f) => <span class="admin-reason">{f.reason}</span> },
                    { title: t.tries, right: true, cell: (f) => count(f.tries) },
                    { title: t.last, cell: (f) => ago(f.last_failed) },
                    {
                        title: '',
                        right: true,
                        cell: (f) => (
                            <span class="admin-actions">
                                {f.recording && f.name && (
                                    <Action
                                        kind="quiet"
                                        icon="download"
                                        label={t.download(f.name)}
                                        run={() =>
                                            download(`/recordings/${f.recording}/file/${encodeURIComponent(f.name!)}`)
                                        }
                                    />
                                )}
                                {mayEdit && (
                                    <Action
                                        label={text.retry}
                                        run={() => retry(f)}
                                        done={() => (showToast(t.retrying), list.reload())}
                                    />
                                )}
                                {mayEdit && (
                                    <Action
                                        kind="quiet"
                                        icon="close"
                                        label={t.dismiss}
                                        run={() => forget(f)}
                                        done={list.reload}
                                    />
                                )}
                            </span>
                        ),
                    },
                ]}
            />
        </>
    );
}
