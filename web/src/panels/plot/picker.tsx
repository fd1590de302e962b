// The dialog that selects fields: the numeric fields of all topics, filtered, or a path typed by hand.
import { useEffect, useState } from 'preact/hooks';
import { text } from '../../text/common';
import { messagesText, plotText } from '../../text/panels';
import { Button, Check, Dialog, Failed, Field, Spinner } from '../../ui';
import type { PanelProps } from '../index';
import { allFields, type FieldChoice } from './fields';

const MAX_SHOWN = 300;

/** The fields found so far; nothing is searched before `enabled`. */
export function useFields({ recording, topics, playback }: PanelProps, enabled = true) {
    const [found, setFound] = useState<FieldChoice[]>([]);
    const [state, setState] = useState<{ loading: boolean; error: unknown }>({ loading: true, error: null });
    useEffect(() => {
        if (!enabled) {
            return;
        }
        const abort = new AbortController();
        const end = (error: unknown) => abort.signal.aborted || setState({ loading: false, error });
        void allFields(recording.id, topics, playback.get().time_ns, setFound, abort.signal).then(() => end(null), end);
        return () => abort.abort();
    }, [recording.id, enabled]);
    return { found, ...state };
}

interface Chosen {
    chosen: string[];
    onChange: (fields: string[]) => void;
    onClose: () => void;
}

/** `texts`: fields that are texts can be selected, too. */
export function Picker({ texts, ...props }: PanelProps & Chosen & { texts?: boolean }) {
    const { found, ...state } = useFields(props);
    const offered = texts ? found : found.filter((field) => field.numeric);
    const none = texts ? plotText.noFieldsAtAll : plotText.noFields;
    return <FieldDialog {...props} {...state} found={offered} title={plotText.choose} none={none} />;
}

/** Each word of the filter is a part of the path. */
const matches = (path: string, words: string[]): boolean => words.every((word) => path.includes(word));

export function FieldDialog({
    chosen,
    onChange,
    onClose,
    found,
    loading,
    error,
    title,
    none,
}: Chosen & {
    found: Pick<FieldChoice, 'path' | 'unit'>[];
    loading: boolean;
    error: unknown;
    title: string;
    none: string;
}) {
    const [filter, setFilter] = useState('');
    const [first] = useState(chosen); // above the others; a row stays where it is when it is clicked
    const words = filter.toLowerCase().split(/\s+/);
    const typedBefore = chosen.filter((path) => !found.some((f) => f.path === path));
    const above = [...new Set([...first, ...typedBefore])];
    const listed = found.filter((f) => matches(f.path.toLowerCase(), words) && !above.includes(f.path));
    const typed = /^\S+\.\S+$/.test(filter) && !found.some((f) => f.path === filter) && !chosen.includes(filter);
    const unit = (path: string) => found.find((f) => f.path === path)?.unit;
    const row = (path: string) => (
        <Check
            key={path}
            checked={chosen.includes(path)}
            onChange={(on) => onChange(on ? [...chosen, path] : chosen.filter((c) => c !== path))}
            label={
                <>
                    <span class="mono">{path || messagesText.value}</span> <span class="muted small">{unit(path)}</span>
                </>
            }
        />
    );
    return (
        <Dialog
            title={title}
            onClose={onClose}
            actions={
                <Button kind="main" onClick={onClose}>
                    {plotText.done}
                </Button>
            }
        >
            <div class="plot-picker">
                <Field
                    label={plotText.filter}
                    value={filter}
                    onInput={(event) => setFilter(event.currentTarget.value)}
                />
                {typed && (
                    <Button icon="plus" onClick={() => onChange([...chosen, filter])}>
                        {filter}
                    </Button>
                )}
                {error !== null && <Failed error={error} />}
                <div class="plot-list" tabIndex={0} role="group" aria-label={plotText.fields}>
                    {above.map(row)}
                    {listed.slice(0, MAX_SHOWN).map((f) => row(f.path))}
                    {listed.length > MAX_SHOWN && (
                        <p class="small muted">{text.moreItems(listed.length - MAX_SHOWN)}</p>
                    )}
                    {!loading && listed.length === 0 && <p class="muted">{none}</p>}
                </div>
                {loading && <Spinner />}
            </div>
        </Dialog>
    );
}
