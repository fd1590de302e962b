// The fields of all topics as a tree. They are dragged onto plots, or plotted by Enter or a click; those of a topic are
// listed when it is expanded, those of all topics when something is searched.
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { fieldsText } from '../../text/signals';
import type { Topic } from '../../types';
import { Button, Field, Spinner, Tree, type TreeNode } from '../../ui';
import type { PanelProps } from '../index';
import { DRAGGED_FIELD, withFields } from '../plot/curves';
import { decoded } from '../plot/decoded';
import { fieldsOf, type FieldChoice } from '../plot/fields';
import { useFields } from '../plot/picker';
import { branchesOf, numbersOf, placesOf, type Branch } from './branches';

const MAX_TOGETHER = 8; // fields of a branch that are plotted at once
const MAX_FOUND = 300;

/** The fields of the topics that were expanded; null: they cannot be listed. */
function useExpanded({ recording, playback }: PanelProps) {
    const [known, setKnown] = useState(new Map<string, FieldChoice[] | null>());
    const asked = useRef(new Set<string>());
    const stop = useMemo(() => new AbortController(), [recording.id]);
    useEffect(() => {
        setKnown(new Map());
        return () => (asked.current.clear(), stop.abort());
    }, [stop]);
    const expand = (topic: Topic) => {
        if (!asked.current.has(topic.name)) {
            asked.current.add(topic.name);
            const set = (fields: FieldChoice[] | null) =>
                stop.signal.aborted || setKnown((before) => new Map(before).set(topic.name, fields));
            fieldsOf(recording.id, topic, playback.get().time_ns, stop.signal).then(set, () => set(null));
        }
    };
    return { known, expand };
}

function useNodes({ open }: PanelProps) {
    const plot = (fields: string[]) => open('plot', (now) => ({ fields: withFields(now.fields, fields) }));
    const add = (field: string, panel: string, label: string, title: string) => (
        <Button
            kind="quiet"
            title={title}
            onClick={(event) => {
                event.stopPropagation();
                open(panel, (now) => ({ fields: withFields(now.fields, [field]) }));
            }}
        >
            {label}
        </Button>
    );
    const actionsOf = (branch: Branch, together: string[]) => (
        <>
            {together.length > 0 && (
                <Button
                    kind="quiet"
                    title={
                        branch.field
                            ? fieldsText.plotField(branch.path)
                            : fieldsText.plotAll(branch.path, together.length)
                    }
                    onClick={(event) => (event.stopPropagation(), plot(together))}
                >
                    {fieldsText.plot}
                </Button>
            )}
            {branch.field && add(branch.path, 'states', fieldsText.states, fieldsText.statesField(branch.path))}
            {branch.field && add(branch.path, 'values', fieldsText.values, fieldsText.valuesField(branch.path))}
        </>
    );
    const node = (branch: Branch): TreeNode => {
        const numbers = numbersOf(branch);
        const together = numbers.length <= MAX_TOGETHER ? numbers : [];
        const dragged = branch.field ? [branch.path] : together;
        return {
            key: branch.key,
            label: branch.label,
            value: branch.field ? branch.field.unit || (branch.field.numeric ? undefined : fieldsText.text) : undefined,
            children: branch.below.length > 0 ? () => branch.below.map(node) : undefined,
            drag: dragged.length > 0 ? (data) => data.setData(DRAGGED_FIELD, dragged.join('\n')) : undefined,
            actions: actionsOf(branch, together),
        };
    };
    return node;
}

const message = (key: string, label: string): TreeNode => ({ key, label });

function Found({ props, filter, node }: { props: PanelProps; filter: string; node: (branch: Branch) => TreeNode }) {
    const { found, loading } = useFields(props);
    const [closed, setClosed] = useState(new Set<string>());
    const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
    const matching = found.filter(({ path }) => words.every((word) => path.toLowerCase().includes(word)));
    const shown = matching.slice(0, MAX_FOUND);
    const branches = props.topics
        .map(({ name }) =>
            branchesOf(
                name,
                shown.filter(({ topic }) => topic === name),
            ),
        )
        .filter((branch) => branch.below.length > 0 || branch.field);
    const places = branches.flatMap((branch) => placesOf(branch));
    return (
        <>
            <Tree
                label={fieldsText.label}
                nodes={branches.map(node)}
                open={new Set(places.filter((place) => !closed.has(place)))}
                onOpen={(open) => setClosed(new Set(places.filter((place) => !open.has(place))))}
            />
            {loading && <Spinner />}
            {!loading && shown.length === 0 && <p class="empty muted">{fieldsText.none}</p>}
            {matching.length > shown.length && (
                <p class="fields-note small muted">{fieldsText.more(matching.length - shown.length)}</p>
            )}
        </>
    );
}

export default function Fields(props: PanelProps) {
    const { topics, settings, onSettings } = props;
    const { known, expand } = useExpanded(props);
    const [expanded, setExpanded] = useState(new Set<string>());
    const node = useNodes(props);
    const filter = settings.filter ?? '';
    const listed = topics.filter(decoded);
    const onOpen = (to: Set<string>) => {
        listed.filter(({ name }) => to.has(`/${encodeURIComponent(name)}`)).forEach(expand);
        setExpanded(to);
    };
    const nodes = listed.map((topic): TreeNode => {
        const fields = known.get(topic.name);
        const branch = branchesOf(topic.name, fields ?? []);
        if (branch.field) {
            return node(branch); // a message that is a number itself
        }
        const waiting = () => [
            message(
                'note',
                fields === undefined ? fieldsText.loading : fields === null ? fieldsText.failed : fieldsText.noneHere,
            ),
        ];
        const below = branch.below.length > 0 ? () => branch.below.map(node) : waiting;
        return { ...node(branch), value: topic.type, children: below };
    });
    return (
        <div class="fields">
            <div class="fields-tools row">
                <Field
                    label={fieldsText.filter}
                    hidden_label
                    placeholder={fieldsText.filter}
                    value={filter}
                    class="grow"
                    onInput={(event) => onSettings({ filter: event.currentTarget.value || null })}
                />
            </div>
            <div class="fields-body">
                {filter.trim() ? (
                    <Found props={props} filter={filter} node={node} />
                ) : (
                    <Tree label={fieldsText.label} nodes={nodes} open={expanded} onOpen={onOpen} />
                )}
            </div>
            <p class="fields-note small muted">{fieldsText.help}</p>
        </div>
    );
}
