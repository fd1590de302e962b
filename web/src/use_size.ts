// useWidth, useSize: of an element, in px, as it is resized.
import { useLayoutEffect, useState } from 'preact/hooks';

type Element = { current: HTMLElement | null };
export interface Size {
    width: number;
    height: number;
}

function useWatched<T>(element: Element, read: (size: DOMRectReadOnly) => T, initial: T): T {
    const [value, setValue] = useState(initial);
    useLayoutEffect(() => {
        const watch = new ResizeObserver(([entry]) => setValue(read(entry!.contentRect)));
        watch.observe(element.current!);
        return () => watch.disconnect();
    }, []);
    return value;
}

/** `initial`: until it is known, which is before the first drawing. */
export const useWidth = (element: Element, initial = 0): number => useWatched(element, ({ width }) => width, initial);
export const useSize = (element: Element): Size =>
    useWatched(element, ({ width, height }) => ({ width, height }), { width: 0, height: 0 });
