// The panel "scene": what a recording shows in space. three.js is loaded only with it.
import { text } from '../../text';
import type { Recording, Topic } from '../../types';
import { later } from '../../ui';
import type { Panel, PanelProps } from '../index';

/** A bag's types that are drawn are listed by ros_shapes.ts; this is what can be told without loading it. */
const DRAWN = /^(sensor_msgs|std_msgs|geometry_msgs|nav_msgs|tf|tf2_msgs|turtlesim)\/(msg\/)?(LaserScan|PointCloud2?|Pose(Stamped|Array|WithCovarianceStamped)?|Odometry|Path|tfMessage|TFMessage)$/;

function fits(recording: Recording, topics: Topic[]): number {
    if (topics.some((t) => t.type === 'carla/Position' || t.type === 'nanover/frame')) {
        return recording.messages > 0 ? 3 : 0;
    }
    return topics.some((t) => DRAWN.test(t.type) && t.count > 0) ? 2 : 0;
}

export const scene: Panel = { name: 'scene', title: text.scene.title, fits, Panel: later<PanelProps>(() => import('./panel')) };
