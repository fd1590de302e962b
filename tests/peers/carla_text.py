"""What CARLA's show_recorder_file_info(show_all) prints of the packets that the independent reader decoded: the words of 0.9.15, doors and weather as in later ones."""
import struct

DOORS = ('Front Left', 'Front Right', 'Rear Left', 'Rear Right', 'Hood', 'Trunk', 'All')
LIGHTS = (('Position', 1), ('LowBeam', 2), ('HighBeam', 4), ('Brake', 8), ('RightBlinker', 16), ('LeftBlinker', 32), ('Reverse', 64), ('Interior', 256), ('Fog', 128),
          ('Special1', 512), ('Special2', 1024))
WEATHER = ('Cloudiness', 'Precipitation', 'PrecipitationDeposits', 'WindIntensity', 'SunAzimuthAngle', 'SunAltitudeAngle', 'FogDensity', 'FogDistance', 'FogFalloff', 'Wetness',
           'ScatteringIntensity', 'MieScatteringScale', 'RayleighScatteringScale', 'DustStorm')
TUNING = (('max_rpm', 'max_rpm'), ('MOI', 'moi'), ('damping_rate_full_throttle',) * 2, ('damping_rate_zero_throttle_clutch_engaged',) * 2,
          ('damping_rate_zero_throttle_clutch_disengaged',) * 2)


def g(v):
    if v != v:
        return '-nan' if struct.pack('>d', v)[0] & 0x80 else 'nan'
    return '%g' % v


def vec(values):
    return '(%s)' % ', '.join(g(v) for v in values)


def narrow(v):
    return struct.unpack('<f', struct.pack('<f', v))[0]


def curve(name, points):
    return '   %s =%s' % (name, ''.join(' ' + vec(p) for p in sorted(points, key=lambda p: p[0])))


def physics(p):
    yield '  Id: %d' % p['id']
    for name, key in TUNING:
        yield '   %s = %s' % (name, g(p[key]))
    yield '   use_gear_auto_box = %s' % ('true' if p['use_gear_autobox'] else 'false')
    yield '   gear_switch_time = 0.5'
    for name in ('clutch_strength', 'final_ratio', 'mass', 'drag_coefficient'):
        yield '   %s = %s' % (name, g(p[name]))
    yield '   center_of_mass = ' + vec(narrow(narrow(v * 100) * narrow(0.01)) for v in p['com'])
    yield curve('torque_curve', p['torque'])
    yield curve('steering_curve', p['steer'])
    yield '   forward_gears:'
    for k, gear in enumerate(p['gears']):
        yield '    gear %d: ratio %s down_ratio %s up_ratio %s' % (k, *map(g, gear))
    yield '   wheels:'
    for k, w in enumerate(p['wheels']):
        yield '    wheel %d: tire_friction %s damping_rate %s max_steer_angle %s radius %s max_brake_torque %s max_handbrake_torque %s position %s' % (
            k, *map(g, w[:6]), vec(w[-3:]))


def listed(head, records, line):
    return [' %s: %d' % (head, len(records))] + [line(r) for r in records]


def events(name, records):
    for r in records:
        if name == 'EventAdd':
            yield ' Create %d: %s (%d) at %s' % (r['id'], r['tid'], r['type'], vec(r['loc']))
            for _, key, value in r['attrs']:
                yield '  %s = %s' % (key, value)
        elif name == 'EventDel':
            yield ' Destroy %d' % r[0]
        elif name == 'EventParent':
            yield ' Parenting %d with %d (parent)' % r
        else:
            yield ' Collision id %d between %d%s with %d%s' % (r[0], r[1], ' (hero) ' if r[3] else '', r[2], ' (hero) ' if r[4] else '')


def bones(records):
    yield ' Walkers Bones: %d' % len(records)
    for actor, list_of in records:
        yield '  Id: %d' % actor
        for name, place, turn in list_of:
            yield '     Bone: "%s" relative: Loc%s Rot%s' % (name, vec(place), vec(turn))
    yield ''


STATES = {
    'Position': ('Positions', lambda r: '  Id: %d Location: %s Rotation: %s' % (r[0], vec(r[1:4]), vec(r[4:]))),
    'State': ('State traffic lights', lambda r: '  Id: %d state: %s frozen: %d elapsedTime: %s' % (r[0], chr(48 + r[3]), r[1], g(r[2]))),
    'AnimVehicle': ('Vehicle animations', lambda r: '  Id: %d Steering: %s Throttle: %s Brake: %s Handbrake: %d Gear: %d' % (r[0], g(r[1]), g(r[2]), g(r[3]), r[4], r[5])),
    'AnimWalker': ('Walker animations', lambda r: '  Id: %d speed: %s' % (r[0], g(r[1]))),
    'VehicleLight': ('Vehicle light animations', lambda r: '  Id: %d %s' % (r[0], ' '.join(n for n, bit in LIGHTS if r[1] & bit) or 'None')),
    'SceneLight': ('Scene light changes', lambda r: '  Id: %d enabled: %s intensity: %s RGB_color: %s' % (r[0], bool(r[6]), g(r[1]), vec(r[2:5]))),
    'Kinematics': ('Dynamic actors', lambda r: '  Id: %d linear_velocity: %s angular_velocity: %s' % (r[0], vec(r[1:4]), vec(r[4:]))),
    'BoundingBox': ('Actor bounding boxes', lambda r: '  Id: %d origin: %s extension: %s' % (r[0], vec(r[1:4]), vec(r[4:]))),
    'TriggerVolume': ('Actor trigger volumes', lambda r: '  Id: %d origin: %s extension: %s' % (r[0], vec(r[1:4]), vec(r[4:]))),
    'TrafficLightTime': ('Traffic Light time events', lambda r: '  Id: %d green_time: %s yellow_time: %s red_time: %s' % (r[0], g(r[1]), g(r[2]), g(r[3]))),
    'VehicleDoor': ('Vehicle door animations', lambda r: '  Id: %d\n  Doors opened: ' % r[0] + (' %s ' % DOORS[r[1]] if r[1] < len(DOORS) else '')),
    'Weather': ('Weathers', lambda r: '  ' + ' '.join('%s: %s' % (n, g(v)) for n, v in zip(WEATHER, r))),
}


def packet_text(name, records):
    """The lines of one packet; none for what CARLA prints nothing of."""
    if name in ('EventAdd', 'EventDel', 'EventParent', 'Collision'):
        return list(events(name, records))
    if name in STATES:
        return listed(STATES[name][0], records, STATES[name][1])
    if name == 'PlatformTime':
        return [' Current platform time: ' + g(records)]
    if name == 'PhysicsControl':
        return [' Physics Control events: %d' % len(records)] + [line for p in records for line in physics(p)]
    return list(bones(records)) if name == 'WalkerBones' else []
