// Computes a file's SHA-256 in a worker.
import url from './hash_worker?worker';

type WorkerMessage = { done?: number; digest?: string; error?: string };

export function hashFile(file: File, progress: (done: number) => void, signal: AbortSignal): Promise<string> {
    return new Promise((resolve, reject) => {
        const worker = new Worker(url, { type: 'module' });
        const stop = () => {
            worker.terminate();
            reject(new DOMException('', 'AbortError'));
        };
        signal.addEventListener('abort', stop);
        const end = () => {
            signal.removeEventListener('abort', stop);
            worker.terminate();
        };
        worker.onmessage = ({ data }: MessageEvent<WorkerMessage>) => {
            if (data.done !== undefined) {
                progress(data.done);
            } else {
                end();
                data.digest === undefined ? reject(new Error(data.error)) : resolve(data.digest);
            }
        };
        worker.onerror = (event) => {
            end();
            reject(new Error(event.message));
        };
        worker.postMessage(file);
    });
}
