// The panel "image": the image of a topic at the playhead.
import { text } from '../../text';
import type { Topic } from '../../types';
import type { Panel } from '../index';
import { ImagePanel } from './panel';

export const isImage = (topic: Topic): boolean => /(^|[/.])(Compressed|Raw)?(Image|CompressedImage)$/.test(topic.type) && topic.messages > 0;

export const image: Panel = { name: 'image', title: text.image.title, fits: (_recording, topics) => (topics.some(isImage) ? 2.5 : 0), Panel: ImagePanel };
