// The panel "image": the image of a topic at the playhead.
import { text } from '../../text';
import { isImage } from '../../frames';
import type { Panel } from '../index';
import { ImagePanel } from './panel';

export const image: Panel = { name: 'image', title: text.image.title, fits: (_recording, topics) => (topics.some(isImage) ? 2.5 : 0), Panel: ImagePanel };
