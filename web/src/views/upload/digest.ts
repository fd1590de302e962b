// A worker: the SHA-256 of a file, piece by piece, so that the page stays quick and no file is held in memory.
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex } from '@noble/hashes/utils.js';

const PIECE = 4 << 20;

addEventListener('message', (event: MessageEvent<File>) => {
    void (async () => {
        try {
            const hash = sha256.create();
            for (let at = 0; at < event.data.size; at += PIECE) {
                hash.update(new Uint8Array(await event.data.slice(at, at + PIECE).arrayBuffer()));
                postMessage({ done: Math.min(at + PIECE, event.data.size) });
            }
            postMessage({ digest: bytesToHex(hash.digest()) });
        } catch (error) {
            postMessage({ error: String(error) });
        }
    })();
});
