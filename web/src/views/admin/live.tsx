// Recordings that are being recorded: how much has arrived, and a button to finish each.
import { useEffect } from 'preact/hooks';
import { onChange, send } from '../../api';
import { ago, bytes, count, duration } from '../../format';
import { text } from '../../text';
import type { Recording } from '../../types';
import { Action, ListTable, useList } from './parts';

const t = text.admin.live;
const POLL_MS = 3000;

export function Live() {
    const list = useList<Recording>('/recordings', { state: 'recording', limit: 100 });
    useEffect(() => onChange(({ kind }) => kind.startsWith('recording.') && list.reload()), []);
    useEffect(() => {
        const timer = setInterval(() => !document.hidden && list.reload(), POLL_MS); // messages are no changes
        return () => clearInterval(timer);
    }, []);
    return (
        <ListTable
            caption={t.title}
            empty={t.none}
            of={list}
            columns={[
                {
                    title: text.recording.name,
                    cell: (r) => (
                        <a class="admin-long" href={`recordings/${r.id}`}>
                            {r.name}
                        </a>
                    ),
                },
                { title: text.admin.storage.collection, cell: (r) => r.collection },
                { title: text.admin.storage.messages, right: true, cell: (r) => count(r.messages) },
                { title: text.admin.storage.size, right: true, cell: (r) => bytes(r.size) },
                { title: text.admin.storage.duration, right: true, cell: (r) => duration(r.duration_ns) },
                { title: t.started, cell: (r) => ago(r.created) },
                {
                    title: '',
                    right: true,
                    cell: (r) => (
                        <Action
                            label={t.finish}
                            confirm={{ title: t.finishTitle(r.name), help: t.finishHelp, button: t.finish }}
                            run={() => send('POST', `/recordings/${r.id}/finish`)}
                            done={list.reload}
                        />
                    ),
                },
            ]}
        />
    );
}
