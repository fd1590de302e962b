// The bar of the second recording: which one, how it is aligned, and a way back to one recording.
import { address, href, setQuery } from '../../../address';
import { boundsOf, secondsOf, timeNs } from '../../../recording_time';
import { pairText } from '../../../text/recording';
import type { Recording } from '../../../types';
import { Button, Field } from '../../../ui';
import type { Source } from '../layout/frame';
import { arranged, idsOf, keepPanels, stacked } from '../layout/tree';
import { defaultLayout, nextIds, panelOf, setLayout, settingsOf, shownLayout } from '../panel_layout';
import { recordedShift, type Pair } from './pair';

const isSecond = (id: string) => address.get().query.get(`${id}.of`) === '2';

/** Whether a panel of the second recording is shown. */
export const showsSecond = (sources: Source[]): boolean =>
    idsOf(shownLayout(sources, address.get().query)).some(isSecond);

/** For each panel one more, of the second recording, at its side; not for those that draw the topics of both. */
export function doubleLayout(sources: Source[]): void {
    const { query } = address.get();
    const [first, second] = sources as [Source, Source];
    const shared = second.topics.some(({ name }) => first.topics.some((topic) => topic.name === name));
    const ids = idsOf(shownLayout(sources, query)).filter((id) => !isSecond(id));
    const doubled = ids.filter((id) => !shared || !panelOf(id)?.drawsBoth);
    const others = nextIds(doubled, ids);
    const settings = Object.fromEntries(doubled.map((id, i) => [others[i]!, { ...settingsOf(id, query), of: '2' }]));
    const pairs = ids.map((id) => arranged(doubled.includes(id) ? [id, others[doubled.indexOf(id)]!] : [id])!);
    setLayout(first.recording, stacked(pairs), { settings });
}

export function startPair(other: Recording): void {
    setQuery({ with: other.id, shift: null, max: null });
}

function endPair(recording: Recording, topics: Source['topics']): void {
    setQuery({ with: null, shift: null });
    const { query } = address.get();
    setLayout(
        recording,
        keepPanels(shownLayout([{ recording, topics }], query), (id) => !isSecond(id)) ??
            defaultLayout(recording, topics),
    );
}

function EndPair({ source }: { source: Source }) {
    return (
        <Button
            kind="quiet"
            icon="close"
            label={pairText.end}
            onClick={() => endPair(source.recording, source.topics)}
        />
    );
}

export function PairFailed({ error, source }: { error: unknown; source: Source }) {
    return (
        <div class="pair-bar row">
            <p class="error grow" role="alert">
                {pairText.failed(error instanceof Error ? error.message : String(error))}
            </p>
            <EndPair source={source} />
        </div>
    );
}

export function PairBar({ pair, source }: { pair: Pair; source: Source }) {
    const recorded = recordedShift(pair.first, pair.second);
    const length = Number(boundsOf(pair.first).end - boundsOf(pair.first).start) / 1e9;
    const typed = (value: string) => /^-?\d/.test(value) && pair.setShift(timeNs(value));
    return (
        <div class="pair-bar row" role="group" aria-label={pairText.title}>
            <span class="ellipsis grow">
                <a href={href(`recordings/${pair.second.id}`)}>{pairText.numbered(2, pair.second.name)}</a>{' '}
                <span class="muted small">{pair.second.collection}</span>
            </span>
            <span class="row pair-shift">
                <span class="muted" aria-hidden="true">
                    {pairText.startsAt}
                </span>
                <Field
                    label={pairText.shift}
                    hidden_label
                    title={pairText.shiftHelp}
                    type="number"
                    step={length > 600 ? 1 : 0.1}
                    value={secondsOf(pair.shift)}
                    onChange={(event) => typed(event.currentTarget.value)}
                />
                <span>s</span>
                <Button pressed={pair.shift === 0n} onClick={() => pair.setShift(0n)}>
                    {pairText.alignStarts}
                </Button>
                {recorded !== null && (
                    <Button pressed={pair.shift === recorded} onClick={() => pair.setShift(recorded)}>
                        {pairText.alignRecorded}
                    </Button>
                )}
            </span>
            <EndPair source={source} />
        </div>
    );
}
