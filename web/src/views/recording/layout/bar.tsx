// The bar of the layout: adds panels, and the saved layouts.
import { address } from '../../../address';
import { linkKey } from '../../../shared_link';
import { layoutText } from '../../../text/layout';
import { Menu } from '../../../ui';
import { availablePanels, firstSettings, nextId, setLayout, shownLayout } from '../panel_layout';
import type { Source } from './frame';
import { SavedLayouts } from './saved_menu';
import { addPanel, arranged, idsOf } from './tree';

const SIDE_BY_SIDE = 3; // from this number on, an added panel comes below the others

/** Adds a panel; up to four are arranged as by default, if the user has not arranged them otherwise. */
function add(sources: Source[], kind: string): void {
    const tree = shownLayout(sources, address.get().query);
    const id = nextId(kind, tree);
    const ids = idsOf(tree);
    const untouched = JSON.stringify(tree) === JSON.stringify(arranged(ids));
    setLayout(
        sources[0]!.recording,
        untouched ? arranged([...ids, id]) : addPanel(tree, id, ids.length < SIDE_BY_SIDE ? 'right' : 'bottom'),
        { settings: { [id]: firstSettings(kind, tree) } },
    );
    requestAnimationFrame(() => document.getElementById(`panel-${id}`)?.focus());
}

export function PanelsBar({ sources }: { sources: Source[] }) {
    const { recording, topics } = sources[0]!;
    return (
        <div class="layout-bar row">
            <Menu
                label={layoutText.add}
                kind="plain"
                icon="plus"
                items={availablePanels(recording, topics).map((panel) => ({
                    label: panel.title,
                    run: () => add(sources, panel.name),
                }))}
            >
                {layoutText.add}
            </Menu>
            {!linkKey && <SavedLayouts sources={sources} />}
        </div>
    );
}
