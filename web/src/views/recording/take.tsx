// Take away: format, range, topics, compression, view; how large it will be and what would be lost, before the click; the same as a curl line or a link.
import { useMemo, useState } from 'preact/hooks';
import { apiUrl, download, get, linkTo, tokenHeaders } from '../../api';
import { useAsk } from '../../ask';
import { useClock, type Clock } from '../../clock';
import { copyText } from '../../copy';
import { bytes, count, duration } from '../../format';
import { text } from '../../text';
import { since } from '../../times';
import { showError } from '../../toasts';
import type { Recording, Topic } from '../../types';
import { Badge, Button, Check, Dialog, Failed, Select, Spinner } from '../../ui';
import { choicesOf, keyOf, paramsOf, pathOf, planOf, type Choice, type Format, type Plan, type Target } from './take_plan';

interface Service {
    formats: Format[];
    targets: Target[];
}

function titleOf(target: Target, formats: Format[]): string {
    const title = text.take.names[target.name] ?? formats.find((f) => f.name === target.name)?.title ?? target.name;
    return `${title}${target.version ? ' ' + target.version : ''} (${target.extension})`;
}

const quoted = (words: string) => `'${words.replace(/'/g, `'\\''`)}'`;
function curlLine(path: string, params: ReturnType<typeof paramsOf>, name: string): string {
    const header = tokenHeaders().Authorization ? ` -H ${quoted('Authorization: Bearer $REEL_TOKEN').replace(/^'|'$/g, '"')}` : '';
    return `curl${header} -o ${quoted(name)} ${quoted(location.origin + apiUrl(path, params))}`;
}

function Topics({ topics, chosen, onChange }: { topics: Topic[]; chosen: string[] | null; onChange: (chosen: string[] | null) => void }) {
    const toggle = (name: string, on: boolean) => {
        const now = chosen ?? topics.map((t) => t.name);
        const next = on ? [...now, name] : now.filter((n) => n !== name);
        onChange(next.length === topics.length ? null : next);
    };
    return (
        <fieldset class="take-topics">
            <legend>
                {text.take.topics} <span class="soft small">{chosen === null ? text.take.allTopics : `${chosen.length} / ${topics.length}`}</span>
            </legend>
            <div class="row">
                <Button kind="quiet" onClick={() => onChange(null)}>
                    {text.take.all}
                </Button>
                <Button kind="quiet" onClick={() => onChange([])}>
                    {text.take.none}
                </Button>
            </div>
            <div class="take-list" tabIndex={0} role="group" aria-label={text.take.topics}>
                {topics.map((t) => (
                    <Check
                        key={t.name}
                        checked={chosen === null || chosen.includes(t.name)}
                        onChange={(on) => toggle(t.name, on)}
                        label={
                            <>
                                <span class="mono">{t.name}</span> <span class="soft small">{count(t.count)}</span>
                            </>
                        }
                    />
                ))}
            </div>
        </fieldset>
    );
}

function Outcome({ plan, waiting }: { plan: Plan | null; waiting: boolean }) {
    if (!plan || waiting) { // a size of another choice would mislead
        return (
            <div class="take-outcome">
                <Spinner label={text.take.planning} />
            </div>
        );
    }
    return (
        <div class="take-outcome" aria-live="polite">
            <p>
                {plan.accepted ? (
                    <>
                        <strong>{plan.size === null ? text.take.sizeLater : bytes(plan.size)}</strong>
                        {plan.size !== null && <span class="soft"> {text.take.exactly(count(plan.size))}</span>}
                    </>
                ) : (
                    <span class="error">{text.take.cannot}</span>
                )}
            </p>
            {plan.losses.length === 0 && plan.accepted && <p class="soft">{text.take.nothingLost}</p>}
            <ul class="take-losses">
                {plan.losses.map((loss) => (
                    <li key={loss.kind + loss.text}>
                        <Badge kind={loss.kind === 'changes' ? '' : loss.kind === 'note' ? '' : 'warn'}>{loss.kind}</Badge> {loss.text} {loss.channels.length > 0 && <span class="soft small mono">{loss.channels.slice(0, 6).join(' ') + (loss.channels.length > 6 ? ' …' : '')}</span>}
                    </li>
                ))}
            </ul>
        </div>
    );
}

function Form({ recording, topics, clock, service, onClose }: { recording: Recording; topics: Topic[]; clock: Clock; service: Service; onClose: () => void }) {
    const { range } = useClock(clock);
    const [choice, setChoice] = useState<Choice>({ target: '', part: 0, compression: '', view: '', topics: null, range });
    const targets = useMemo(() => choicesOf(service.targets), [service]);
    const target = targets.find((t) => keyOf(t) === choice.target) ?? null;
    const set = (part: Partial<Choice>) => setChoice({ ...choice, ...part });
    const empty = choice.topics?.length === 0;
    const key = JSON.stringify({ ...choice, range: choice.range && [String(choice.range.start), String(choice.range.end)] });
    const plan = useAsk((signal) => (empty ? Promise.resolve(null) : planOf(recording, target, choice, signal)), [recording.id, key]);
    const [path, params] = [pathOf(recording, target, choice.part), paramsOf(recording, target, choice)];
    const name = decodeURIComponent(path.split('/').pop()!);
    const link = async () => new URL(await linkTo(path, params, '24h'), location.origin).href;
    const ready = !empty && !plan.waiting && plan.error === null && plan.value?.accepted === true;
    return (
        <Dialog
            wide
            title={text.take.title}
            onClose={onClose}
            actions={
                <>
                    <Button icon="copy" disabled={!ready} onClick={() => void copyText(curlLine(path, params, name))}>
                        {text.take.curl}
                    </Button>
                    <Button icon="link" disabled={!ready} onClick={() => void copyText(link())}>
                        {text.take.link}
                    </Button>
                    <Button kind="main" icon="download" disabled={!ready} onClick={() => void download(path, params).then(onClose, showError)}>
                        {text.take.download}
                    </Button>
                </>
            }
        >
            <div class="take">
                <div class="take-choices">
                    <Select
                        label={text.take.format}
                        value={choice.target}
                        options={[['', text.take.original(recording.container || recording.format)], ...targets.map((t): [string, string] => [keyOf(t), titleOf(t, service.formats)])]}
                        onChange={(to) => setChoice({ ...choice, target: to, compression: '' })}
                    />
                    {!target && recording.parts.length > 1 && (
                        <Select label={text.take.file} value={String(choice.part)} options={recording.parts.map((part, i): [string, string] => [String(i), `${part.name} (${bytes(part.size)})`])} onChange={(part) => set({ part: Number(part) })} />
                    )}
                    {target && (target.compressions?.length ?? 0) > 0 && (
                        <Select label={text.take.compression} value={choice.compression} options={[['', text.take.noCompression], ...target.compressions!.map((c): [string, string] => [c, c])]} onChange={(compression) => set({ compression })} />
                    )}
                    {target && (
                        <Select label={text.take.view} value={choice.view} options={[['', text.take.asIs], ['foxglove', text.take.foxglove]]} onChange={(view) => set({ view })} />
                    )}
                    {target && (
                        <Select
                            label={text.take.range}
                            value={choice.range ? 'range' : ''}
                            options={[['', text.take.wholeTime(duration(recording.duration_ns))], ...(range ? [['range', text.take.onlyRange(since(recording, range.start), since(recording, range.end))] as [string, string]] : [])]}
                            onChange={(to) => set({ range: to ? range : null })}
                        />
                    )}
                    {target && !range && <p class="small soft">{text.take.rangeHelp}</p>}
                </div>
                {target && <Topics topics={topics} chosen={choice.topics} onChange={(next) => set({ topics: next })} />}
            </div>
            {empty ? <p class="error">{text.take.noTopics}</p> : plan.error !== null ? <Failed error={plan.error} retry={plan.again} /> : <Outcome plan={plan.value} waiting={plan.waiting} />}
        </Dialog>
    );
}

export function Take(props: { recording: Recording; topics: Topic[]; clock: Clock; onClose: () => void }) {
    const service = useAsk((signal) => get<Service>('', {}, signal), []);
    if (service.value) {
        return <Form {...props} service={service.value} />;
    }
    return (
        <Dialog title={text.take.title} onClose={props.onClose}>
            {service.error !== null ? <Failed error={service.error} retry={service.again} /> : <Spinner />}
        </Dialog>
    );
}
