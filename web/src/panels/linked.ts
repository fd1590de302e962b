// What panels over time have in common: the zoom (their setting `zoom`) and the time under the pointer. Panels of one
// playback are linked, but for those with the setting `link` 0. A panel that is added gets the zoom in panel_layout.ts.
import { useEffect, useMemo, useRef } from 'preact/hooks';
import type { Playback } from '../playback';
import { Store } from '../store';
import type { PanelProps } from './index';

interface Member {
    zoom: () => string | null;
    setZoom: (zoom: string | null) => void;
}
interface Group {
    members: Set<Member>;
    cursor: Store<number | null>; // seconds from the start of the playback; null: the pointer is over none
}
const groups = new WeakMap<Playback, Group>();

function groupOf(playback: Playback): Group {
    const group = groups.get(playback) ?? { members: new Set(), cursor: new Store<number | null>(null) };
    groups.set(playback, group);
    return group;
}

export interface Link {
    linked: boolean;
    toggle: () => void;
    setZoom: (zoom: string | null) => void; // of all linked panels
    /** Null where the panel is not linked. */
    cursor: Store<number | null> | null;
}

export function useLink({ playback, settings, onSettings }: PanelProps): Link {
    const group = groupOf(playback);
    const linked = settings.link !== '0';
    const latest = useRef({ settings, onSettings });
    latest.current = { settings, onSettings };
    const member = useMemo<Member>(
        () => ({
            zoom: () => latest.current.settings.zoom ?? null,
            setZoom: (zoom) => latest.current.onSettings({ zoom }),
        }),
        [],
    );
    const others = () => [...group.members].filter((one) => one !== member);
    useEffect(() => {
        if (!linked) {
            return;
        }
        group.members.add(member);
        return () => void group.members.delete(member);
    }, [group, linked]);
    return {
        linked,
        toggle: () => onSettings(linked ? { link: '0' } : { link: null, zoom: others()[0]?.zoom() ?? member.zoom() }),
        setZoom: (zoom) => (linked ? group.members.forEach((one) => one.setZoom(zoom)) : member.setZoom(zoom)),
        cursor: linked ? group.cursor : null,
    };
}
