// A live recording: asked for anew while it grows and the page is visible. The stream of changes tells of it only every few seconds.
import { useEffect } from 'preact/hooks';

const AGAIN_MS = 500; // after the last answer

/** `loaded`: changes with every answer. */
export function useGrowing(growing: boolean, loaded: unknown, reload: () => void): void {
    useEffect(() => {
        if (!growing) {
            return;
        }
        const again = () => document.visibilityState === 'visible' && reload();
        const timer = setTimeout(again, AGAIN_MS);
        document.addEventListener('visibilitychange', again);
        return () => {
            clearTimeout(timer);
            document.removeEventListener('visibilitychange', again);
        };
    }, [growing, loaded, reload]);
}
