/* See payload_parts.h. Numbers and units are those of the file. */
#include "formats/carla/payload_parts.h"

#include "formats/carla/names.h"
#include "formats/carla/payload.h"

const char *const carla_type_names[] = {"other",        "vehicle", "walker",  "traffic_light",
                                        "traffic_sign", "sensor",  "invalid", NULL};
const char *const carla_state_names[] = {"red", "yellow", "green", "off", NULL};
const char *const carla_scene_names[] = {"none", "vehicle", "street", "building", "other", NULL};
const char *const carla_door_names[] = {"Front Left", "Front Right", "Rear Left", "Rear Right",
                                        "Hood",       "Trunk",       "All",       NULL};
const char *const carla_attribute_names[] = {"bool", "int", "float", "string", "color", NULL};
const struct carla_light carla_lights[CARLA_LIGHTS] = {
    {"Position", 1}, {"LowBeam", 2},    {"HighBeam", 4}, {"Brake", 8},      {"RightBlinker", 16}, {"LeftBlinker", 32},
    {"Reverse", 64}, {"Interior", 256}, {"Fog", 128},    {"Special1", 512}, {"Special2", 1024},
};

#define PARTS static const struct part
#define P(name, what)                                                                                                  \
    { name, what, NULL, "" }
#define OF(name, what, more)                                                                                           \
    { name, what, more, "" }
PARTS frame_start[] = {P("frame", U64), {"duration", F64, NULL, "s"}, {"elapsed", F64, NULL, "s"}, {0}};
PARTS frame_end[] = {{0}};
PARTS visual_time[] = {{"time", F64, NULL, "s"}, {0}};
PARTS frame_counter[] = {P("frame", U64), {0}};
PARTS platform_time[] = {{"time", F64, NULL, "s"}, {0}};

PARTS attribute[] = {P("type", ATTRIBUTE), P("id", TEXT), P("value", TEXT), {0}};
PARTS actor[] = {P("type", ACTOR_TYPE),
                 P("location", XYZ),
                 P("rotation", RPY),
                 P("uid", U32),
                 P("description", TEXT),
                 OF("attributes", LIST, attribute),
                 {0}};
PARTS event_add[] = {{"actors", KEYED, actor, "location cm, rotation deg"}, {0}};
PARTS event_del[] = {P("actors", NUMBERS), {0}};
PARTS child[] = {P("parent", U32), {0}};
PARTS event_parent[] = {OF("actors", KEYED, child), {0}};
PARTS collided[] = {P("id", U32), P("actor1", U32), P("actor2", U32), P("hero1", FLAG), P("hero2", FLAG), {0}};
PARTS collision[] = {OF("collisions", LIST, collided), {0}};

PARTS pose[] = {P("location", XYZ), P("rotation", RPY), {0}};
PARTS position[] = {{"actors", KEYED, pose, "location cm, rotation deg"}, {0}};
PARTS lamp[] = {P("frozen", FLAG), P("elapsed", F32), OF("state", NAMED, carla_state_names), {0}};
PARTS traffic_light[] = {{"actors", KEYED, lamp, "elapsed s"}, {0}};
PARTS control[] = {P("steering", F32), P("throttle", F32), P("brake", F32), P("handbrake", FLAG), P("gear", I32), {0}};
PARTS vehicle_animation[] = {OF("actors", KEYED, control), {0}};
PARTS step[] = {P("speed", F32), {0}};
PARTS walker_animation[] = {{"actors", KEYED, step, "speed cm/s"}, {0}};
PARTS lights[] = {P("lights", BITS), {0}};
PARTS vehicle_light[] = {OF("actors", KEYED, lights), {0}};
PARTS scene[] = {P("intensity", F32),
                 P("red", F32),
                 P("green", F32),
                 P("blue", F32),
                 P("alpha", F32),
                 P("on", FLAG),
                 OF("type", NAMED, carla_scene_names),
                 {0}};
PARTS scene_light[] = {{"lights", KEYED_I32, scene, "intensity lm"}, {0}};
PARTS wheel[] = {P("wheel", U8), P("steering", F32), P("rotation", F32), {0}};
PARTS wheels_of[] = {OF("wheels", LIST32, wheel), {0}};
PARTS wheels[] = {{"actors", KEYED, wheels_of, "steering deg, rotation deg"}, {0}};
PARTS pedals[] = {P("speed", F32), P("engine_rotation", F32), {0}};
PARTS biker[] = {{"actors", KEYED, pedals, "speed cm/s"}, {0}};
PARTS door_of[] = {P("actor", U32), OF("door", NAMED, carla_door_names), P("open", FLAG), {0}};
PARTS door[] = {OF("doors", LIST, door_of), {0}};
PARTS sky[] = {P("cloudiness", F32),
               P("precipitation", F32),
               P("precipitation_deposits", F32),
               P("wind_intensity", F32),
               P("sun_azimuth_angle", F32),
               P("sun_altitude_angle", F32),
               P("fog_density", F32),
               P("fog_distance", F32),
               P("fog_falloff", F32),
               P("wetness", F32),
               P("scattering_intensity", F32),
               P("mie_scattering_scale", F32),
               P("rayleigh_scattering_scale", F32),
               P("dust_storm", F32),
               {0}};
PARTS weather[] = {{"weather", LIST, sky, "angles deg"}, {0}};

PARTS motion[] = {P("linear_velocity", XYZ), P("angular_velocity", XYZ), {0}};
PARTS kinematics[] = {{"actors", KEYED, motion, "linear_velocity m/s, angular_velocity deg/s"}, {0}};
PARTS box[] = {P("origin", XYZ), P("extension", XYZ), {0}};
PARTS bounding_box[] = {{"actors", KEYED, box, "origin cm, extension cm"}, {0}};
PARTS timing[] = {P("green", F32), P("yellow", F32), P("red", F32), {0}};
PARTS traffic_light_time[] = {{"actors", KEYED, timing, "s"}, {0}};
PARTS bone[] = {P("name", TEXT), P("location", XYZ), P("rotation", RPY), {0}};
PARTS bones_of[] = {OF("bones", LIST, bone), {0}};
PARTS bones[] = {{"actors", KEYED, bones_of, "location cm, rotation deg"}, {0}};

PARTS torque[] = {P("rpm", F32), P("torque", F32), {0}};
PARTS gear[] = {P("ratio", F32), P("down_ratio", F32), P("up_ratio", F32), {0}};
PARTS steer[] = {P("speed", F32), P("factor", F32), {0}};
#define WHEEL                                                                                                          \
    P("tire_friction", F32), P("damping_rate", F32), P("max_steer_angle", F32), P("radius", F32),                      \
        P("max_brake_torque", F32), P("max_handbrake_torque", F32)
PARTS wheel_36[] = {WHEEL, P("position", METRES), {0}};
PARTS wheel_48[] = {WHEEL,
                    P("lateral_stiffness_max_load", F32),
                    P("lateral_stiffness_value", F32),
                    P("longitudinal_stiffness_value", F32),
                    P("position", METRES),
                    {0}};
#define PHYSICS(wheel)                                                                                                 \
    P("max_rpm", F32), P("moi", F32), P("damping_rate_full_throttle", F32),                                            \
        P("damping_rate_zero_throttle_clutch_engaged", F32), P("damping_rate_zero_throttle_clutch_disengaged", F32),   \
        P("use_gear_autobox", FLAG), P("clutch_strength", F32), P("final_ratio", F32), P("mass", F32),                 \
        P("drag_coefficient", F32), P("center_of_mass", METRES), OF("torque_curve", LIST32, torque),                   \
        OF("forward_gears", LIST32, gear), OF("steering_curve", LIST32, steer), OF("wheels", LIST32, wheel)
PARTS car_36[] = {PHYSICS(wheel_36), {0}};
PARTS car_48[] = {PHYSICS(wheel_48), {0}};
static const uint8_t gap_2 = 2, gap_3 = 3, gap_4 = 4, gap_graph = 7 + 24;
#define UNUSED(size)                                                                                                   \
    { "padding", GAP, &(size), "" }
PARTS wheel_208[] = {P("axle_type", U8),
                     UNUSED(gap_3),
                     P("offset", METRES),
                     P("wheel_radius", F32),
                     P("wheel_width", F32),
                     P("wheel_mass", F32),
                     P("cornering_stiffness", F32),
                     P("friction_force_multiplier", F32),
                     P("side_slip_modifier", F32),
                     P("slip_threshold", F32),
                     P("skid_threshold", F32),
                     P("max_steer_angle", F32),
                     P("affected_by_steering", FLAG),
                     P("affected_by_brake", FLAG),
                     P("affected_by_handbrake", FLAG),
                     P("affected_by_engine", FLAG),
                     P("abs_enabled", FLAG),
                     P("traction_control_enabled", FLAG),
                     UNUSED(gap_2),
                     P("max_wheelspin_rotation", F32),
                     P("external_torque_combine_method", U8),
                     UNUSED(gap_graph), /* and the pointers of lateral_slip_graph, whose points are not in the file */
                     P("suspension_axis", METRES),
                     P("suspension_force_offset", METRES),
                     P("suspension_max_raise", F32),
                     P("suspension_max_drop", F32),
                     P("suspension_damping_ratio", F32),
                     P("wheel_load_ratio", F32),
                     P("spring_rate", F32),
                     P("spring_preload", F32),
                     P("suspension_smoothing", I32),
                     P("rollbar_scaling", F32),
                     P("sweep_shape", U8),
                     P("sweep_type", U8),
                     UNUSED(gap_2),
                     P("max_brake_torque", F32),
                     P("max_hand_brake_torque", F32),
                     P("wheel_index", I32),
                     P("location", METRES),
                     P("old_location", METRES),
                     P("velocity", METRES),
                     UNUSED(gap_4),
                     {0}};
PARTS car_208[] = {P("max_torque", F32),
                   P("max_rpm", F32),
                   P("idle_rpm", F32),
                   P("brake_effect", F32),
                   P("rev_up_moi", F32),
                   P("rev_down_rate", F32),
                   P("differential_type", U8),
                   P("front_rear_split", F32),
                   P("use_automatic_gears", FLAG),
                   P("gear_change_time", F32),
                   P("final_ratio", F32),
                   P("change_up_rpm", F32),
                   P("change_down_rpm", F32),
                   P("transmission_efficiency", F32),
                   P("mass", F32),
                   P("drag_coefficient", F32),
                   P("center_of_mass", METRES),
                   P("chassis_width", F32),
                   P("chassis_height", F32),
                   P("downforce_coefficient", F32),
                   P("drag_area", F32),
                   P("inertia_tensor_scale", METRES),
                   P("sleep_threshold", F32),
                   P("sleep_slope_limit", F32),
                   P("use_sweep_wheel_collision", FLAG),
                   OF("torque_curve", LIST32, torque),
                   P("forward_gear_ratios", FLOATS),
                   P("reverse_gear_ratios", FLOATS),
                   OF("steering_curve", LIST32, steer),
                   OF("wheels", LIST32, wheel_208),
                   {0}};
PARTS physics_36[] = {{"actors", KEYED, car_36, "mass kg, center_of_mass m, wheel position cm"}, {0}};
PARTS physics_208[] = {{"actors", KEYED, car_208, "mass kg"}, {0}};
PARTS physics_48[] = {{"actors", KEYED, car_48, "mass kg, center_of_mass m, wheel position cm"}, {0}};

static const struct part *const packets[CARLA_KINDS] = {
    [CARLA_FRAME_START] = frame_start,
    [CARLA_FRAME_END] = frame_end,
    [CARLA_VISUAL_TIME] = visual_time,
    [CARLA_FRAME_COUNTER] = frame_counter,
    [CARLA_EVENT_ADD] = event_add,
    [CARLA_EVENT_DEL] = event_del,
    [CARLA_EVENT_PARENT] = event_parent,
    [CARLA_COLLISION] = collision,
    [CARLA_DOOR] = door,
    [CARLA_POSITION] = position,
    [CARLA_TRAFFIC_LIGHT] = traffic_light,
    [CARLA_VEHICLE_ANIMATION] = vehicle_animation,
    [CARLA_WALKER_ANIMATION] = walker_animation,
    [CARLA_VEHICLE_LIGHT] = vehicle_light,
    [CARLA_SCENE_LIGHT] = scene_light,
    [CARLA_WHEELS] = wheels,
    [CARLA_BIKER] = biker,
    [CARLA_WEATHER] = weather,
    [CARLA_KINEMATICS] = kinematics,
    [CARLA_BOUNDING_BOX] = bounding_box,
    [CARLA_TRIGGER_VOLUME] = bounding_box,
    [CARLA_PLATFORM_TIME] = platform_time,
    [CARLA_PHYSICS] = physics_48,
    [CARLA_TRAFFIC_LIGHT_TIME] = traffic_light_time,
    [CARLA_BONES] = bones,
};

const struct part *carla_parts_of(enum carla_kind kind, unsigned wheel_bytes) {
    if (kind != CARLA_PHYSICS) {
        return packets[kind];
    }
    return wheel_bytes == CARLA_WHEEL_OLD ? physics_36 : wheel_bytes == CARLA_WHEEL_UE5 ? physics_208 : physics_48;
}
