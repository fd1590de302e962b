// Whether the server answers. While it does not, it is asked every two seconds.
import { ROOT } from './address';
import { Store } from './store';

export const reachable = new Store(true);

const RETRY_MS = 2000;
const ANSWER_MS = 5000; // a server that takes longer does not answer
let asking = false;

/** Asks whether the server answers, again and again until it does. */
export async function askServer(): Promise<void> {
    if (asking) {
        return;
    }
    asking = true;
    for (;;) {
        // what needs no login
        const answers = await fetch(ROOT + 'openapi.json', {
            method: 'HEAD',
            signal: AbortSignal.timeout(ANSWER_MS),
        }).then(
            () => true, // whatever it says
            () => false,
        );
        if (reachable.get() !== answers) {
            reachable.set(answers);
        }
        if (answers) {
            break;
        }
        await new Promise((done) => setTimeout(done, RETRY_MS));
    }
    asking = false;
}

/** Ends after the time, or when the server answers again. */
export function pause(ms: number, signal: AbortSignal): Promise<void> {
    return new Promise((done) => {
        const end = () => {
            clearTimeout(timer);
            unsubscribe();
            signal.removeEventListener('abort', end);
            done();
        };
        const timer = setTimeout(end, ms);
        const unsubscribe = reachable.subscribe((answers) => answers && end());
        signal.addEventListener('abort', end);
    });
}
