// The panel "diagnostics": diagnostic_msgs/DiagnosticArray as a table by level.
import { diagnosticsText } from '../../text/signals';
import { lazy } from '../../ui';
import { firstTime } from '../../recording_time';
import type { Topic } from '../../types';
import type { Panel, PanelProps } from '../index';

export const isDiagnostics = ({ type, messages }: Topic): boolean =>
    messages > 0 && /^diagnostic_msgs\/(msg\/)?DiagnosticArray$/.test(type);

export const diagnostics: Panel = {
    name: 'diagnostics',
    title: diagnosticsText.title,
    fits: (_recording, topics) => (topics.some(isDiagnostics) ? 1.6 : 0),
    begins: (_recording, topics) => firstTime(topics.find(isDiagnostics)),
    Panel: lazy<PanelProps>(() => import('./panel')),
};
