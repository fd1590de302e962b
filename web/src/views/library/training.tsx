// "Make a training set…" of a search: what its topics can be, what that gives and what is dropped, and how to load it.
import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { ROOT } from '../../address';
import { ApiError, send } from '../../api';
import { copyText } from '../../clipboard';
import { count } from '../../format';
import { text } from '../../text/common';
import { trainingText } from '../../text/training';
import type { Dataset, DatasetReport } from '../../types';
import { Button, Check, Dialog, Failed, Field, Select, Spinner } from '../../ui';
import { useRequest } from '../../use_request';
import type { SavedQuery } from './saved';

const t = trainingText;
const MOST = 20; // recordings or episodes of a preview

interface Source {
    feature: string;
    source: string;
    used: boolean;
}
interface Draft {
    sources: Source[];
    clock: string; // a topic; '': steady, `fps`
    fps: string;
    age: string;
}
type Value = Partial<Dataset>;

const draftOf = ({ features = {}, fps }: Value): Draft => ({
    sources: Object.entries(features).flatMap(([feature, sources]) =>
        [sources].flat().map((source) => ({ feature, source, used: true })),
    ),
    clock: '',
    fps: String(fps ?? 10),
    age: '',
});

/** null: it cannot be one. */
function valueOf(search: Dataset['search'], { sources, clock, fps, age }: Draft): Value | null {
    const features: Record<string, string[]> = {};
    sources.filter((one) => one.used).forEach((one) => (features[one.feature] ??= []).push(one.source));
    const named = Object.entries(features).map(([name, all]) => [name, all.length === 1 ? all[0]! : all] as const);
    const good = (clock || /^([1-9]\d{0,2}|1000)$/.test(fps)) && (age.trim() === '' || Number(age) > 0);
    return good && named.length > 0
        ? {
              search,
              ...(clock ? { clock } : { fps: Number(fps) }),
              features: Object.fromEntries(named),
              ...(age.trim() ? { max_age_s: Number(age) } : {}),
          }
        : null;
}

/** Topics of images: the frames can be those of one. */
const clocksOf = (draft: Draft) =>
    draft.sources.filter((one) => one.used && /^observation\.images?\b/.test(one.feature)).map((one) => one.source);

// ---- the form

function Add({ onAdd }: { onAdd: (feature: string, source: string) => void }) {
    const [feature, setFeature] = useState('observation.state');
    const [source, setSource] = useState('');
    const add = () => (onAdd(feature.trim(), source.trim()), setSource(''));
    const empty = !feature.trim() || !source.trim();
    return (
        <form class="library-training-row" onSubmit={(event) => (event.preventDefault(), empty || add())}>
            <Field label={t.feature} value={feature} onInput={(event) => setFeature(event.currentTarget.value)} />
            <Field
                label={t.source}
                value={source}
                placeholder="/joint_states.position"
                onInput={(event) => setSource(event.currentTarget.value)}
            />
            <Button type="submit" disabled={empty}>
                {t.add}
            </Button>
        </form>
    );
}

function Form({ draft, onChange }: { draft: Draft; onChange: (draft: Draft) => void }) {
    const clocks = clocksOf(draft);
    const use = (at: number, used: boolean) => {
        const next = { ...draft, sources: draft.sources.map((one, i) => (i === at ? { ...one, used } : one)) };
        onChange({ ...next, clock: clocksOf(next).includes(next.clock) ? next.clock : '' });
    };
    return (
        <>
            <fieldset class="library-training-sources">
                <legend>{t.features}</legend>
                {draft.sources.length === 0 && <p class="muted">{t.none}</p>}
                {draft.sources.map((one, i) => (
                    <Check
                        key={`${one.feature} ${one.source}`}
                        label={
                            <>
                                <code>{one.source}</code> → {one.feature}
                            </>
                        }
                        checked={one.used}
                        onChange={(used) => use(i, used)}
                    />
                ))}
            </fieldset>
            <Add
                onAdd={(feature, source) =>
                    onChange({ ...draft, sources: [...draft.sources, { feature, source, used: true }] })
                }
            />
            <div class="library-training-row top">
                {clocks.length > 0 && (
                    <Select
                        label={t.clock}
                        value={draft.clock}
                        options={[['', t.steady], ...clocks.map((topic): [string, string] => [topic, t.each(topic)])]}
                        onChange={(clock) => onChange({ ...draft, clock })}
                    />
                )}
                {!draft.clock && (
                    <Field
                        label={t.fps}
                        type="number"
                        min={1}
                        max={1000}
                        value={draft.fps}
                        onInput={(event) => onChange({ ...draft, fps: event.currentTarget.value })}
                    />
                )}
                <Field
                    label={t.age}
                    help={t.ageHelp}
                    inputMode="decimal"
                    value={draft.age}
                    onInput={(event) => onChange({ ...draft, age: event.currentTarget.value })}
                />
            </div>
        </>
    );
}

// ---- what it gives

type Episode = DatasetReport['episodes'][number];

const AGES = ['median_s', 'p99_s', 'max_s'] as const;

/** Of each source the largest of all episodes. */
function agesOf(episodes: Episode[]): [source: string, ages: number[]][] {
    const all: Record<string, number[]> = {};
    for (const one of episodes.filter((episode) => !episode.problem)) {
        for (const [source, ages] of Object.entries(one.ages)) {
            all[source] = AGES.map((age, i) => Math.max(ages[age] ?? 0, all[source]?.[i] ?? 0));
        }
    }
    return Object.entries(all);
}

function Table({ label, columns, rows }: { label: string; columns: readonly string[]; rows: ComponentChildren }) {
    return (
        <div class="library-training-table" tabIndex={0} role="group" aria-label={label}>
            <table>
                <thead>
                    <tr>
                        {columns.map((name) => (
                            <th key={name}>{name}</th>
                        ))}
                    </tr>
                </thead>
                <tbody>{rows}</tbody>
            </table>
        </div>
    );
}

const dropped = (all: Episode['dropped']) =>
    Object.entries(all)
        .filter(([, n]) => n > 0)
        .map(([reason, n]) => t.dropped(n, t.reasons[reason] ?? reason))
        .join(', ');

function Report({ report }: { report: DatasetReport }) {
    const { episodes, total_episodes, total_frames, fps } = report;
    return (
        <section aria-label={t.preview}>
            <p>
                <strong>{t.summary(total_episodes, total_frames, fps > 0 ? total_frames / fps : 0)}</strong>{' '}
                {episodes.length >= MOST && <span class="muted">{t.first(MOST)}</span>}
            </p>
            <Table
                label={t.episodes}
                columns={t.columns}
                rows={episodes.map((one, i) => (
                    <tr key={i}>
                        <td>{one.name}</td>
                        {one.problem ? (
                            <td colSpan={2} class="error">
                                {t.left(one.problem)}
                            </td>
                        ) : (
                            <>
                                <td>{count(one.frames)}</td>
                                <td>{dropped(one.dropped)}</td>
                            </>
                        )}
                    </tr>
                ))}
            />
            <Table
                label={t.ages}
                columns={t.ageColumns}
                rows={agesOf(episodes).map(([source, ages]) => (
                    <tr key={source}>
                        <td>{source}</td>
                        {ages.map((age, i) => (
                            <td key={i}>{t.seconds(age)}</td>
                        ))}
                    </tr>
                ))}
            />
        </section>
    );
}

// ---- saving

const loading = (name: string) => {
    const server = new URL(ROOT, location.href).href.replace(/\/$/, '');
    const folder = name.replace(/.*\//, '');
    return [
        `export HF_ENDPOINT=${server}/hf`,
        `hf download --repo-type dataset ${name} --local-dir ${folder}`,
        `python3 -c 'from lerobot.datasets.lerobot_dataset import LeRobotDataset; print(LeRobotDataset("${name}"))'`,
        `reel dataset get ${server} ${name} ${folder}`,
        `curl -OJ '${server}/dav/datasets/${name}/?archive=zip'`,
    ].join('\n');
};

function Loading({ name }: { name: string }) {
    return (
        <section aria-label={t.load}>
            <p>{t.saved(name)}</p>
            <pre class="library-training-code" tabIndex={0}>
                {loading(name)}
            </pre>
            <Button icon="copy" onClick={() => void copyText(loading(name))}>
                {t.copy}
            </Button>
        </section>
    );
}

const save = (name: string, value: Value) =>
    send('PUT', `/datasets/${encodeURIComponent(name)}`, { body: { value }, headers: { 'If-None-Match': '*' } }).catch(
        (error: unknown) => {
            throw error instanceof ApiError && error.status === 412 ? new Error(t.taken(name)) : error;
        },
    );

export default function TrainingDialog({ query, onClose }: { query: SavedQuery; onClose: () => void }) {
    const [search] = useState(() => ({ q: query.q, start: query.start, end: query.end }));
    const [asked, setAsked] = useState<Value>({ search });
    const [draft, setDraft] = useState<Draft | null>(null);
    const [name, setName] = useState('');
    const [saved, setSaved] = useState(false);
    const [error, setError] = useState<string | null>(null);
    const {
        value: report,
        error: failed,
        loading: busy,
        reload,
    } = useRequest(
        (signal) => send<DatasetReport>('POST', '/datasets:preview', { body: { value: asked }, signal }),
        [asked],
    );
    const unknown = !draft && failed instanceof ApiError && failed.status === 422; // nothing is proposed
    useEffect(() => {
        if (!draft && (report?.proposed || unknown)) {
            setDraft(draftOf(report?.proposed ?? {}));
        }
    }, [report, unknown]);
    const value = draft && valueOf(search, draft);
    const run = () =>
        save(name.trim(), value!).then(
            () => setSaved(true),
            (why: unknown) => setError(why instanceof Error ? why.message : String(why)),
        );
    const ready = value && name.trim() !== '';
    return (
        <Dialog
            wide
            title={t.title}
            onClose={onClose}
            actions={
                saved ? (
                    <Button kind="main" onClick={onClose}>
                        {text.close}
                    </Button>
                ) : (
                    <>
                        <Button onClick={onClose}>{text.cancel}</Button>
                        <Button disabled={!value || busy} onClick={() => setAsked(value!)}>
                            {t.preview}
                        </Button>
                        <Button kind="main" disabled={!ready} onClick={() => void run()}>
                            {t.save}
                        </Button>
                    </>
                )
            }
        >
            {saved ? (
                <Loading name={name.trim()} />
            ) : (
                <div class="library-training">
                    <p class="muted">{t.about}</p>
                    {draft && <Form draft={draft} onChange={setDraft} />}
                    {busy && <Spinner label={t.planning} />}
                    {!busy && failed !== null && !(draft && draft.sources.length === 0) && (
                        <Failed error={failed} retry={reload} />
                    )}
                    {!busy && failed === null && report && <Report report={report} />}
                    <Field
                        label={t.name}
                        value={name}
                        maxLength={200}
                        autocomplete="off"
                        help={t.nameHelp}
                        error={error}
                        onInput={(event) => (setName(event.currentTarget.value), setError(null))}
                    />
                </div>
            )}
        </Dialog>
    );
}
