// Asking the server from a component: the answer, the error, or still waiting. Its one rule: an answer that came too late is not shown.
import { useCallback, useEffect, useState } from 'preact/hooks';

export interface Asked<T> {
    value: T | null;
    error: unknown;
    waiting: boolean;
    again: () => void;
}

/** Asks when it is first shown, when `deps` change, and on again(); the last answer stays until the next one is there. */
export function useAsk<T>(ask: (signal: AbortSignal) => Promise<T>, deps: readonly unknown[]): Asked<T> {
    const [state, setState] = useState<{ value: T | null; error: unknown; waiting: boolean }>({ value: null, error: null, waiting: true });
    const [round, setRound] = useState(0);
    useEffect(() => {
        const stop = new AbortController();
        setState((was) => ({ ...was, waiting: true }));
        ask(stop.signal).then(
            (value) => !stop.signal.aborted && setState({ value, error: null, waiting: false }),
            (error: unknown) => !stop.signal.aborted && setState((was) => ({ value: was.value, error, waiting: false })),
        );
        return () => stop.abort();
    }, [...deps, round]);
    const again = useCallback(() => setRound((n) => n + 1), []);
    return { ...state, again };
}
