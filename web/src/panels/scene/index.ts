// The panel "scene": a 3D view. three.js is loaded only with this panel.
import { text } from '../../text';
import type { Recording, Topic } from '../../types';
import { lazy } from '../../ui';
import type { Panel, PanelProps } from '../index';
import { drawnAs, isTransforms } from './ros_types';

function fits(recording: Recording, topics: Topic[]): number {
    if (topics.some((t) => t.type === 'carla/Position' || t.type === 'nanover/frame')) {
        return recording.messages > 0 ? 3 : 0;
    }
    return topics.some((t) => (drawnAs(t.type) || isTransforms(t.type)) && t.messages > 0) ? 2 : 0;
}

export const scene: Panel = { name: 'scene', title: text.scene.title, fits, Panel: lazy<PanelProps>(() => import('./panel')) };
