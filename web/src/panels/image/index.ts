// The panel "image": the image of a topic at the playhead.
import { imageText } from '../../text/panels';
import { isImage } from '../../frames';
import { firstTime } from '../../recording_time';
import type { Panel } from '../index';
import { ImagePanel, imageTopic } from './panel';

export const image: Panel = {
    name: 'image',
    title: imageText.title,
    fits: (_recording, topics) => (topics.some(isImage) ? 2.5 : 0),
    begins: (_recording, topics, settings) => firstTime(imageTopic(topics, settings)),
    Panel: ImagePanel,
};
