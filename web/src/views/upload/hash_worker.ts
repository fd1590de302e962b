// Web worker: computes the SHA-256 of a file in chunks, so that the page stays responsive and no file is held in memory.
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex } from '@noble/hashes/utils.js';

const CHUNK = 4 << 20;

addEventListener('message', (event: MessageEvent<File>) => {
    void (async () => {
        try {
            const hash = sha256.create();
            for (let at = 0; at < event.data.size; at += CHUNK) {
                hash.update(new Uint8Array(await event.data.slice(at, at + CHUNK).arrayBuffer()));
                postMessage({ done: Math.min(at + CHUNK, event.data.size) });
            }
            postMessage({ digest: bytesToHex(hash.digest()) });
        } catch (error) {
            postMessage({ error: String(error) });
        }
    })();
});
