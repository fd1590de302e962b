// The panels of the recording view: placed by the tree in the URL, each kept mounted while the tree changes.
import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { address, setQuery, useAddress } from '../../../address';
import type { PanelProps } from '../../../panels';
import { layoutText } from '../../../text/layout';
import { CHOOSER, firstSettings, nextId, setLayout, settingsOf, setSettings, shownLayout } from '../panel_layout';
import { Frame, titleOf, type FrameActions, type Source } from './frame';
import { usePanelDrag } from './drag';
import { leastHeight, neighbourOf, placesOf, type Box, type Places, type Separator } from './places';
import { SeparatorBar } from './separator';
import { addPanel, idsOf, keepPanels, kindOf, movePanel, renamePanel, type Side, type Split, type Tree } from './tree';

interface State {
    places: Places;
    used: string[]; // the panels, the last used one first
}

function useSize(ref: { current: HTMLElement | null }): { width: number; height: number } {
    const [size, setSize] = useState({ width: 0, height: 0 });
    useLayoutEffect(() => {
        const { clientWidth, clientHeight } = ref.current!;
        setSize({ width: clientWidth, height: clientHeight });
        const watch = new ResizeObserver(([entry]) =>
            setSize({ width: entry!.contentRect.width, height: entry!.contentRect.height }),
        );
        watch.observe(ref.current!);
        return () => watch.disconnect();
    }, []);
    return size;
}

/**
 * Opens a panel for another one: changes the settings of the one of this kind and recording that was used last, else
 * adds one beside it.
 */
function openFrom(caller: string, sources: Source[], { used, places }: State): PanelProps['open'] {
    return (kind, settings) => {
        const { query } = address.get();
        const tree = shownLayout(sources, query);
        const of = query.get(`${caller}.of`);
        const ids = idsOf(tree);
        const found = [...used, ...ids].find(
            (id) => ids.includes(id) && kindOf(id) === kind && query.get(`${id}.of`) === of,
        );
        const id = found ?? nextId(kind, tree);
        if (found) {
            setSettings(found, settings(settingsOf(found, query)));
        } else {
            setLayout(
                sources[0]!.recording,
                addPanel(tree, id, wider(places.boxes.get(caller)) ? 'right' : 'bottom', caller),
                { settings: { [id]: { ...firstSettings(kind, tree, of), ...settings({}), of } } },
            );
        }
        if (query.get('max') === caller) {
            setQuery({ max: null }, true);
        }
        requestAnimationFrame(() => document.getElementById(`panel-${id}`)?.scrollIntoView({ block: 'nearest' }));
    };
}

const wider = (box: Box | undefined) => !box || box.width >= box.height * 1.2;
/** After the next render. */
const focusOn = (id: string) => requestAnimationFrame(() => document.getElementById(`panel-${id}`)?.focus());

/** They read the state when they are called, so that they stay the same functions. */
function actionsOf(sources: Source[], state: { current: State }): FrameActions {
    const { recording } = sources[0]!;
    const now = () => shownLayout(sources, address.get().query)!;
    const set = (tree: Tree | null, settings = {}, undo = false) => setLayout(recording, tree, { settings, undo });
    const add = (at: string, side: Side, kind: string, settings: Record<string, string>) => {
        const id = nextId(kind, now());
        set(addPanel(now(), id, side, at), { [id]: settings });
        focusOn(id);
    };
    const ofOnly = (id: string): Record<string, string> => {
        const { of } = settingsOf(id, address.get().query);
        return of ? { of } : {};
    };
    return {
        split: (id, side) => add(id, side, CHOOSER, ofOnly(id)),
        duplicate: (id) =>
            add(
                id,
                wider(state.current.places.boxes.get(id)) ? 'right' : 'bottom',
                kindOf(id),
                settingsOf(id, address.get().query),
            ),
        move: (id, side) => {
            set(movePanel(now(), id, side, neighbourOf(id, side, state.current.places.boxes)));
            focusOn(id);
        },
        maximise: (id) => setQuery({ max: address.get().query.get('max') === id ? null : id }, true),
        close: (id) =>
            set(
                keepPanels(now(), (one) => one !== id),
                {},
                true,
            ),
        choose: (id, kind) => {
            const chosen = nextId(kind, now());
            const own = ofOnly(id);
            set(renamePanel(now(), id, chosen), { [chosen]: { ...firstSettings(kind, now(), own.of), ...own } });
            focusOn(chosen);
        },
        open: (id) => (kind, settings) => openFrom(id, sources, state.current)(kind, settings),
        used: (id) => (state.current.used = [id, ...state.current.used.filter((one) => one !== id)]),
    };
}

/** Names the panels at both sides of a separator. */
function labelOf({ path, index }: Separator, tree: Tree): string {
    const split = path.reduce((part, i) => (part as Split).parts[i]!, tree) as Split;
    const names = (part: Tree) => idsOf(part).map(titleOf).join(', ');
    return layoutText.resize(names(split.parts[index]!), names(split.parts[index + 1]!));
}

function Drops({ box }: { box: Box | null }) {
    return (
        box && (
            <div
                class="layout-drop"
                style={{ left: `${box.x}px`, top: `${box.y}px`, width: `${box.width}px`, height: `${box.height}px` }}
            />
        )
    );
}

export function Panels({ sources }: { sources: Source[] }) {
    const { query } = useAddress();
    const area = useRef<HTMLDivElement>(null);
    const size = useSize(area);
    const [draft, setDraft] = useState<Tree | null>(null); // while a separator is dragged
    const tree = draft ?? shownLayout(sources, query);
    const ids = idsOf(tree);
    const least = tree ? leastHeight(tree, size.width) : 0;
    const places = placesOf(tree, size.width, Math.max(size.height, least));
    const max = ids.find((id) => id === query.get('max')) ?? null;
    const state = useRef<State>({ places, used: [] });
    state.current.places = places;
    const actions = useMemo(() => actionsOf(sources, state), [sources]);
    const set = (to: Tree) => setLayout(sources[0]!.recording, to);
    const drag = usePanelDrag(area, places, (id, { at, side }) => set(movePanel(tree!, id, side, at)));
    const whole = { x: 0, y: 0, width: size.width, height: size.height };
    useLayoutEffect(() => {
        if (max) {
            area.current!.scrollIntoView({ block: 'end' });
        }
    }, [max]);
    return (
        <div
            class={`panels ${max ? 'layout-maximised' : ''} ${ids.length === 0 ? 'layout-empty' : ''}`}
            ref={area}
            style={{ minHeight: max ? '' : `${least}px` }}
        >
            {size.width > 0 &&
                ids.map((id) => (
                    <Frame
                        key={id}
                        id={id}
                        sources={sources}
                        actions={actions}
                        box={id === max ? whole : places.boxes.get(id)!}
                        maximised={id === max}
                        hidden={max !== null && id !== max}
                        dragged={drag.dragged === id}
                        head={{ onPointerDown: drag.start(id) }}
                    />
                ))}
            {tree &&
                !max &&
                places.separators.map((one) => (
                    <SeparatorBar
                        key={one.key}
                        separator={one}
                        tree={tree}
                        label={labelOf(one, tree)}
                        onDraft={setDraft}
                        onDone={set}
                    />
                ))}
            {ids.length === 0 && <p class="layout-none muted">{layoutText.empty}</p>}
            <Drops box={drag.drop?.box ?? null} />
        </div>
    );
}
