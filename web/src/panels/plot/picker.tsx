// Choosing fields: topic, then its numbers, or a path typed by hand.
import { useState } from 'preact/hooks';
import { useAsk } from '../../ask';
import { text } from '../../text';
import { Button, Check, Dialog, Failed, Field, Select, Spinner } from '../../ui';
import type { PanelProps } from '../index';
import { fieldsOf } from './fields';

const SHOWN = 300;

export function Picker({ recording, topics, clock, chosen, onChange, onClose }: PanelProps & { chosen: string[]; onChange: (fields: string[]) => void; onClose: () => void }) {
    const filled = topics.filter((t) => t.count > 0);
    const [topic, setTopic] = useState(filled[0]?.name ?? '');
    const [words, setWords] = useState('');
    const at = clock.get().time_ns;
    const fields = useAsk((signal) => fieldsOf(recording.id, topic, at, signal), [recording.id, topic]);
    const found = (fields.waiting ? [] : (fields.value ?? [])).filter((f) => f.path.toLowerCase().includes(words.toLowerCase()));
    const typed = /^\S+\.\S+$/.test(words) && !found.some((f) => f.path === words) && !chosen.includes(words);
    const others = chosen.filter((path) => fields.waiting || !fields.value?.some((f) => f.path === path)); // of other topics, or typed
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
                <Select label={text.plot.topic} value={topic} options={filled.map((t) => [t.name, t.name])} onChange={setTopic} />
                <Field label={text.plot.filter} value={words} onInput={(event) => setWords(event.currentTarget.value)} />
                {typed && (
                    <Button icon="plus" onClick={() => onChange([...chosen, words])}>
                        {words}
                    </Button>
                )}
                {fields.error !== null && <Failed error={fields.error} retry={fields.again} />}
                {fields.waiting && <Spinner />}
                <div class="plot-list" tabIndex={0} role="group" aria-label={text.plot.fields}>
                    {others.map((path) => (
                        <Check key={path} checked onChange={() => onChange(chosen.filter((c) => c !== path))} label={<span class="mono">{path}</span>} />
                    ))}
                    {found.slice(0, SHOWN).map((f) => (
                        <Check
                            key={f.path}
                            checked={chosen.includes(f.path)}
                            onChange={(on) => onChange(on ? [...chosen, f.path] : chosen.filter((c) => c !== f.path))}
                            label={
                                <>
                                    <span class="mono">{f.path.slice(topic.length + 1)}</span> <span class="soft small">{f.unit}</span>
                                </>
                            }
                        />
                    ))}
                    {found.length > SHOWN && <p class="small soft">{text.moreOf(found.length - SHOWN)}</p>}
                    {!fields.waiting && found.length === 0 && <p class="soft">{text.plot.noFields}</p>}
                </div>
            </div>
        </Dialog>
    );
}
