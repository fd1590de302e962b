// What is shown of a recording whose file is still on a robot, in place of its panels.
import { href } from '../../address';
import { send } from '../../api';
import { dateTime } from '../../format';
import { usePlaybackPart, type Playback } from '../../playback';
import { relativeTime } from '../../recording_time';
import { useRole } from '../../service';
import { announcedText as t } from '../../text/recording';
import { showError, showToast } from '../../toasts';
import type { Fetch, Recording } from '../../types';
import { Button, EmptyState } from '../../ui';
import type { Loaded } from './annotations';

function part(recording: Recording, fetch: Fetch): string {
    return fetch.start_ns && fetch.end_ns
        ? t.part(relativeTime(recording, BigInt(fetch.start_ns), 1), relativeTime(recording, BigInt(fetch.end_ns), 1))
        : t.whole;
}

function Asked({ recording, fetch }: { recording: Recording; fetch: Fetch }) {
    return (
        <li>
            {part(recording, fetch)}, {t.asked(fetch.author, dateTime(fetch.asked))}:{' '}
            {fetch.state === 'failed' ? (
                <span class="error">{fetch.problem}</span>
            ) : fetch.result ? (
                <a href={href(`recordings/${fetch.result}`)}>{t.done}</a>
            ) : (
                t.waiting
            )}
        </li>
    );
}

export function Announced({ loaded, playback }: { loaded: Loaded; playback: Playback }) {
    const { recording, reload } = loaded;
    const mayEdit = useRole('edit');
    const range = usePlaybackPart(playback, (state) => state.range);
    const { robot, fetches } = recording.announced!;
    const ask = (params: Record<string, string>) =>
        void send('POST', `/recordings/${recording.id}/fetch`, { params }).then(
            () => (reload(), showToast(t.sent(robot))),
            showError,
        );
    const waits = fetches?.some((fetch) => fetch.state === 'waiting' && !fetch.start_ns);
    return (
        <section class="announced" aria-label={t.title(robot)}>
            <EmptyState title={t.title(robot)} help={mayEdit ? t.help : t.helpReader}>
                {mayEdit && (
                    <Button kind="main" icon="download" disabled={waits} onClick={() => ask({})}>
                        {t.get}
                    </Button>
                )}
                {mayEdit && range && (
                    <Button onClick={() => ask({ start: String(range.start), end: String(range.end) })}>
                        {t.getRange}
                    </Button>
                )}
            </EmptyState>
            {fetches && fetches.length > 0 && (
                <ul class="announced-asked small">
                    {fetches.map((fetch) => (
                        <Asked key={fetch.id} recording={recording} fetch={fetch} />
                    ))}
                </ul>
            )}
        </section>
    );
}
