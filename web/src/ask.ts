// Asking the server from a component: the answer, the error, or still waiting. Its one rule: an answer that came too late is not shown.
import { useCallback, useEffect, useState } from 'preact/hooks';

export interface Asked<T> {
    value: T | null;
    error: unknown;
    waiting: boolean;
    again: () => void;
}

interface State<T> {
    value: T | null;
    error: unknown;
    waiting: boolean;
    deps: readonly unknown[]; // that it belongs to
}
const same = (a: readonly unknown[], b: readonly unknown[]) => a.length === b.length && a.every((one, i) => Object.is(one, b[i]));

/** Asks when it is first shown, when `deps` change, and on again(); the last answer stays until the next one is there, and `waiting` says so at once. */
export function useAsk<T>(ask: (signal: AbortSignal) => Promise<T>, deps: readonly unknown[]): Asked<T> {
    const [state, setState] = useState<State<T>>({ value: null, error: null, waiting: true, deps });
    const [round, setRound] = useState(0);
    useEffect(() => {
        const stop = new AbortController();
        setState((was) => ({ ...was, waiting: true, deps }));
        ask(stop.signal).then(
            (value) => !stop.signal.aborted && setState({ value, error: null, waiting: false, deps }),
            (error: unknown) => !stop.signal.aborted && setState((was) => ({ value: was.value, error, waiting: false, deps })),
        );
        return () => stop.abort();
    }, [...deps, round]);
    const again = useCallback(() => setRound((n) => n + 1), []);
    return { value: state.value, error: state.error, waiting: state.waiting || !same(state.deps, deps), again };
}
