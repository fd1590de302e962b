// Playback controls and the current time.
import { usePlayback, type Playback } from '../../playback';
import { duration } from '../../format';
import { text } from '../../text';
import { calendarTime, relativeTime } from '../../recording_time';
import type { Recording } from '../../types';
import { Button, Select } from '../../ui';

const SPEEDS = [0.1, 0.25, 0.5, 1, 2, 5, 10, 30, 100];

export function Player({ recording, playback }: { recording: Recording; playback: Playback }) {
    const { time_ns, playing, speed, loop } = usePlayback(playback, 50);
    const date = calendarTime(recording, time_ns);
    return (
        <div class="player row" role="group" aria-label={text.player.title}>
            <Button icon="previous" label={text.player.start} onClick={() => playback.seek(playback.span().start)} />
            <Button kind="main" icon={playing ? 'pause' : 'play'} label={playing ? text.player.pause : text.player.play} onClick={() => playback.toggle()} />
            <Button icon="next" label={text.player.end} onClick={() => playback.seek(playback.span().end)} />
            <Select label={text.player.speed} hidden_label value={String(speed)} options={SPEEDS.map((s) => [String(s), `${s}×`])} onChange={(s) => playback.setSpeed(Number(s))} />
            <Button pressed={loop} onClick={() => playback.setLoop(!loop)}>
                {text.player.loop}
            </Button>
            <output class="player-time mono" aria-live="off">
                {relativeTime(recording, time_ns)} <span class="muted">/ {duration(recording.duration_ns)}</span>
            </output>
            {date && <span class="player-date muted mono">{date}</span>}
        </div>
    );
}
