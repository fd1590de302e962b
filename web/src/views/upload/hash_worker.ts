// Web worker: computes the SHA-256 of a file while it is being sent. The next piece is read while the last one is
// hashed, and only a file that fits is held in memory: it is hashed by the browser itself, which is faster.
import { createSHA256 } from 'hash-wasm';

const PIECE = 8 << 20;
const WHOLE = 256 << 20;

async function hashWhole(file: File): Promise<string> {
    const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', await file.arrayBuffer()));
    return [...digest].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}

async function hash(file: File): Promise<string> {
    if (file.size <= WHOLE && globalThis.crypto?.subtle) {
        return hashWhole(file);
    }
    const sha256 = await createSHA256();
    const read = (at: number) =>
        at < file.size ? file.slice(at, at + PIECE).arrayBuffer() : Promise.resolve(new ArrayBuffer(0));
    let next = read(0);
    for (let at = 0; at < file.size; at += PIECE) {
        const piece = new Uint8Array(await next);
        next = read(at + PIECE);
        next.catch(() => undefined); // awaited in the next round
        sha256.update(piece);
        postMessage({ done: Math.min(at + PIECE, file.size) });
    }
    return sha256.digest('hex');
}

addEventListener('message', (event: MessageEvent<File>) => {
    hash(event.data).then(
        (digest) => postMessage({ digest }),
        (error: unknown) => postMessage({ error: String(error) }),
    );
});
