"""Recordings whose messages hold values, for the rows about decoding: a robot's ROS bag, a CARLA log, a NanoVer simulation. Rule: the same numbers make the
same bytes, and each value takes the digits that a real one takes."""
import io
import os
import random
import struct
import zipfile

HEADER = '=' * 80 + '\nMSG: std_msgs/Header\nuint32 seq\ntime stamp\nstring frame_id\n'


def parts(*definitions):
    return ''.join('=' * 80 + '\nMSG: geometry_msgs/%s\n%s\n' % d for d in definitions)


POINT, QUATERNION, VECTOR = ('Point', 'float64 x\nfloat64 y\nfloat64 z'), ('Quaternion', 'float64 x\nfloat64 y\nfloat64 z\nfloat64 w'), \
    ('Vector3', 'float64 x\nfloat64 y\nfloat64 z')
TYPES = {  # topic: (type, md5, definition)
    '/odom': ('nav_msgs/Odometry', 'cd5e73d190d741a2f92e81eda573aca7',
              'Header header\nstring child_frame_id\ngeometry_msgs/PoseWithCovariance pose\ngeometry_msgs/TwistWithCovariance twist\n' + HEADER +
              parts(('PoseWithCovariance', 'Pose pose\nfloat64[36] covariance'), ('Pose', 'Point position\nQuaternion orientation'), POINT, QUATERNION,
                    ('TwistWithCovariance', 'Twist twist\nfloat64[36] covariance'), ('Twist', 'Vector3 linear\nVector3 angular'), VECTOR)),
    '/tf': ('tf2_msgs/TFMessage', '94810edda583a504dfda3829e70d7eec',
            'geometry_msgs/TransformStamped[] transforms\n' + parts(('TransformStamped', 'Header header\nstring child_frame_id\nTransform transform')) + HEADER +
            parts(('Transform', 'Vector3 translation\nQuaternion rotation'), VECTOR, QUATERNION)),
    '/scan': ('sensor_msgs/LaserScan', '90c7ef2dc6895d81024acba2ac42f369',
              'Header header\nfloat32 angle_min\nfloat32 angle_max\nfloat32 angle_increment\nfloat32 time_increment\nfloat32 scan_time\nfloat32 range_min\n'
              'float32 range_max\nfloat32[] ranges\nfloat32[] intensities\n' + HEADER),
}
T0, TICK, BEAMS = 1_300_000_000, 0.02, 360  # seconds; the robot tells where it is at 50 Hz, and what it sees at 10 Hz


def text(value):
    return struct.pack('<I', len(value)) + value.encode()


def field(name, value):
    value = value.encode() if isinstance(value, str) else value
    return struct.pack('<I', len(name) + 1 + len(value)) + name.encode() + b'=' + value


def record(fields, data):
    header = b''.join(field(k, fields[k]) for k in sorted(fields))
    return struct.pack('<I', len(header)) + header + struct.pack('<I', len(data)) + data


def stamped(seq, time, frame):
    return struct.pack('<IQ', seq, time) + text(frame)


def odometry(pick):
    """What follows the header."""
    numbers = [pick.uniform(-50, 50), pick.uniform(-50, 50), 0.0, 0.0, 0.0, pick.uniform(-1, 1), pick.uniform(-1, 1)]
    covariance = [0.001 * (i // 7 + 1) if i % 7 == 0 else 0.0 for i in range(36)]
    numbers += covariance + [pick.gauss(0, 1), 0.0, 0.0, 0.0, 0.0, pick.gauss(0, 1)] + covariance
    return text('base_link') + struct.pack('<85d', *numbers)


def transforms(seq, time, pick):
    places = ('odom', 'base_link'), ('base_link', 'laser')
    return struct.pack('<I', len(places)) + b''.join(
        stamped(seq, time, a) + text(b) + struct.pack('<7d', *(pick.uniform(-5, 5) for _ in range(7))) for a, b in places)


def scan(pick):
    angles = struct.pack('<7f', -3.14159, 3.14159, 0.0174533, 0.0001, 0.1, 0.05, 30)
    ranges, intensities = ([pick.uniform(0.05, 30) for _ in range(BEAMS)], [float(pick.randrange(256)) for _ in range(BEAMS)])
    return angles + b''.join(struct.pack('<I%df' % BEAMS, BEAMS, *values) for values in (ranges, intensities))


STATE = 'uint32 seq\n' + ''.join('float64 %s\n' % name for name in 'x y z qx qy qz qw vx vy vz t u'.split())


def states(path, size):
    """An MCAP file of about `size` bytes: messages of 100 bytes at 1 kHz, a number and twelve values; returns how many."""
    def text(value):
        return struct.pack('<I', len(value)) + value.encode()

    def mcap_record(op, body):
        return struct.pack('<BQ', op, len(body)) + body
    pick, head, time = random.Random(1), struct.Struct('<BQHIQQI'), T0 * 1_000_000_000
    values = [struct.pack('<12d', *(pick.gauss(0, 1 + k) for k in range(12))) for _ in range(65537)]
    messages = size // (head.size + 96)
    with open(path, 'wb', 1 << 20) as out:
        out.write(b'\x89MCAP0\r\n' + mcap_record(1, text('') + text('')))
        out.write(mcap_record(3, struct.pack('<H', 1) + text('bench/State') + text('ros1msg') + text(STATE)))
        out.write(mcap_record(4, struct.pack('<HH', 1, 1) + text('/state') + text('ros1') + struct.pack('<I', 0)))
        for i in range(messages):
            time += 1_000_000 + i * 7919 % 1000
            out.write(head.pack(5, 122, 1, i & 0xffffffff, time, time, i & 0xffffffff) + values[i % 65537])
        out.write(mcap_record(15, struct.pack('<I', 0)) + mcap_record(2, struct.pack('<QQI', 0, 0, 0)) + b'\x89MCAP0\r\n')
    return messages


class Bag:
    """Writes a bag of version 1.2 without an index."""

    def __init__(self, out, types):
        self.out, self.counts = out, dict.fromkeys(types, 0)
        out.write(b'#ROSRECORD V1.2\n')
        for topic, (kind, md5, definition) in types.items():
            out.write(record({'op': b'\1', 'topic': topic, 'type': kind, 'md5': md5, 'def': definition}, b''))
        self.heads = {topic: record({'op': b'\2', 'topic': topic, 'type': kind, 'md5': md5, 'sec': b'SSSS', 'nsec': b'NNNN'}, b'')[:-4]
                      for topic, (kind, md5, _) in types.items()}

    def put(self, topic, sec, nsec, data):
        head = self.heads[topic].replace(b'SSSS', struct.pack('<I', sec), 1).replace(b'NNNN', struct.pack('<I', nsec), 1)
        self.out.write(head + struct.pack('<I', len(data)) + data)
        self.counts[topic] += 1


class Robot:
    """Odometry and transforms at 50 Hz, scans at 10 Hz."""

    def __init__(self, pick):
        self.pick = pick
        self.odometries, self.scans = [odometry(pick) for _ in range(997)], [scan(pick) for _ in range(61)]

    def put(self, bag, tick):
        sec, nsec = T0 + tick // 50, tick % 50 * 20_000_000
        stamp = nsec << 32 | sec
        bag.put('/odom', sec, nsec, stamped(tick, stamp, 'odom') + self.odometries[tick % 997])
        bag.put('/tf', sec, nsec + 1000, transforms(tick, stamp, self.pick))
        if tick % 5 == 0:
            bag.put('/scan', sec, nsec + 2000, stamped(tick // 5, stamp, 'laser') + self.scans[tick // 5 % 61])


def robot_bag(path, size):
    """A bag of about `size` bytes; returns how many messages of each topic."""
    robot, tick = Robot(random.Random(1)), 0
    with open(path, 'wb', 1 << 20) as out:
        bag = Bag(out, TYPES)
        while out.tell() < size:
            robot.put(bag, tick)
            tick += 1
    return bag.counts


CAMERA = ('sensor_msgs/CompressedImage', '8f7a12909da2c9d3332d540a0977563f', 'Header header\nstring format\nuint8[] data\n' + HEADER)
LOG = ('rosgraph_msgs/Log', 'acffd30cd6b6de30f120938c17c593fb', 'byte DEBUG=1\nbyte INFO=2\nbyte WARN=4\nbyte ERROR=8\nbyte FATAL=16\nHeader header\nbyte level\nstring name\n'
       'string msg\nstring file\nstring function\nuint32 line\nstring[] topics\n' + HEADER)


def drive_bag(path, size, pictures):
    """What a robot with cameras records, about `size` bytes: /camera at 30 Hz, /slow_camera at 10 Hz, a log at 5 Hz, and what Robot does. `pictures`: JPEG files, used in turn."""
    robot, step = Robot(random.Random(1)), 0  # of 150 a second
    images = [text('jpeg') + struct.pack('<I', len(p)) + p for p in pictures]
    with open(path, 'wb', 1 << 20) as out:
        bag = Bag(out, {'/camera': CAMERA, '/slow_camera': CAMERA, '/rosout': LOG, **TYPES})
        while out.tell() < size:
            sec, nsec = T0 + step // 150, step % 150 * 1_000_000_000 // 150
            head = stamped(step, nsec << 32 | sec, 'camera')
            if step % 3 == 0:
                robot.put(bag, step // 3)
            if step % 5 == 0:
                bag.put('/camera', sec, nsec + 3000, head + images[step // 5 % len(images)])
            if step % 15 == 0:
                bag.put('/slow_camera', sec, nsec + 4000, head + images[step // 15 % len(images)])
            if step % 30 == 0:
                words = text('/planner') + text('step %d of the plan is done' % step) + text('plan.cpp') + text('run')
                bag.put('/rosout', sec, nsec + 5000, head + bytes([1 << step // 30 % 4]) + words + struct.pack('<II', 42, 0))
            step += 1
    return bag.counts


def small_bags(folder, count, size):
    """`count` bags that differ in the last number of their last message."""
    os.makedirs(folder)
    first = os.path.join(folder, '0.bag')
    robot_bag(first, size)
    with open(first, 'rb') as f:
        data = f.read()
    for i in range(1, count):
        with open(os.path.join(folder, '%d.bag' % i), 'wb') as f:
            f.write(data[:-8] + struct.pack('<d', i))


def carla_log(path, size, actors=150):
    """A log of about `size` bytes in which all actors stand in every frame; returns how many frames."""
    def short(value):
        return struct.pack('<H', len(value)) + value.encode()

    def packet(number, data):
        return struct.pack('<BI', number, len(data)) + data
    pick, frame = random.Random(2), 0
    added = b''.join(struct.pack('<IB6fI', i, 1, *(pick.uniform(-1e4, 1e4) for _ in range(6)), i) + short('vehicle.tesla.model3') + struct.pack('<H', 0)
                     for i in range(1, actors + 1))
    places = [b''.join(struct.pack('<I6f', i, *(pick.uniform(-2e4, 2e4) for _ in range(3)), 0.0, 0.0, pick.uniform(-180, 180)) for i in range(1, actors + 1))
              for _ in range(31)]
    with open(path, 'wb', 1 << 20) as out:
        out.write(struct.pack('<H', 1) + short('CARLA_RECORDER') + struct.pack('<q', T0) + short('Town05'))
        while out.tell() < size:
            out.write(packet(0, struct.pack('<Qdd', frame + 1, 0.05, frame * 0.05)))
            out.write(packet(2, struct.pack('<H', 0 if frame else actors) + (b'' if frame else added)))
            out.write(packet(6, struct.pack('<H', actors) + places[frame % 31]) + packet(1, b''))
            frame += 1
    return frame


def simulation(path, size, atoms=1000):
    """A NanoVer recording of about `size` bytes; returns how many frames."""
    import msgpack
    pick, body, index, frame = random.Random(3), io.BytesIO(), [], 0
    moved = [struct.pack('<%df' % (3 * atoms), *(pick.uniform(-10, 10) for _ in range(3 * atoms))) for _ in range(31)]
    while body.tell() < size:
        values = {'frame.index': frame, 'particle.positions': moved[frame % 31], 'energy.potential': pick.uniform(-1e4, 0), 'energy.kinetic': pick.uniform(0, 1e4),
                  'system.simulation.time': frame * 0.5}
        if frame == 0:
            values.update({'particle.count': atoms, 'particle.elements': bytes([6] * atoms)})
        data = msgpack.packb({'frame': values})
        index.append({'offset': body.tell(), 'length': len(data), 'metadata': {'types': ['frame'], 'frame.index': frame, 'timestamp': frame * 33_333}})
        body.write(data)
        frame += 1
    with zipfile.ZipFile(path, 'w') as archive:
        for name, data in (('messages.msgpack', body.getvalue()), ('index.msgpack', msgpack.packb(index))):
            with archive.open(zipfile.ZipInfo(name), 'w', force_zip64=True) as member:
                member.write(data)
    return frame
