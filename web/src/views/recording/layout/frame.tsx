// The frame of a panel: its head with title, recording, menu, and the panel itself.
import { useMemo } from 'preact/hooks';
import { useAddress } from '../../../address';
import type { Panel, PanelProps } from '../../../panels';
import { layoutText } from '../../../text/layout';
import { pairText } from '../../../text/recording';
import { Badge, Button, ErrorBoundary, Menu, Select } from '../../../ui';
import { availablePanels, CHOOSER, panelOf, setSettings, settingsOf } from '../panel_layout';
import type { Box } from './places';
import { kindOf, numberOf, type Side } from './tree';

/** A recording that panels show. */
export type Source = Pick<PanelProps, 'recording' | 'topics' | 'playback' | 'companion'>;

/** What the menu of a panel does; each takes the panel's id. */
export interface FrameActions {
    split: (id: string, side: Side) => void;
    duplicate: (id: string) => void;
    move: (id: string, side: Side) => void;
    maximise: (id: string) => void;
    close: (id: string) => void;
    choose: (id: string, kind: string) => void;
    open: (id: string) => PanelProps['open'];
    used: (id: string) => void;
}

interface FrameProps {
    id: string;
    sources: Source[];
    actions: FrameActions;
    box: Box;
    maximised: boolean;
    hidden: boolean; // behind a maximised one; it keeps its state
    dragged: boolean;
    head: { onPointerDown: (event: PointerEvent) => void };
}

/** Which recording a panel shows: its setting `of`. */
export const sourceOf = (id: string, sources: Source[], query: URLSearchParams): Source =>
    sources[Number(query.get(`${id}.of`) ?? 1) - 1] ?? sources[0]!;

export function titleOf(id: string): string {
    const title = panelOf(id)?.title ?? layoutText.chooser;
    return numberOf(id) > 1 ? `${title} ${numberOf(id)}` : title;
}

/** Rendered again only if what it shows has changed, not while it is moved or resized. */
function Body({ id, panel, source, actions }: { id: string; panel: Panel; source: Source; actions: FrameActions }) {
    const { query } = useAddress();
    const settings = JSON.stringify(settingsOf(id, query));
    return useMemo(
        () => (
            <ErrorBoundary key={`${settingsOf(id, query).of} ${source.recording.id}`}>
                <panel.Panel
                    {...source}
                    open={actions.open(id)}
                    settings={JSON.parse(settings) as Record<string, string>}
                    onSettings={(changes) => setSettings(id, changes)}
                />
            </ErrorBoundary>
        ),
        [id, panel, source, actions, settings],
    );
}

function Chooser({ id, sources, actions }: Pick<FrameProps, 'id' | 'sources' | 'actions'>) {
    const { query } = useAddress();
    const { recording, topics } = sourceOf(id, sources, query);
    return (
        <div class="layout-chooser">
            {availablePanels(recording, topics).map((panel) => (
                <Button key={panel.name} onClick={() => actions.choose(id, panel.name)}>
                    {panel.title}
                </Button>
            ))}
        </div>
    );
}

function Head({ id, sources, actions, maximised, head }: FrameProps) {
    const { query } = useAddress();
    const source = sourceOf(id, sources, query);
    const [t, title] = [layoutText, titleOf(id)];
    const { topic } = settingsOf(id, query);
    // the panel shows another one
    const missing = topic !== undefined && !source.topics.some((one) => one.name === topic) ? topic : null;
    const sides: [Side, string][] = [
        ['left', t.moveLeft],
        ['right', t.moveRight],
        ['top', t.moveUp],
        ['bottom', t.moveDown],
    ];
    const items = [
        { label: t.splitRight, run: () => actions.split(id, 'right') },
        { label: t.splitBelow, run: () => actions.split(id, 'bottom') },
        ...(kindOf(id) === CHOOSER ? [] : [{ label: t.duplicate, run: () => actions.duplicate(id) }]),
        ...sides.map(([side, label]) => ({ label, run: () => actions.move(id, side) })),
    ];
    return (
        <header
            class="panel-head"
            {...head}
            onDblClick={(event) => !(event.target as Element).closest('button, select') && actions.maximise(id)}
        >
            <h2 class="ellipsis">{title}</h2>
            {sources.length > 1 && (
                <Select
                    label={t.shows(title)}
                    hidden_label
                    value={String(sources.indexOf(source) + 1)}
                    options={sources.map(({ recording }, i): [string, string] => [
                        String(i + 1),
                        pairText.numbered(i + 1, recording.name),
                    ])}
                    onChange={(of) => setSettings(id, { of: of === '1' ? null : of })}
                />
            )}
            {missing && (
                <Badge kind="warn" title={t.missingHelp(source.recording.name)}>
                    {t.missing(missing)}
                </Badge>
            )}
            <span class="panel-tools">
                <Menu label={t.menu(title)} items={items} />
                <Button
                    kind="quiet"
                    icon="full"
                    label={maximised ? t.restore(title) : t.maximise(title)}
                    pressed={maximised}
                    onClick={() => actions.maximise(id)}
                />
                <Button kind="quiet" icon="close" label={t.close(title)} onClick={() => actions.close(id)} />
            </span>
        </header>
    );
}

export function Frame(props: FrameProps) {
    const { id, sources, actions, box, hidden, dragged } = props;
    const { query } = useAddress();
    const panel = panelOf(id);
    return (
        <section
            class={`panel panel-${kindOf(id)} ${dragged ? 'layout-dragged' : ''}`}
            id={`panel-${id}`}
            aria-label={titleOf(id)}
            tabIndex={-1}
            style={{
                left: `${box.x}px`,
                top: `${box.y}px`,
                width: `${box.width}px`,
                height: `${box.height}px`,
                visibility: hidden ? 'hidden' : 'visible',
            }}
            onFocusIn={() => actions.used(id)}
            onPointerDown={() => actions.used(id)}
        >
            <Head {...props} />
            <div class="panel-body">
                {panel ? (
                    <Body id={id} panel={panel} source={sourceOf(id, sources, query)} actions={actions} />
                ) : (
                    <Chooser id={id} sources={sources} actions={actions} />
                )}
            </div>
        </section>
    );
}
