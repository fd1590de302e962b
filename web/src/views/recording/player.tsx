// Playback controls, the current time, the list of keys.
import { useState } from 'preact/hooks';
import { SPEEDS, usePlayback, usePlaybackPart, type Playback } from '../../playback';
import { duration } from '../../format';
import { playerText } from '../../text/timeline';
import { calendarText, relativeTime } from '../../recording_time';
import type { Recording } from '../../types';
import { Button, Dialog, Select } from '../../ui';

function Keys({ onClose }: { onClose: () => void }) {
    return (
        <Dialog title={playerText.keys} onClose={onClose}>
            <dl class="player-keys">
                {playerText.keyList.map(([keys, action]) => (
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
        <div class="player row" role="group" aria-label={playerText.title}>
            <Button icon="previous" label={playerText.start} onClick={() => playback.seek(playback.span().start)} />
            <Button
                icon="left"
                label={playerText.previousFrame}
                aria-keyshortcuts="ArrowLeft"
                onClick={() => void step(false)}
            />
            <Button
                kind="main"
                icon={playing ? 'pause' : 'play'}
                label={playing ? playerText.pause : playerText.play}
                aria-keyshortcuts="Space"
                onClick={() => playback.toggle()}
            />
            <Button
                icon="right"
                label={playerText.nextFrame}
                aria-keyshortcuts="ArrowRight"
                onClick={() => void step(true)}
            />
            <Button icon="next" label={playerText.end} onClick={() => playback.seek(playback.span().end)} />
            <Select
                label={playerText.speed}
                hidden_label
                value={String(speed)}
                options={SPEEDS.map((s) => [String(s), `${String(s).replace('-', '−')}×`])}
                onChange={(s) => playback.setSpeed(Number(s))}
            />
            <Button pressed={loop} onClick={() => playback.setLoop(!loop)}>
                {playerText.loop}
            </Button>
            {growing && (
                <Button
                    pressed={following}
                    class="player-live"
                    title={playerText.liveHelp}
                    onClick={() => playback.follow()}
                >
                    {playerText.live}
                </Button>
            )}
            <Clock recording={recording} playback={playback} />
            <Button
                kind="quiet"
                icon="info"
                class="player-help"
                label={playerText.keys}
                onClick={() => setKeys(true)}
            />
            {keys && <Keys onClose={() => setKeys(false)} />}
        </div>
    );
}
