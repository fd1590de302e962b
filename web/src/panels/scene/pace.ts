// How often a scene is drawn: with each frame of the page, but where that takes long – a processor instead of a graphics card – only in half of the
// time, so that the other panels keep moving.
const SLOW_MS = 25; // longer than a frame or two of the page

export class Pace {
    private fence: WebGLSync | null = null;
    private began = 0;
    private waited = false; // somebody wanted to draw meanwhile
    private freeAt = 0;

    constructor(private gl: WebGL2RenderingContext) {}

    /** The last drawing is not done, or the pause after it. */
    busy(): boolean {
        const now = performance.now();
        if (this.fence) {
            if (this.gl.getSyncParameter(this.fence, this.gl.SYNC_STATUS) === this.gl.UNSIGNALED && now - this.began < 1000) {
                this.waited = true;
                return true;
            }
            this.gl.deleteSync(this.fence);
            this.fence = null;
            const took = this.waited ? now - this.began : 0; // without a wait it was done before, nobody knows when
            this.freeAt = took > SLOW_MS ? now + took : 0;
        }
        return now < this.freeAt;
    }
    /** Called after drawing; `began`: before it. */
    drew(began: number): void {
        this.began = began;
        this.waited = false;
        this.fence = this.gl.fenceSync(this.gl.SYNC_GPU_COMMANDS_COMPLETE, 0);
        this.gl.flush();
    }
}
