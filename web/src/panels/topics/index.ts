// The panel "topics": topics, schemas, file metadata, attachments.
import { topicsText } from '../../text/panels';
import type { Panel } from '../index';
import { TopicsPanel } from './panel';

export const topics: Panel = { name: 'topics', title: topicsText.title, fits: () => 1, Panel: TopicsPanel };
