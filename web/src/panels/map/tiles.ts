// Pictures of the map below the tracks, from the address that the administrator has set. Few are loaded at once, and
// few are kept.
import type { Size } from '../../use_size';
import { HALF_WORLD, toPx, type View } from './geometry';

const TILE_PX = 256;
const ZOOM_MAX = 19;
const LOADING_MAX = 6;
const KEPT_MAX = 256; // a quarter of a MB each, once decoded
const ANCESTORS = 4; // that stand in for a tile while it is loading
const RETRY_MS = 60_000;

interface Tile {
    image: HTMLImageElement;
    state: 'loading' | 'ready' | 'failed';
    used: number;
    failed: number; // when
}

export class Tiles {
    private kept = new Map<string, Tile>();
    private wanted: string[] = []; // of the last picture, not loaded yet
    private loading = 0;
    private drawn = 0;
    private stopped = false;

    /** `changed`: a tile has arrived. `failed`: the first one that did not. */
    constructor(
        private template: string,
        private changed: () => void,
        private failed: () => void,
    ) {}

    draw(context: CanvasRenderingContext2D, view: View, size: Size): void {
        const exact = Math.log2((view.scale * 2 * HALF_WORLD) / TILE_PX);
        const zoom = Math.min(Math.max(Math.round(exact), 0), ZOOM_MAX);
        const side = (2 * HALF_WORLD) / 2 ** zoom;
        const [left, right] = [view.x - size.width / 2 / view.scale, view.x + size.width / 2 / view.scale];
        const [low, high] = [view.y - size.height / 2 / view.scale, view.y + size.height / 2 / view.scale];
        this.drawn++;
        this.wanted = [];
        for (
            let row = Math.max(0, Math.floor((HALF_WORLD - high) / side));
            row <= Math.min(2 ** zoom - 1, Math.floor((HALF_WORLD - low) / side));
            row++
        ) {
            for (
                let column = Math.floor((left + HALF_WORLD) / side);
                column <= Math.floor((right + HALF_WORLD) / side);
                column++
            ) {
                const [x, y] = toPx(view, size, { x: column * side - HALF_WORLD, y: HALF_WORLD - row * side });
                this.drawTile(context, zoom, column, row, [x, y, side * view.scale]);
            }
        }
        this.load();
    }

    /** The tile, or the part of a larger one that is there already. */
    private drawTile(
        context: CanvasRenderingContext2D,
        zoom: number,
        column: number,
        row: number,
        [x, y, side]: [number, number, number],
    ): void {
        const count = 2 ** zoom;
        const wrapped = ((column % count) + count) % count; // the world repeats
        const key = `${zoom}/${wrapped}/${row}`;
        const tile = this.kept.get(key);
        if (!tile || (tile.state === 'failed' && performance.now() - tile.failed > RETRY_MS)) {
            this.wanted.push(key);
        }
        for (let up = 0; up <= Math.min(ANCESTORS, zoom); up++) {
            const one = this.kept.get(`${zoom - up}/${wrapped >> up}/${row >> up}`);
            if (one?.state === 'ready') {
                one.used = this.drawn;
                const part = one.image.naturalWidth / 2 ** up;
                const mask = 2 ** up - 1;
                context.drawImage(
                    one.image,
                    (wrapped & mask) * part,
                    (row & mask) * part,
                    part,
                    part,
                    x,
                    y,
                    side + 0.5,
                    side + 0.5,
                ); // no gaps between them
                return;
            }
        }
    }

    private load(): void {
        while (this.loading < LOADING_MAX && this.wanted.length > 0 && !this.stopped) {
            const key = this.wanted.shift()!;
            const tile: Tile = { image: new Image(), state: 'loading', used: this.drawn, failed: 0 };
            this.kept.set(key, tile);
            this.loading++;
            const end = (state: Tile['state']) => {
                tile.state = state;
                tile.failed = performance.now();
                this.loading--;
                if (!this.stopped) {
                    void (state === 'ready' ? this.changed() : this.failed());
                    this.load();
                }
            };
            tile.image.onload = () => end('ready');
            tile.image.onerror = () => end('failed');
            const [z, x, y] = key.split('/') as [string, string, string];
            // tile servers such as OpenStreetMap's refuse requests that do not say which site asks
            tile.image.referrerPolicy = 'origin';
            tile.image.src = this.template.replace('{z}', z).replace('{x}', x).replace('{y}', y);
        }
        this.evict();
    }
    private evict(): void {
        if (this.kept.size > KEPT_MAX) {
            const old = [...this.kept]
                .filter(([, tile]) => tile.state !== 'loading' && tile.used < this.drawn)
                .sort(([, a], [, b]) => a.used - b.used);
            old.slice(0, this.kept.size - KEPT_MAX).forEach(([key]) => this.kept.delete(key));
        }
    }

    stop(): void {
        this.stopped = true;
        this.kept.forEach(({ image, state }) => state === 'loading' && (image.src = ''));
        this.kept.clear();
    }
}
