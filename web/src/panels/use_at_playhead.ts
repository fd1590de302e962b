// useAtPlayhead: loads what a panel shows at the playhead. One request at a time; if the playhead moved meanwhile, the
// newest time is loaded next. `load` null: nothing is loaded, what was shown stays.
import { useEffect, useRef, useState } from 'preact/hooks';
import { ApiError } from '../api';
import type { Playback } from '../playback';

interface State<T> {
    value: T | null; // null: nothing at or before the playhead
    time: bigint | null; // that `value` was loaded for
    error: unknown;
}
export interface AtPlayhead<T> extends State<T> {
    reload: () => void;
}

const PAUSE_MS = 60; // between two requests during playback

export function useAtPlayhead<T>(
    playback: Playback,
    load: ((time_ns: bigint, signal: AbortSignal) => Promise<T | null>) | null,
    deps: readonly unknown[],
): AtPlayhead<T> {
    const [state, setState] = useState<State<T>>({ value: null, time: null, error: null });
    const reload = useRef(() => undefined as void);
    const newest = useRef(load); // of a live recording it changes without `deps`
    newest.current = load;
    useEffect(() => {
        if (!load) {
            return;
        }
        const abort = new AbortController();
        let loading = false;
        let last: bigint | null = null;
        const next = async () => {
            const { time_ns } = playback.get();
            const { current } = newest;
            if (!current || loading || last === time_ns || abort.signal.aborted) {
                return;
            }
            loading = true;
            last = time_ns;
            try {
                const value = await current(time_ns, abort.signal);
                if (!abort.signal.aborted) {
                    setState({ value, time: time_ns, error: null });
                }
            } catch (error) {
                if (!abort.signal.aborted) {
                    const nothing = error instanceof ApiError && error.status === 404;
                    setState({ value: null, time: time_ns, error: nothing ? null : error });
                }
            }
            loading = false;
            setTimeout(() => void next(), PAUSE_MS);
        };
        reload.current = () => {
            last = null;
            void next();
        };
        void next();
        const unsubscribe = playback.subscribe(() => void next());
        return () => {
            unsubscribe();
            abort.abort();
        };
    }, [playback, load === null, ...deps]);
    return { ...state, reload: () => reload.current() };
}
