// The dialog that selects fields: a topic and its numeric fields, or a path typed by hand.
import { useState } from 'preact/hooks';
import { useRequest } from '../../use_request';
import { text } from '../../text';
import { Button, Check, Dialog, Failed, Field, Select, Spinner } from '../../ui';
import type { PanelProps } from '../index';
import { fieldsOf } from './fields';

const MAX_SHOWN = 300;

export function Picker({ recording, topics, playback, chosen, onChange, onClose }: PanelProps & { chosen: string[]; onChange: (fields: string[]) => void; onClose: () => void }) {
    const withMessages = topics.filter((t) => t.messages > 0);
    const [topic, setTopic] = useState(withMessages[0]?.name ?? '');
    const [filter, setFilter] = useState('');
    const { time_ns } = playback.get();
    const first = BigInt(withMessages.find((t) => t.name === topic)?.start_ns ?? 0);
    const fields = useRequest((signal) => fieldsOf(recording.id, topic, time_ns < first ? first : time_ns, signal), [recording.id, topic]);
    const found = (fields.loading ? [] : (fields.value ?? [])).filter((f) => f.path.toLowerCase().includes(filter.toLowerCase()));
    const typed = /^\S+\.\S+$/.test(filter) && !found.some((f) => f.path === filter) && !chosen.includes(filter);
    const others = chosen.filter((path) => fields.loading || !fields.value?.some((f) => f.path === path)); // of other topics, or typed by hand
    return (
        <Dialog
            title={text.plot.choose}
            onClose={onClose}
            actions={
                <Button kind="main" onClick={onClose}>
                    {text.plot.done}
                </Button>
            }
        >
            <div class="plot-picker">
                <Select label={text.plot.topic} value={topic} options={withMessages.map((t) => [t.name, t.name])} onChange={setTopic} />
                <Field label={text.plot.filter} value={filter} onInput={(event) => setFilter(event.currentTarget.value)} />
                {typed && (
                    <Button icon="plus" onClick={() => onChange([...chosen, filter])}>
                        {filter}
                    </Button>
                )}
                {fields.error !== null && <Failed error={fields.error} retry={fields.reload} />}
                {fields.loading && <Spinner />}
                <div class="plot-list" tabIndex={0} role="group" aria-label={text.plot.fields}>
                    {others.map((path) => (
                        <Check key={path} checked onChange={() => onChange(chosen.filter((c) => c !== path))} label={<span class="mono">{path}</span>} />
                    ))}
                    {found.slice(0, MAX_SHOWN).map((f) => (
                        <Check
                            key={f.path}
                            checked={chosen.includes(f.path)}
                            onChange={(on) => onChange(on ? [...chosen, f.path] : chosen.filter((c) => c !== f.path))}
                            label={
                                <>
                                    <span class="mono">{f.path.slice(topic.length + 1)}</span> <span class="muted small">{f.unit}</span>
                                </>
                            }
                        />
                    ))}
                    {found.length > MAX_SHOWN && <p class="small muted">{text.moreItems(found.length - MAX_SHOWN)}</p>}
                    {!fields.loading && found.length === 0 && <p class="muted">{text.plot.noFields}</p>}
                </div>
            </div>
        </Dialog>
    );
}
