// The panel "log": rosout, and events of a simulation.
import { logText } from '../../text/panels';
import type { Panel } from '../index';
import { LogPanel } from './panel';
import { isLog } from './rows';

export const log: Panel = {
    name: 'log',
    title: logText.title,
    fits: (_recording, topics) =>
        topics.some((t) => isLog(t.type) && t.messages > 0)
            ? 1.8
            : topics.some((t) => /^(carla\/Position|nanover\/frame)$/.test(t.type))
              ? 1.7
              : 0,
    Panel: LogPanel,
};
