// How often a scene is drawn: with each frame of the page, but where that takes long – a processor instead of a
// graphics card – only in half of the time, so that the other panels keep moving.
const SLOW_MS = 25; // longer than a frame or two of the page
const MOST_MS = 1000; // what a drawing is taken to last: pages that are not seen have no frames

export class Pace {
    private fence: WebGLSync | null = null;
    private began = 0;
    private freeAt = 0;

    constructor(private gl: WebGL2RenderingContext) {}

    /** The last drawing is not done, or the pause after it. */
    busy(): boolean {
        return this.fence !== null || performance.now() < this.freeAt;
    }
    /** Called after drawing; `began`: before it. */
    drew(began: number): void {
        this.began = began;
        this.fence = this.gl.fenceSync(this.gl.SYNC_GPU_COMMANDS_COMPLETE, 0);
        this.gl.flush();
        requestAnimationFrame(this.check);
    }
    private check = (): void => {
        const now = performance.now();
        const took = Math.min(now - this.began, MOST_MS);
        if (
            this.fence &&
            took < MOST_MS &&
            this.gl.getSyncParameter(this.fence, this.gl.SYNC_STATUS) === this.gl.UNSIGNALED
        ) {
            requestAnimationFrame(this.check);
            return;
        }
        this.gl.deleteSync(this.fence);
        this.fence = null;
        this.freeAt = took > SLOW_MS ? now + took : 0;
    };
}
