// What the server knows at the play head. Its one rule: one question at a time; when the head has moved meanwhile, the newest place is asked for next.
import { useEffect, useRef, useState } from 'preact/hooks';
import { ApiError } from '../api';
import type { Clock } from '../clock';

export interface AtHead<T> {
    value: T | null; // null: there is nothing at or before the head
    time: bigint | null; // of the question that `value` answers
    error: unknown;
    again: () => void;
}

const REST_MS = 60; // between two questions while it plays

export function useAtHead<T>(clock: Clock, ask: (time_ns: bigint, signal: AbortSignal) => Promise<T | null>, deps: readonly unknown[]): AtHead<T> {
    const [state, setState] = useState<Omit<AtHead<T>, 'again'>>({ value: null, time: null, error: null });
    const again = useRef(() => undefined as void);
    useEffect(() => {
        const stop = new AbortController();
        let asking = false;
        let asked: bigint | null = null;
        const next = async () => {
            const { time_ns } = clock.get();
            if (asking || asked === time_ns || stop.signal.aborted) {
                return;
            }
            asking = true;
            asked = time_ns;
            try {
                const value = await ask(time_ns, stop.signal);
                if (!stop.signal.aborted) {
                    setState({ value, time: time_ns, error: null });
                }
            } catch (error) {
                if (!stop.signal.aborted) {
                    const nothing = error instanceof ApiError && error.status === 404;
                    setState({ value: null, time: time_ns, error: nothing ? null : error });
                }
            }
            asking = false;
            setTimeout(() => void next(), REST_MS);
        };
        again.current = () => {
            asked = null;
            void next();
        };
        void next();
        const leave = clock.subscribe(() => void next());
        return () => {
            leave();
            stop.abort();
        };
    }, [clock, ...deps]);
    return { ...state, again: () => again.current() };
}
