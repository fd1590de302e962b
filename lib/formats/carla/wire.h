/* How CARLA recorder files lie on disk, as tables. All integers are little-endian, nothing is aligned, strings are u16 length + bytes
 * without a terminator; there is no index, no checksum and no footer.
 *
 * Header
 *   u16      version         1; 2 since March 2025 (attribute types count from 1)
 *   string   magic           "CARLA_RECORDER"
 *   i64      date            seconds since 1970
 *   string   map
 * Packet
 *   u8       id
 *   u32      size            of the data that follow
 *   bytes    data
 *
 * Packets by id. "vec" is three floats, or three doubles (UE5). A list is u16 total + records.
 *   0   frame start          u64 frame id, f64 duration (-1 in the last frame), f64 elapsed
 *   1   frame end            nothing
 *   2   event add            list of actors, below
 *   3   event del            list of { u32 actor }
 *   4   event parent         list of { u32 child, u32 parent }
 *   5   collision            list of { u32 id, u32 actor 1, u32 actor 2, u8 1 is hero, u8 2 is hero }
 *   6   position             list of { u32 actor, vec location, vec rotation }
 *   7   traffic light state  list of { u32 actor, u8 frozen, f32 elapsed, u8 state }
 *   8   vehicle animation    list of { u32 actor, f32 steering, f32 throttle, f32 brake, u8 handbrake, i32 gear }
 *   9   walker animation     list of { u32 actor, f32 speed }
 *   10  vehicle light        list of { u32 actor, u32 bits }
 *   11  scene light          list of { i32 light, f32 intensity, f32 x 4 RGBA, u8 on, u8 type }
 *   12  kinematics           list of { u32 actor, vec linear, vec angular }
 *   13  bounding box         list of { u32 actor, vec origin, vec extension }
 *   14  platform time        f64 seconds
 *   15  physics control      list, below; in UE5 files something else
 *   16  traffic light time   list of { u32 actor, f32 green, f32 yellow, f32 red }
 *   17  trigger volume       as 13
 *   18  frame counter        u64
 *   19  walker bones         list of { u32 actor, u16 n, n x { string name, vec location, vec rotation } }
 *   20  visual time          f64 seconds
 *   24  weather              list of { f32 x 14 }
 *   21…23 have two numberings, told apart by place and size:
 *          0.9.15, 0.9.16:                         21 wheels, 22 biker, 23 door
 *          UE5, ue4-dev November 2023 to March 2025:  21 door, 22 wheels, 23 biker
 *       wheels               list of { u32 actor, u32 n, n x { u8 place, f32 steering, f32 rotation } }
 *       biker                list of { u32 actor, f32 speed, f32 engine rotation }
 *       door                 list of { u32 actor, u8 door, u8 open }
 *   others: unknown, from 100 on the user's own
 *
 * Actor (packet 2)
 *   u32 id, u8 type, vec location, vec rotation, u32 uid, string description, u16 n, n x { u8 type, string id, string value }
 *   A location is the world's, but for an actor with a parent it is relative to that.
 * Physics control (packet 15)
 *   u32 actor, f32 x 5, u8 gear autobox, f32 x 4, f32 x 3 centre of mass,
 *   u32 n, n x f32 x 2 torque · u32 n, n x f32 x 3 gears · u32 n, n x f32 x 2 steering · u32 n, n wheels of 36 (0.9.10, 0.9.11) or 48 bytes
 */
#ifndef REEL_FORMATS_CARLA_WIRE_H
#define REEL_FORMATS_CARLA_WIRE_H

#define CARLA_MAGIC "CARLA_RECORDER"

enum {
    CARLA_MAGIC_SIZE = sizeof CARLA_MAGIC - 1,
    CARLA_DATE_AT = 2 + 2 + CARLA_MAGIC_SIZE, /* in the header */
    CARLA_HEADER_MIN = CARLA_DATE_AT + 8 + 2, /* with an empty map */
    CARLA_HEADER_MAX = CARLA_HEADER_MIN + 65535,
    CARLA_PACKET_HEAD = 5,
    CARLA_START_SIZE = 24,
    CARLA_VEC_FLOAT = 12,
    CARLA_VEC_DOUBLE = 24,
    CARLA_WHEEL_OLD = 36,
    CARLA_WHEEL_NEW = 48,
    CARLA_USER_ID = 100, /* ids from here on are the user's own */
};

#endif
