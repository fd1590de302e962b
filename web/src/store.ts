// An observable value. Listeners are called after each change.
import { useEffect, useState } from 'preact/hooks';

export interface Readable<T> {
    get(): T;
    subscribe(listener: (value: T) => void): () => void;
}

export class Store<T> implements Readable<T> {
    private listeners = new Set<(value: T) => void>();
    constructor(private value: T) {}
    get(): T {
        return this.value;
    }
    set(value: T): void {
        if (!Object.is(value, this.value)) {
            this.value = value;
            for (const listener of [...this.listeners]) {
                listener(value);
            }
        }
    }
    subscribe(listener: (value: T) => void): () => void {
        this.listeners.add(listener);
        return () => this.listeners.delete(listener);
    }
}

export function useStore<T>(store: Readable<T>): T {
    const [value, setValue] = useState(store.get());
    useEffect(() => {
        setValue(() => store.get()); // it may have changed since the first render
        return store.subscribe((next) => setValue(() => next));
    }, [store]);
    return value;
}
