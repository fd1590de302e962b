// Playback controls, the current time, the list of keys.
import { useState } from 'preact/hooks';
import { SPEEDS, usePlayback, usePlaybackPart, type Playback } from '../../playback';
import { duration } from '../../format';
import { text } from '../../text';
import { calendarText, relativeTime } from '../../recording_time';
import type { Recording } from '../../types';
import { Button, Dialog, Select } from '../../ui';

function Keys({ onClose }: { onClose: () => void }) {
    return (
        <Dialog title={text.player.keys} onClose={onClose}>
            <dl class="player-keys">
                {text.player.keyList.map(([keys, action]) => (
                    <>
                        <dt class="mono">{keys}</dt>
                        <dd>{action}</dd>
                    </>
                ))}
            </dl>
        </Dialog>
    );
}

function Clock({ recording, playback }: { recording: Recording; playback: Playback }) {
    const { time_ns } = usePlayback(playback, 50);
    const date = calendarText(recording, time_ns);
    return (
        <>
            <output class="player-time mono" aria-live="off">
                {relativeTime(recording, time_ns)} <span class="muted">/ {duration(recording.duration_ns)}</span>
            </output>
            {date && <span class="player-date muted mono">{date}</span>}
        </>
    );
}

export function Player({
    recording,
    playback,
    step,
}: {
    recording: Recording;
    playback: Playback;
    step: (forward: boolean) => Promise<void>;
}) {
    const playing = usePlaybackPart(playback, (state) => state.playing);
    const speed = usePlaybackPart(playback, (state) => state.speed);
    const loop = usePlaybackPart(playback, (state) => state.loop);
    const growing = usePlaybackPart(playback, (state) => state.growing);
    const following = usePlaybackPart(playback, (state) => state.following);
    const [keys, setKeys] = useState(false);
    return (
        <div class="player row" role="group" aria-label={text.player.title}>
            <Button icon="previous" label={text.player.start} onClick={() => playback.seek(playback.span().start)} />
            <Button
                icon="left"
                label={text.player.previousFrame}
                aria-keyshortcuts="ArrowLeft"
                onClick={() => void step(false)}
            />
            <Button
                kind="main"
                icon={playing ? 'pause' : 'play'}
                label={playing ? text.player.pause : text.player.play}
                aria-keyshortcuts="Space"
                onClick={() => playback.toggle()}
            />
            <Button
                icon="right"
                label={text.player.nextFrame}
                aria-keyshortcuts="ArrowRight"
                onClick={() => void step(true)}
            />
            <Button icon="next" label={text.player.end} onClick={() => playback.seek(playback.span().end)} />
            <Select
                label={text.player.speed}
                hidden_label
                value={String(speed)}
                options={SPEEDS.map((s) => [String(s), `${String(s).replace('-', '−')}×`])}
                onChange={(s) => playback.setSpeed(Number(s))}
            />
            <Button pressed={loop} onClick={() => playback.setLoop(!loop)}>
                {text.player.loop}
            </Button>
            {growing && (
                <Button
                    pressed={following}
                    class="player-live"
                    title={text.player.liveHelp}
                    onClick={() => playback.follow()}
                >
                    {text.player.live}
                </Button>
            )}
            <Clock recording={recording} playback={playback} />
            <Button
                kind="quiet"
                icon="info"
                class="player-help"
                label={text.player.keys}
                onClick={() => setKeys(true)}
            />
            {keys && <Keys onClose={() => setKeys(false)} />}
        </div>
    );
}
