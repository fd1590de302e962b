// Sizes as people enter them, and how full the collections of a quota are.
import { bytes, count } from '../../format';
import { adminText } from '../../text/admin';
import type { Collection, Quota } from '../../types';

const UNITS = ['', 'k', 'm', 'g', 't', 'p'];
/** "5 TB" in bytes; null: it is not a size. */
export function parseSize(value: string): number | null {
    const found = /^\s*(\d+(?:\.\d+)?)\s*([kmgtp]?)b?\s*$/i.exec(value);
    const size = found ? Math.round(Number(found[1]) * 1000 ** UNITS.indexOf(found[2]!.toLowerCase())) : NaN;
    return Number.isSafeInteger(size) ? size : null;
}
/** The size with a unit, or in bytes where that would round it: parseSize() returns the same number. */
export function sizeText(size: number | undefined): string {
    const short = size === undefined ? '' : bytes(size);
    return size === undefined || parseSize(short) === size ? short : `${size} B`;
}

/** Whether a glob of the server matches: * any text, ? a character, [a-z] one of these. */
export function matches(glob: string, name: string): boolean {
    const source = glob.replace(/\[!?[^\]]+\]|[\s\S]/g, (part) =>
        part === '*'
            ? '[^]*'
            : part === '?'
              ? '[^]'
              : part.length > 1
                ? part.replace(/^\[!/, '[^').replace(/\\/g, '\\\\')
                : part.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&'),
    );
    try {
        return new RegExp(`^${source}$`).test(name);
    } catch {
        return false; // [z-a]
    }
}

/** The fullest collection to which this quota applies, being the first that matches it. */
export function usage(quota: Quota, quotas: Quota[], collections: Collection[]): { text: string; share: number } {
    const own = collections.filter(({ name }) => quotas.find((one) => matches(one.collection, name)) === quota);
    const share = (c: Collection) =>
        Math.max(quota.size ? c.size / quota.size : 0, quota.recordings ? c.recordings / quota.recordings : 0);
    const [fullest] = own.sort((a, b) => share(b) - share(a));
    return fullest
        ? {
              text: adminText.retention.usage(
                  fullest.name,
                  `${Math.round(share(fullest) * 100)} %`,
                  bytes(fullest.size),
                  count(fullest.recordings),
              ),
              share: share(fullest),
          }
        : { text: adminText.retention.noCollection, share: 0 };
}
