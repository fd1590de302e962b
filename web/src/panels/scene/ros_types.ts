// The ROS types that the scene draws. Separate from ros_shapes.ts, so that this check does not load three.js.
const DRAWN = [
    'sensor_msgs/LaserScan',
    'sensor_msgs/PointCloud2',
    'sensor_msgs/PointCloud',
    'std_msgs/LaserScan',
    'std_msgs/PointCloud',
    'geometry_msgs/PoseStamped',
    'geometry_msgs/PoseWithCovarianceStamped',
    'geometry_msgs/Pose',
    'geometry_msgs/PoseArray',
    'geometry_msgs/PointStamped',
    'geometry_msgs/PolygonStamped',
    'nav_msgs/Odometry',
    'nav_msgs/Path',
    'nav_msgs/OccupancyGrid',
    'visualization_msgs/Marker',
    'visualization_msgs/MarkerArray',
    'turtlesim/Pose',
] as const;
export type Drawn = (typeof DRAWN)[number];

/** The drawn type: ROS 2's sensor_msgs/msg/LaserScan is sensor_msgs/LaserScan. Null if it is not drawn. */
export function drawnAs(type: string): Drawn | null {
    const plain = type.replace(/^(\w+)\/msg\//, '$1/');
    return DRAWN.find((one) => one === plain) ?? null;
}
export const isTransforms = (type: string): boolean =>
    /^(tf\/(msg\/)?tfMessage|tf2_msgs\/(msg\/)?TFMessage)$/.test(type);

export type Kind = 'points' | 'scans' | 'poses' | 'paths' | 'markers' | 'maps';
/** The group of a type in the list of topics. */
export function kindOf(type: Drawn): Kind {
    const name = type.split('/')[1]!;
    return /^PointCloud/.test(name)
        ? 'points'
        : name === 'LaserScan'
          ? 'scans'
          : /^Marker/.test(name)
            ? 'markers'
            : name === 'OccupancyGrid'
              ? 'maps'
              : /^(Path|PolygonStamped)$/.test(name)
                ? 'paths'
                : 'poses';
}
