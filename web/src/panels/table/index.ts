// The panel "contents": topics, schemas, metadata, attachments.
import { text } from '../../text';
import type { Panel } from '../index';
import { Contents } from './panel';

export const table: Panel = { name: 'table', title: text.table.title, fits: () => 1, Panel: Contents };
