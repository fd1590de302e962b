// A live recording: asked for anew while it grows and the page is visible. The stream of changes tells of it only every
// few seconds.
import { useEffect } from 'preact/hooks';

const AGAIN_MS = [500, 5000]; // after the last answer; the more messages, the longer panels take to load them
const MESSAGES_PER_MS = 2000;

/** `loaded`: changes with every answer. */
export function useGrowing(growing: boolean, messages: number, loaded: unknown, reload: () => void): void {
    useEffect(() => {
        if (!growing) {
            return;
        }
        const again = () => document.visibilityState === 'visible' && reload();
        const timer = setTimeout(again, Math.min(Math.max(AGAIN_MS[0]!, messages / MESSAGES_PER_MS), AGAIN_MS[1]!));
        document.addEventListener('visibilitychange', again);
        return () => {
            clearTimeout(timer);
            document.removeEventListener('visibilitychange', again);
        };
    }, [growing, loaded, reload]);
}
