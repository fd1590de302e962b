// The strip of one field, and its row of tools.
import { duration, offset } from '../../format';
import { statesText } from '../../text/signals';
import { Button } from '../../ui';
import { COLOURS } from '../plot/curves';
import { segmentsOf, type Segment, type Track } from './runs';

const ns = (seconds: number): bigint => BigInt(Math.round(seconds * 1e9));
const TEXT_PX = 20; // a narrower segment has no text
const NEUTRAL = new Set(['false', '0', '–', '']);
const BAD = /err|fault|fail|abort|fatal|emergency|lost/i;
const WARN = /warn|degraded|recover|stale/i;

/** The colour of each value: of faults as in the log, none of false, else in the order in which they come. */
export function coloursOf(track: Track): Map<string, string> {
    const colours = new Map<string, string>();
    let next = 0;
    for (const { value } of track.runs) {
        if (!colours.has(value)) {
            const name = NEUTRAL.has(value)
                ? 'line-strong'
                : BAD.test(value)
                  ? 'bad'
                  : WARN.test(value)
                    ? 'warn'
                    : `c${(next++ % COLOURS) + 1}`;
            colours.set(value, `var(--${name})`);
        }
    }
    return colours;
}

function titleOf({ value, from, to, changes }: Segment): string {
    const [start, length] = [offset(ns(from)), duration(ns(to - from))];
    return changes > 0 ? statesText.several(changes + 1, start, length) : statesText.run(value, start, length);
}

interface Props {
    track: Track;
    from: number;
    to: number;
    width: number;
    onStep: (forward: boolean) => void;
    onRemove: () => void;
}

export function Strip({ track, from, to, width, onStep, onRemove }: Props) {
    const { field, runs } = track;
    const colours = coloursOf(track);
    return (
        <div class="states-row" role="group" aria-label={field}>
            <div class="states-head small">
                <span class="mono states-name" title={field}>
                    <bdi>{field}</bdi>
                </span>
                <span class="states-value" />
                <span class="states-tools">
                    <Button kind="quiet" icon="left" label={statesText.previous(field)} onClick={() => onStep(false)} />
                    <Button kind="quiet" icon="right" label={statesText.next(field)} onClick={() => onStep(true)} />
                    <Button kind="quiet" icon="close" label={statesText.remove(field)} onClick={onRemove} />
                </span>
            </div>
            <div class="states-strip" role="img" aria-label={statesText.label(field, Math.max(0, runs.length - 1))}>
                {segmentsOf(runs, from, to, width).map((segment) => (
                    <span
                        key={segment.from}
                        class={`states-run ${segment.changes > 0 ? 'states-several' : ''}`}
                        title={titleOf(segment)}
                        style={{
                            left: `${segment.left}px`,
                            width: `${Math.max(segment.width, 1)}px`,
                            '--state': colours.get(segment.value),
                        }}
                    >
                        {segment.changes === 0 && segment.width > TEXT_PX && segment.value}
                    </span>
                ))}
                {runs.length === 0 && <span class="muted small">{statesText.none}</span>}
            </div>
        </div>
    );
}
