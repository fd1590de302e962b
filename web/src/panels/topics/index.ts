// The panel "topics": topics, schemas, file metadata, attachments.
import { text } from '../../text';
import type { Panel } from '../index';
import { TopicsPanel } from './panel';

export const topics: Panel = { name: 'topics', title: text.topics.title, fits: () => 1, Panel: TopicsPanel };
