// Bags for the tests of the panels of signals: two numbers, states, diagnostics.
import { STAMP, TYPES, cameraBag, every, f64, float64, header, inOrder, string, text, u32 } from './bags.mjs';

Object.assign(TYPES, {
    'std_msgs/Bool': ['8b94c1b53db61fb6aed406028ad6332a', 'bool data\n'],
    'geometry_msgs/Vector3': ['4a842b65f413084dc2b10fb484ea7f17', 'float64 x\nfloat64 y\nfloat64 z\n'],
    'vision_msgs/Detection2D': [
        '9e11092151fa150724a255fbac727f3b',
        `Header header\nObjectHypothesisWithPose[] results\nBoundingBox2D bbox\n${STAMP}${'='.repeat(80)}\nMSG: vision_msgs/ObjectHypothesisWithPose\nstring id\nfloat64 score\n${'='.repeat(80)}\nMSG: vision_msgs/BoundingBox2D\ngeometry_msgs/Pose2D center\nfloat64 size_x\nfloat64 size_y\n${'='.repeat(80)}\nMSG: geometry_msgs/Pose2D\nfloat64 x\nfloat64 y\nfloat64 theta\n`,
    ],
    'actionlib_msgs/GoalStatus': [
        'd388f9b87b3c471f784434d671988d4a',
        `GoalID goal_id\nuint8 status\nuint8 PENDING=0\nuint8 ACTIVE=1 # at work\nuint8 SUCCEEDED=3\nuint8 ABORTED=4\nstring text\n${'='.repeat(80)}\nMSG: actionlib_msgs/GoalID\ntime stamp\nstring id\n`,
    ],
    'lab_msgs/Drive': [
        'a'.repeat(32),
        `float64 MAX_SPEED=1.5\nfloat64 speed\nfront_msgs/Status front\nrear_msgs/Status rear\n${'='.repeat(80)}\nMSG: front_msgs/Status\nuint8 FRONT_OPEN=1\nuint8 code\n${'='.repeat(80)}\nMSG: rear_msgs/Status\nuint8 REAR_OPEN=1\nuint8 code\n`,
    ],
    'diagnostic_msgs/DiagnosticArray': [
        '60810da900de1dd6ddd437c3503511da',
        `Header header\nDiagnosticStatus[] status\n${STAMP}${'='.repeat(80)}\nMSG: diagnostic_msgs/DiagnosticStatus\nbyte OK=0\nbyte WARN=1\nbyte ERROR=2\nbyte STALE=3\nbyte level\nstring name\nstring message\nstring hardware_id\nKeyValue[] values\n${'='.repeat(80)}\nMSG: diagnostic_msgs/KeyValue\nstring key\nstring value\n`,
    ],
});

const goal = (status) => Buffer.concat([u32(0), u32(0), text('goal'), Buffer.from([status]), text('')]);
const statuses = (...all) =>
    Buffer.concat([
        header(''),
        u32(all.length),
        ...all.map(([level, name, message, ...values]) =>
            Buffer.concat([
                Buffer.from([level]),
                text(name),
                text(message),
                text('board 7'),
                u32(values.length),
                ...values.map(([key, value]) => Buffer.concat([text(key), text(value)])),
            ]),
        ),
    ]);

/**
 * 20 s. /a is 10 + 3 t, /b is 4 t, /wheel swings with 2 Hz and the amplitude 5; /mode is idle to 5 s, driving to 12 s,
 * then "motor fault"; /enabled is true from 5 s on; /goal is ACTIVE from 4 s and SUCCEEDED from 11 s on. `more` is added
 * to /a.
 */
export const signalBag = (more = 0) =>
    inOrder([
        ...every(20, 0.1, (at) => ({ at, topic: '/a', type: 'std_msgs/Float64', data: float64(10 + 3 * at + more) })),
        ...every(20, 0.1, (at) => ({ at, topic: '/b', type: 'std_msgs/Float64', data: float64(4 * at) })),
        ...every(20, 0.1, (at) => ({
            at,
            topic: '/velocity',
            type: 'geometry_msgs/Vector3',
            data: f64(3 * at, 4 * at, 0),
        })),
        ...every(20, 0.02, (at) => ({
            at,
            topic: '/wheel',
            type: 'std_msgs/Float64',
            data: float64(7 + 5 * Math.sin(4 * Math.PI * at)),
        })),
        ...every(20, 0.5, (at) => ({
            at,
            topic: '/mode',
            type: 'std_msgs/String',
            data: string(at < 5 ? 'idle' : at < 12 ? 'driving' : 'motor fault'),
        })),
        ...every(20, 0.5, (at) => ({ at, topic: '/enabled', type: 'std_msgs/Bool', data: Buffer.from([+(at >= 5)]) })),
        ...every(20, 0.5, (at) => ({
            at,
            topic: '/goal',
            type: 'actionlib_msgs/GoalStatus',
            data: goal(at < 4 ? 0 : at < 11 ? 1 : 3),
        })),
    ]);

/** A definition with a constant that is no integer, and two types of the same name in two packages. */
export const driveStateBag = () =>
    every(2, 0.5, (at) => ({
        at,
        topic: '/drive',
        type: 'lab_msgs/Drive',
        data: Buffer.concat([f64(1), Buffer.from([1, 1])]),
    }));

/** 8 h: 25,000 messages in the first second, one at the end. */
export const burstBag = () =>
    [...every(1, 1 / 25000, (at) => at), 8 * 3600].map((at, i) => ({
        at,
        topic: '/enabled',
        type: 'std_msgs/Bool',
        data: Buffer.from([i & 1]),
    }));

/** The motor is well, warm from 5 s and too hot from 10 s on; the lidar reports nothing after 8 s. */
export const diagnosticsBag = () =>
    inOrder([
        ...every(20, 1, (at) => ({
            at,
            topic: '/diagnostics',
            type: 'diagnostic_msgs/DiagnosticArray',
            data: statuses(
                at < 5
                    ? [0, 'motor: left', 'running', ['temperature', '41']]
                    : at < 10
                      ? [1, 'motor: left', 'warm', ['temperature', '75']]
                      : [2, 'motor: left', 'too hot', ['temperature', '98'], ['limit', '90']],
                [0, 'battery', 'charged'],
            ),
        })),
        ...every(8, 1, (at) => ({
            at: at + 0.25,
            topic: '/diagnostics',
            type: 'diagnostic_msgs/DiagnosticArray',
            data: statuses([0, 'lidar', 'spinning']),
        })),
    ]);

/** A camera with a box that a detector found: "cup" around (160, 120) of 640 × 480, 80 wide and 60 high. */
export const detectionBag = () =>
    inOrder([
        ...cameraBag(),
        ...every(2, 0.25, (at) => ({
            at: at + 0.5,
            topic: '/camera_objects',
            type: 'vision_msgs/Detection2D',
            data: Buffer.concat([header('camera'), u32(1), text('cup'), f64(0.93), f64(160, 120, 0, 80, 60)]),
        })),
    ]);
