// useRequest: loads data for a component. A response that arrives after `deps` have changed is dropped.
import { useCallback, useEffect, useState } from 'preact/hooks';

export interface RequestState<T> {
    value: T | null;
    error: unknown;
    loading: boolean;
    reload: () => void;
}

interface State<T> {
    value: T | null;
    error: unknown;
    loading: boolean;
    key: readonly unknown[]; // the dependencies that `value` was loaded for, and the number of reloads before it
}
const same = (a: readonly unknown[], b: readonly unknown[]) =>
    a.length === b.length && a.every((one, i) => Object.is(one, b[i]));

/**
 * Loads on mount, when `deps` change, and on reload(). The previous value stays until the next one arrives; `loading`
 * is true from the first render with new `deps` or after reload().
 */
export function useRequest<T>(load: (signal: AbortSignal) => Promise<T>, deps: readonly unknown[]): RequestState<T> {
    const [count, setCount] = useState(0);
    const key = [...deps, count];
    const [state, setState] = useState<State<T>>({ value: null, error: null, loading: true, key });
    useEffect(() => {
        const abort = new AbortController();
        setState((previous) => ({ ...previous, loading: true, key }));
        load(abort.signal).then(
            (value) => !abort.signal.aborted && setState({ value, error: null, loading: false, key }),
            (error: unknown) =>
                !abort.signal.aborted &&
                setState((previous) => ({ value: previous.value, error, loading: false, key })),
        );
        return () => abort.abort();
    }, key);
    const reload = useCallback(() => setCount((n) => n + 1), []);
    return { value: state.value, error: state.error, loading: state.loading || !same(state.key, key), reload };
}
