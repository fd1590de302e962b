// Play, pause, speed, and where the head is.
import { useClock, type Clock } from '../../clock';
import { duration } from '../../format';
import { text } from '../../text';
import { calendar, since } from '../../times';
import type { Recording } from '../../types';
import { Button, Select } from '../../ui';

const SPEEDS = [0.1, 0.25, 0.5, 1, 2, 5, 10, 30, 100];

export function Player({ recording, clock }: { recording: Recording; clock: Clock }) {
    const { time_ns, playing, speed, loop } = useClock(clock, 50);
    const date = calendar(recording, time_ns);
    return (
        <div class="player row" role="group" aria-label={text.player.title}>
            <Button icon="previous" label={text.player.start} onClick={() => clock.seek(clock.span().start)} />
            <Button kind="main" icon={playing ? 'pause' : 'play'} label={playing ? text.player.pause : text.player.play} onClick={() => clock.toggle()} />
            <Button icon="next" label={text.player.end} onClick={() => clock.seek(clock.span().end)} />
            <Select label={text.player.speed} hidden_label value={String(speed)} options={SPEEDS.map((s) => [String(s), `${s}×`])} onChange={(s) => clock.setSpeed(Number(s))} />
            <Button pressed={loop} onClick={() => clock.setLoop(!loop)}>
                {text.player.loop}
            </Button>
            <output class="player-time mono" aria-live="off">
                {since(recording, time_ns)} <span class="soft">/ {duration(recording.duration_ns)}</span>
            </output>
            {date && <span class="player-date soft mono">{date}</span>}
        </div>
    );
}
