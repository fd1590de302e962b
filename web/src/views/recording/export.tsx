// The export dialog: format, time range, topics, compression, content. Shows size and losses before the download; also
// as curl command or link.
import { useMemo, useState } from 'preact/hooks';
import { apiUrl, download, linkTo, session } from '../../api';
import { useRequest } from '../../use_request';
import { usePlayback, type Playback } from '../../playback';
import { copyText } from '../../clipboard';
import { bytes, count, duration } from '../../format';
import { labelOf } from '../../text/common';
import { exportText } from '../../text/export';
import { relativeTime } from '../../recording_time';
import { formatTitle, service as serviceStore } from '../../service';
import { useStore } from '../../store';
import { showError } from '../../toasts';
import type { ServiceDocument, Topic } from '../../types';
import { Badge, Button, Check, Dialog, Failed, Select, Spinner } from '../../ui';
import {
    cutName,
    cutTarget,
    exportParams,
    exportPath,
    fetchPlan,
    findLimits,
    listChoices,
    outcome,
    targetKey,
    titleOf,
    type Choice,
    type Plan,
    type Subject,
    type Target,
} from './export_plan';

const quoted = (value: string) => `'${value.replace(/'/g, `'\\''`)}'`;
function curlCommand(path: string, params: ReturnType<typeof exportParams>, name: string): string {
    const header = session.get().loggedIn
        ? ` -H ${quoted('Authorization: Bearer $REEL_TOKEN').replace(/^'|'$/g, '"')}`
        : '';
    return `curl${header} -o ${quoted(name)} ${quoted(location.origin + apiUrl(path, params))}`;
}

function Topics({
    topics,
    chosen,
    onChange,
}: {
    topics: Topic[];
    chosen: string[] | null;
    onChange: (chosen: string[] | null) => void;
}) {
    const toggle = (name: string, on: boolean) => {
        const now = chosen ?? topics.map((t) => t.name);
        const next = on ? [...now, name] : now.filter((n) => n !== name);
        onChange(next.length === topics.length ? null : next);
    };
    return (
        <fieldset class="export-topics">
            <legend>
                {exportText.topics}{' '}
                <span class="muted small">
                    {chosen === null ? exportText.allTopics : `${chosen.length} / ${topics.length}`}
                </span>
            </legend>
            <div class="row">
                <Button kind="quiet" onClick={() => onChange(null)}>
                    {exportText.selectAll}
                </Button>
                <Button kind="quiet" onClick={() => onChange([])}>
                    {exportText.selectNone}
                </Button>
            </div>
            <div class="export-list" tabIndex={0} role="group" aria-label={exportText.topics}>
                {topics.map((t) => (
                    <Check
                        key={t.name}
                        checked={chosen === null || chosen.includes(t.name)}
                        onChange={(on) => toggle(t.name, on)}
                        label={
                            <>
                                <span class="mono">{t.name}</span> <span class="muted small">{count(t.messages)}</span>
                            </>
                        }
                    />
                ))}
            </div>
        </fieldset>
    );
}

function Preview({ plan, waiting }: { plan: Plan | null; waiting: boolean }) {
    if (!plan || waiting) {
        // never show the size of other options
        return (
            <div class="export-preview">
                <Spinner label={exportText.calculating} />
            </div>
        );
    }
    return (
        <div class="export-preview" aria-live="polite">
            <p>
                {plan.accepted ? (
                    <>
                        <strong>{plan.size === null ? exportText.sizeUnknown : bytes(plan.size)}</strong>
                        {plan.size !== null && <span class="muted"> {exportText.exactly(count(plan.size))}</span>}
                    </>
                ) : (
                    <span class="error">{exportText.notPossible}</span>
                )}
            </p>
            {plan.losses.length === 0 && plan.accepted && <p class="muted">{exportText.lossless}</p>}
            <ul class="export-losses">
                {plan.losses.map((loss) => (
                    <li key={loss.kind + loss.text}>
                        <Badge kind={loss.kind === 'changes' ? '' : loss.kind === 'note' ? '' : 'warn'}>
                            {labelOf(exportText.lossKinds, loss.kind)}
                        </Badge>{' '}
                        {loss.text}{' '}
                        {loss.channels.length > 0 && (
                            <span class="muted small mono">
                                {loss.channels.slice(0, 6).join(' ') + (loss.channels.length > 6 ? ' …' : '')}
                            </span>
                        )}
                    </li>
                ))}
            </ul>
        </div>
    );
}

/** One of the subjects that the dialog offers. */
export interface Offer {
    subject: Subject;
    title: string;
    playback: Playback; // on its clock
}

function Form({
    offers,
    chosen,
    onChosen,
    service,
    onClose,
}: {
    offers: Offer[];
    chosen: number;
    onChosen: (offer: number) => void;
    service: ServiceDocument;
    onClose: () => void;
}) {
    const { subject, playback } = offers[chosen]!;
    const { recording, topics, merged } = subject;
    const { range } = usePlayback(playback);
    const targets = useMemo(() => listChoices(service.targets), [service]);
    const [choice, setChoice] = useState<Choice>({
        target: range || merged ? cutTarget(recording, targets) : '',
        part: 0,
        compression: '',
        view: '',
        topics: null,
        range,
    });
    const limits = useRequest(
        (signal) => findLimits(subject, targets, signal),
        [recording.id, merged?.id, targets],
    ).value;
    const [ticked, setTicked] = useState<string[] | null>(null); // by the user: a format may hold fewer
    const all = ticked ?? topics.map(({ name }) => name);
    const option = (t: Target): [string, string] => [
        targetKey(t),
        exportText.outcome[outcome(limits?.get(targetKey(t)), all)](titleOf(t, service.formats)),
    ];
    /** Chooses a target; the topics that it cannot hold are left out, and which of several is asked. */
    const choose = (to: string) => {
        const limit = limits?.get(to);
        const fits = all.filter((name) => limit?.fits.includes(name));
        const some = outcome(limit, all) === 'some';
        set({ target: to, compression: '', topics: some ? (limit!.single && fits.length > 1 ? [] : fits) : ticked });
    };
    const limit = limits?.get(choice.target);
    const target = targets.find((t) => targetKey(t) === choice.target) ?? null;
    const set = (part: Partial<Choice>) => setChoice({ ...choice, ...part });
    const empty = choice.topics?.length === 0;
    const key = JSON.stringify({
        ...choice,
        range: choice.range && [String(choice.range.start), String(choice.range.end)],
    });
    const plan = useRequest(
        (signal) => (empty ? Promise.resolve(null) : fetchPlan(subject, target, choice, signal)),
        [recording.id, merged?.id, key],
    );
    const [path, params] = [
        exportPath(subject, target, choice.part, cutName(subject, choice)),
        exportParams(subject, target, choice),
    ];
    const name = decodeURIComponent(path.split('/').pop()!);
    const link = async () => new URL(await linkTo(path, params, '24h'), location.origin).href;
    const ready = !empty && !plan.loading && plan.error === null && plan.value?.accepted === true;
    return (
        <Dialog
            wide
            title={exportText.title}
            onClose={onClose}
            actions={
                <>
                    <Button
                        icon="copy"
                        disabled={!ready}
                        onClick={() => void copyText(curlCommand(path, params, name))}
                    >
                        {exportText.curl}
                    </Button>
                    <Button icon="link" disabled={!ready} onClick={() => void copyText(link())}>
                        {exportText.link}
                    </Button>
                    <Button
                        kind="main"
                        icon="download"
                        disabled={!ready}
                        onClick={() => void download(path, params).then(onClose, showError)}
                    >
                        {exportText.download}
                    </Button>
                </>
            }
        >
            <div class="export">
                <div class="export-options">
                    {offers.length > 1 && (
                        <Select
                            label={exportText.recording}
                            value={String(chosen)}
                            options={offers.map(({ title }, i): [string, string] => [String(i), title])}
                            onChange={(to) => onChosen(Number(to))}
                        />
                    )}
                    <Select
                        label={exportText.format}
                        value={choice.target}
                        options={[
                            ...(merged
                                ? []
                                : [
                                      ['', exportText.original(formatTitle(service, recording.format))] as [
                                          string,
                                          string,
                                      ],
                                  ]),
                            ...targets.map(option),
                        ]}
                        onChange={choose}
                    />
                    {limit?.single && limit.fits.length > 1 && (
                        <Select
                            label={exportText.topic}
                            value={choice.topics?.length === 1 ? choice.topics[0]! : ''}
                            options={[
                                ['', exportText.chooseTopic, true],
                                ...limit.fits.map((name): [string, string] => [name, name]),
                            ]}
                            onChange={(name) => set({ topics: [name] })}
                        />
                    )}
                    {!target && recording.parts.length > 1 && (
                        <Select
                            label={exportText.file}
                            value={String(choice.part)}
                            options={recording.parts.map((part, i): [string, string] => [
                                String(i),
                                `${part.name} (${bytes(part.size)})`,
                            ])}
                            onChange={(part) => set({ part: Number(part) })}
                        />
                    )}
                    {target && (target.compressions?.length ?? 0) > 0 && (
                        <Select
                            label={exportText.compression}
                            value={choice.compression}
                            options={[
                                ...(target.compressions!.includes('none')
                                    ? []
                                    : [['', exportText.noCompression] as [string, string]]),
                                ...target.compressions!.map((c): [string, string] => [c, c]),
                            ]}
                            onChange={(compression) => set({ compression })}
                        />
                    )}
                    {target && (
                        <Select
                            label={exportText.view}
                            value={choice.view}
                            options={[
                                ['', exportText.asRecorded],
                                ...service.views.map((v): [string, string] => [
                                    v.name,
                                    exportText.views[v.name] ?? v.name,
                                ]),
                            ]}
                            onChange={(view) => set({ view })}
                        />
                    )}
                    {target && (
                        <Select
                            label={exportText.range}
                            value={choice.range ? 'range' : ''}
                            options={[
                                ['', exportText.fullRange(duration(subject.span.end - subject.span.start))],
                                ...(range
                                    ? [
                                          [
                                              'range',
                                              exportText.selectedRange(
                                                  relativeTime(recording, range.start),
                                                  relativeTime(recording, range.end),
                                              ),
                                          ] as [string, string],
                                      ]
                                    : []),
                            ]}
                            onChange={(to) => set({ range: to ? range : null })}
                        />
                    )}
                    {!target && range && <p class="small muted">{exportText.originalWhole}</p>}
                    {target && !range && <p class="small muted">{exportText.rangeHelp}</p>}
                </div>
                {target && (
                    <Topics
                        topics={topics}
                        chosen={choice.topics}
                        onChange={(next) => (setTicked(next), set({ topics: next }))}
                    />
                )}
            </div>
            {empty ? (
                <p class="error">{limit?.single ? exportText.whichTopic : exportText.noTopics}</p>
            ) : plan.error !== null ? (
                <Failed error={plan.error} retry={plan.reload} />
            ) : (
                <Preview plan={plan.value} waiting={plan.loading} />
            )}
        </Dialog>
    );
}

export function ExportDialog({ offers, onClose }: { offers: Offer[]; onClose: () => void }) {
    const service = useStore(serviceStore);
    const [chosen, setChosen] = useState(0);
    return service ? (
        <Form key={chosen} offers={offers} chosen={chosen} onChosen={setChosen} service={service} onClose={onClose} />
    ) : (
        <Dialog title={exportText.title} onClose={onClose}>
            {service === null ? <p class="error">{exportText.noFormats}</p> : <Spinner />}
        </Dialog>
    );
}
