// Recordings that are being recorded: how much has arrived, and a button to finish each.
import { useEffect } from 'preact/hooks';
import { onChange, send } from '../../api';
import { ago, bytes, count, duration } from '../../format';
import { adminText } from '../../text/admin';
import { recordingText } from '../../text/recording';
import type { Recording } from '../../types';
import { Action, ListTable, useList } from './parts';

const t = adminText.live;
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
                    title: recordingText.name,
                    cell: (r) => (
                        <a class="admin-long" href={`recordings/${r.id}`}>
                            {r.name}
                        </a>
                    ),
                },
                { title: adminText.storage.collection, cell: (r) => r.collection },
                { title: adminText.storage.messages, right: true, cell: (r) => count(r.messages) },
                { title: adminText.storage.size, right: true, cell: (r) => bytes(r.size) },
                { title: adminText.storage.duration, right: true, cell: (r) => duration(r.duration_ns) },
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
