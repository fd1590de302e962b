// What the list shows of recordings at a glance, asked for in one request for all rows that are seen.
import { getPage } from '../../api';
import type { Preview, Recording } from '../../types';

const ASK_AFTER_MS = 80; // rows passed by fast scrolling are not asked for
const AT_ONCE = 100;
const KEPT = 5000;

export class Previews {
    private known = new Map<string, Preview | null>(); // null: asked for, or not there
    private timer: ReturnType<typeof setTimeout> | undefined;
    private stopping = new AbortController();

    constructor(private readonly changed: () => void) {}

    of(recording: Recording): Preview | null {
        return this.known.get(recording.id) ?? null;
    }

    /** The rows that are seen now. */
    show(rows: readonly Recording[]): void {
        clearTimeout(this.timer);
        const missing = rows.filter((row) => row.state === 'ready' && !this.known.has(row.id)).map((row) => row.id);
        if (missing.length > 0) {
            this.timer = setTimeout(() => void this.load(missing.slice(0, AT_ONCE)), ASK_AFTER_MS);
        }
    }

    stop(): void {
        clearTimeout(this.timer);
        this.stopping.abort();
    }

    private async load(ids: string[]): Promise<void> {
        this.known.size < KEPT || this.known.clear();
        ids.forEach((id) => this.known.set(id, null));
        try {
            const { items } = await getPage<Preview>('/previews', { recording: ids }, null, this.stopping.signal);
            items.forEach((one) => this.known.set(one.recording, one));
            this.changed();
        } catch {
            ids.forEach((id) => this.known.delete(id)); // the list itself says what is wrong with the server
        }
    }
}
