// The panel "messages": one topic's message at the playhead, decoded or as hex.
import { messagesText } from '../../text/panels';
import type { Panel } from '../index';
import { firstTime } from '../../recording_time';
import { Messages, messagesTopic } from './panel';

export const messages: Panel = {
    name: 'messages',
    title: messagesText.title,
    fits: (recording) => (recording.messages > 0 ? 1.5 : 0),
    begins: (_recording, topics, settings) => firstTime(messagesTopic(topics, settings)),
    Panel: Messages,
};
