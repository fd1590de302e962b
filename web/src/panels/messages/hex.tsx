// A hex dump: offset, bytes, characters. Only the first part of a long payload.
import { count } from '../../format';
import { messagesText } from '../../text/panels';

const SHOWN = 4096;

function hexLines(bytes: Uint8Array): string {
    const lines = [];
    for (let at = 0; at < Math.min(bytes.length, SHOWN); at += 16) {
        const row = [...bytes.subarray(at, Math.min(at + 16, bytes.length))];
        const hex = row.map((b) => b.toString(16).padStart(2, '0'));
        const ascii = row.map((b) => (b >= 0x20 && b < 0x7f ? String.fromCharCode(b) : '.')).join('');
        lines.push(
            `${at.toString(16).padStart(6, '0')}  ${hex.slice(0, 8).join(' ').padEnd(23)}  ${hex.slice(8).join(' ').padEnd(23)}  ${ascii}`,
        );
    }
    return lines.join('\n');
}

export function Hex({ bytes }: { bytes: Uint8Array }) {
    return (
        <>
            <pre class="messages-hex" tabIndex={0} aria-label={messagesText.hex}>
                {hexLines(bytes)}
            </pre>
            {bytes.length > SHOWN && <p class="small muted">{messagesText.more(count(bytes.length - SHOWN))}</p>}
        </>
    );
}
