// Which topics can have numeric fields. Separate from fields.ts, which is loaded with the panel.
import type { Topic } from '../../types';

const OPAQUE = ['', 'bytes']; // encodings the server does not decode
const NUMBER = /^[a-z ]+$/; // of a MIRA tape, only C's own types are decoded

export const decoded = (topic: Topic): boolean =>
    topic.messages > 0 && !OPAQUE.includes(topic.encoding) && (topic.encoding !== 'mira' || NUMBER.test(topic.type));
