/* Output of show_recorder_file_info, in the wording of each CARLA version. Simple records are forms in one table;
 * form_of() holds the differences between versions. */
#include <math.h>

#include "base/bytes.h"
#include "formats/carla/report.h"

/* How the records of a packet are printed. */
struct words {
    const char *head; /* printed before their number; NULL: the packet is not printed */
    const char *record;
    enum reel_carla_dialect since;
    bool always; /* else only with `all` */
};
static const struct words words[CARLA_KINDS] = {
    [CARLA_EVENT_ADD] = {"", " Create %u: ", REEL_CARLA_0_9_4, true},
    [CARLA_EVENT_DEL] = {"", " Destroy %u\n", REEL_CARLA_0_9_4, true},
    [CARLA_EVENT_PARENT] = {"", " Parenting %u with %u (parent)\n", REEL_CARLA_0_9_4, true},
    [CARLA_COLLISION] = {"", " Collision id %u between %u%12h with %8u%13h\n", REEL_CARLA_0_9_4, true},
    [CARLA_DOOR] = {" Vehicle door animations: ", "  Id: %u\n  Doors opened: %D", REEL_CARLA_0_9_16, false},
    [CARLA_POSITION] = {" Positions: ", "  Id: %u Location: %v Rotation: %v\n", REEL_CARLA_0_9_6, false},
    [CARLA_TRAFFIC_LIGHT] = {" State traffic lights: ", "  Id: %u state: %9c frozen: %4b elapsedTime: %5f\n",
                             REEL_CARLA_0_9_4, false},
    [CARLA_VEHICLE_ANIMATION] = {" Vehicle animations: ",
                                 "  Id: %u Steering: %f Throttle: %f Brake: %f Handbrake: %b Gear: %i\n",
                                 REEL_CARLA_0_9_6, false},
    [CARLA_WALKER_ANIMATION] = {" Walker animations: ", "  Id: %u speed: %f\n", REEL_CARLA_0_9_6, false},
    [CARLA_VEHICLE_LIGHT] = {" Vehicle light animations: ", "  Id: %u %L\n", REEL_CARLA_0_9_10, false},
    [CARLA_SCENE_LIGHT] = {" Scene light changes: ", "  Id: %i enabled: %24B intensity: %4f RGB_color: %w\n",
                           REEL_CARLA_0_9_10, false},
    [CARLA_KINEMATICS] = {" Dynamic actors: ", "  Id: %u linear_velocity: %v angular_velocity: %v\n", REEL_CARLA_0_9_10,
                          false},
    [CARLA_BOUNDING_BOX] = {" Actor bounding boxes: ", "  Id: %u origin: %v extension: %v\n", REEL_CARLA_0_9_10, false},
    [CARLA_TRIGGER_VOLUME] = {" Actor trigger volumes: ", "  Id: %u origin: %v extension: %v\n", REEL_CARLA_0_9_10,
                              false},
    [CARLA_PHYSICS] = {" Physics Control events: ",
                       "  Id: %u\n   max_rpm = %f\n   MOI = %f\n   damping_rate_full_throttle = %f\n   "
                       "damping_rate_zero_throttle_clutch_engaged = %f\n"
                       "   damping_rate_zero_throttle_clutch_disengaged = %f\n   use_gear_auto_box = %t\n   "
                       "gear_switch_time = 0.5\n   clutch_strength = "
                       "%f\n"
                       "   final_ratio = %f\n   mass = %f\n   drag_coefficient = %f\n   center_of_mass = %m\n",
                       REEL_CARLA_0_9_10, false},
    [CARLA_TRAFFIC_LIGHT_TIME] = {" Traffic Light time events: ",
                                  "  Id: %u green_time: %f yellow_time: %f red_time: %f\n", REEL_CARLA_0_9_10, false},
    [CARLA_BONES] = {" Walkers Bones: ", "  Id: %u\n", REEL_CARLA_0_9_14, false},
    [CARLA_WEATHER] =
        {" Weathers: ",
         "  Cloudiness: %f Precipitation: %f PrecipitationDeposits: %f WindIntensity: %f SunAzimuthAngle: %f "
         "SunAltitudeAngle: %f FogDensity: %f "
         "FogDistance: %f FogFalloff: %f Wetness: %f ScatteringIntensity: %f MieScatteringScale: %f "
         "RayleighScatteringScale: "
         "%f DustStorm: %f\n",
         REEL_CARLA_DEV_2026, true},
};

static const char *form_of(enum carla_kind kind, enum reel_carla_dialect dialect) {
    if (dialect == REEL_CARLA_0_9_4 && kind == CARLA_EVENT_PARENT) {
        return " Parenting %u with %0u (parent)\n"; /* as CARLA does: the child twice */
    }
    if (dialect < REEL_CARLA_0_9_15 && kind == CARLA_POSITION) {
        return dialect < REEL_CARLA_0_9_10 ? "  Id: %u Location %v Rotation %v\n"
                                           : "  Id: %u Location: %v Rotation %v\n";
    }
    if (dialect < REEL_CARLA_0_9_15 && kind == CARLA_VEHICLE_ANIMATION) {
        return dialect < REEL_CARLA_0_9_10 ? "  Vehicle id %u: Steering %f Throttle %f Brake %f Handbrake %b Gear %i\n"
                                           : "  Id: %u Steering: %f Throttle: %f Brake %f Handbrake: %b Gear: %i\n";
    }
    if (dialect < REEL_CARLA_0_9_10 && kind == CARLA_WALKER_ANIMATION) {
        return "  Walker id %u: speed %f\n";
    }
    return words[kind].record;
}

struct info {
    bool frame_printed, ended;
};

/* --- records of variable size --- */

static void print_added(struct grow *text, struct cursor *c, const struct carla_layout *layout) {
    struct carla_added added;
    struct reel_bytes id, value;
    if (!carla_added_read(bytes_of(c->at, cursor_left(c)), layout, &added)) {
        return;
    }
    carla_print_record(text, " Create %u: ", c, layout);
    grow_put(text, added.description.data, added.description.size);
    carla_print(text, " (");
    carla_print_number(text, added.type);
    carla_print_record(text, ") at %1v\n", c, layout);
    for (uint16_t i = 0; i < added.n_attributes && carla_attribute_read(&added.attributes, &id, &value); i++) {
        carla_print(text, "  ");
        grow_put(text, id.data, id.size);
        carla_print(text, " = ");
        grow_put(text, value.data, value.size);
        carla_print(text, "\n");
    }
}

struct point {
    float x, y;
    uint32_t position;
};
/* CARLA inserts the points of a curve into a sorted container; NaN comes last. */
static int by_x(const void *a, const void *b) {
    const struct point *p = a, *q = b;
    float x = isnan(p->x) ? INFINITY : p->x, y = isnan(q->x) ? INFINITY : q->x;
    return x != y ? (x > y) - (x < y) : (p->position > q->position) - (p->position < q->position);
}

static void print_curve(struct grow *text, const char *name, struct reel_bytes packed) {
    size_t n = packed.size / 8;
    struct point *points = calloc(n + 1, sizeof *points);
    text->failed = text->failed || !points;
    for (size_t i = 0; points && i < n; i++) {
        points[i] = (struct point){load_f32le(packed.data + 8 * i), load_f32le(packed.data + 8 * i + 4), (uint32_t)i};
    }
    if (points) {
        qsort(points, n, sizeof *points, by_x);
    }
    carla_print(text, name);
    for (size_t i = 0; points && i < n; i++) {
        carla_print(text, " (");
        carla_print_real(text, (double)points[i].x);
        carla_print(text, ", ");
        carla_print_real(text, (double)points[i].y);
        carla_print(text, ")");
    }
    carla_print(text, "\n");
    free(points);
}

static struct reel_bytes take_packed(struct cursor *c, uint64_t size) {
    uint64_t n = cursor_u32le(c);
    return cursor_bytes(c, n * size);
}

static void print_physics(struct grow *text, struct cursor *c, const struct carla_layout *layout) {
    carla_print_record(text, words[CARLA_PHYSICS].record, c, layout);
    struct reel_bytes torque = take_packed(c, 8), gears = take_packed(c, 12), steering = take_packed(c, 8),
                      wheels = take_packed(c, layout->wheel);
    struct cursor list = cursor_of(gears);
    print_curve(text, "   torque_curve =", torque);
    print_curve(text, "   steering_curve =", steering);
    carla_print(text, "   forward_gears:\n");
    for (uint32_t k = 0; !cursor_done(&list); k++) {
        carla_print(text, "    gear ");
        carla_print_number(text, k);
        carla_print_record(text, ": ratio %f down_ratio %f up_ratio %f\n", &list, layout);
    }
    list = cursor_of(wheels);
    carla_print(text, "   wheels:\n");
    for (uint32_t k = 0; !cursor_done(&list); k++) {
        struct cursor wheel = cursor_sub(&list, layout->wheel);
        carla_print(text, "    wheel ");
        carla_print_number(text, k);
        carla_print_record(text,
                           ": tire_friction %f damping_rate %f max_steer_angle %f radius %f max_brake_torque %f "
                           "max_handbrake_torque %f",
                           &wheel, layout);
        cursor_take(&wheel, layout->wheel - CARLA_WHEEL_OLD); /* stiffness is not printed */
        carla_print_record(text, " position %w\n", &wheel, layout);
    }
}

static void print_ratios(struct grow *text, const char *name, struct cursor *c, const struct carla_layout *layout) {
    struct cursor list = cursor_of(take_packed(c, 4));
    carla_print(text, name);
    for (uint32_t k = 0; !cursor_done(&list); k++) {
        carla_print(text, "    gear ");
        carla_print_number(text, k);
        carla_print_record(text, ": ratio %f\n", &list, layout);
    }
}

/* CARLA prints types as characters, here they are numbers; and of lateral_slip_graph what its pointers happen to point
 * to, if it does not crash. Numbers before a letter are offsets. */
static const char ue5_wheel[] =
    ":\n axle_type: %0n offset: %4w wheel_radius: %16f wheel_width: %20f wheel_mass: %24f cornering_stiffness: %28f "
    "friction_force_multiplier: %32f side_slip_modifier: %36f slip_threshold: %40f skid_threshold: %44f "
    "max_steer_angle: %48f affected_by_steering: %52b affected_by_brake: %53b affected_by_handbrake: %54b "
    "affected_by_engine: %55b abs_enabled: %56b traction_control_enabled: %57b max_wheelspin_rotation: %60f "
    "external_torque_combine_method: %64n lateral_slip_graph: [] suspension_axis: %96w suspension_force_offset: %108w "
    "suspension_max_raise: %120f suspension_max_drop: %124f suspension_damping_ratio: %128f wheel_load_ratio: %132f "
    "spring_rate: %136f spring_preload: %140f suspension_smoothing: %144i rollbar_scaling: %148f sweep_shape: %152n "
    "sweep_type: %153n max_brake_torque: %156f max_hand_brake_torque: %160f wheel_index: %164i location: %168w "
    "old_location: %180w velocity: %192w";

static void print_physics_ue5(struct grow *text, struct cursor *c, const struct carla_layout *layout) {
    struct cursor fixed = cursor_sub(c, CARLA_PHYSICS_UE5);
    carla_print_record(text,
                       "  Id: %u\n   max_torque = %f\n   max_rpm = %f\n   MOI = %20f\n   rev_down_rate = %f\n"
                       "   differential_type = %n\n   front_rear_split = %f\n   use_gear_auto_box = %t\n"
                       "   gear_change_time = %f\n   final_ratio = %f\n   change_up_rpm = %f\n"
                       "   change_down_rpm = %f\n   transmission_efficiency = %f\n   mass = %f\n"
                       "   drag_coefficient = %f\n   center_of_mass = %w\n",
                       &fixed, layout);
    print_curve(text, "   torque_curve =", take_packed(c, 8));
    struct cursor ratios = *c;
    take_packed(c, 4);
    take_packed(c, 4);
    print_curve(text, "   steering_curve =", take_packed(c, 8));
    print_ratios(text, "   forward_gear_ratios:\n", &ratios, layout);
    print_ratios(text, "   reverse_gear_ratios:\n", &ratios, layout);
    struct cursor wheels = cursor_of(take_packed(c, CARLA_WHEEL_UE5));
    carla_print(text, "   wheels:");
    for (uint32_t k = 0; !cursor_done(&wheels); k++) {
        struct cursor wheel = cursor_sub(&wheels, CARLA_WHEEL_UE5);
        carla_print(text, "\nwheel #");
        carla_print_number(text, k);
        carla_print_record(text, ue5_wheel, &wheel, layout);
    }
    carla_print(text, "\n");
}

static void print_bones(struct grow *text, struct cursor *c, const struct carla_layout *layout) {
    carla_print_record(text, words[CARLA_BONES].record, c, layout);
    uint16_t n = cursor_u16le(c);
    for (uint16_t i = 0; i < n && !c->failed; i++) {
        carla_print_record(text, "     Bone: \"%s\" relative: Loc%v Rot%v\n", c, layout);
    }
}

/* --- packets --- */

static void print_frame(struct reel_carla *pass) {
    struct info *info = pass->state;
    info->frame_printed = true;
    carla_print(&pass->text, "Frame ");
    carla_print_number(&pass->text, pass->frame.id);
    carla_print(&pass->text, " at ");
    carla_print_real(&pass->text, carla_now(pass));
    carla_print(&pass->text, " seconds\n");
}

static void print_records(struct reel_carla *pass, const struct carla_packet *p) {
    struct grow *text = &pass->text;
    const char *form = form_of(p->kind, pass->question.dialect);
    struct cursor c = carla_records(p->kind, p->data);
    struct reel_bytes record;
    for (uint32_t i = 0; i < p->total && carla_record(p->kind, &p->layout, &c, &record); i++) {
        struct cursor r = cursor_of(record);
        if (p->kind == CARLA_EVENT_ADD) {
            print_added(text, &r, &p->layout);
        } else if (p->kind == CARLA_PHYSICS) {
            (p->layout.wheel == CARLA_WHEEL_UE5 ? print_physics_ue5 : print_physics)(text, &r, &p->layout);
        } else if (p->kind == CARLA_BONES) {
            print_bones(text, &r, &p->layout);
        } else {
            carla_print_record(text, form, &r, &p->layout);
        }
    }
}

/* What version 0.9.4 prints for unknown packets. */
static void print_unknown(struct reel_carla *pass, const struct carla_packet *p) {
    carla_print(&pass->text, "Unknown packet id: ");
    grow_put(&pass->text, &p->id, 1);
    carla_print(&pass->text, " at offset ");
    carla_print_number(&pass->text, p->offset);
    carla_print(&pass->text, "\n");
}

static bool carla_report_info_packet(struct reel_carla *pass, const struct carla_packet *p, struct reel_error *err) {
    struct info *info = pass->state;
    const struct words *w = &words[p->kind];
    enum reel_carla_dialect dialect = pass->question.dialect;
    struct cursor c = cursor_of(p->data);
    (void)err;
    if (p->kind == CARLA_FRAME_START) {
        info->frame_printed = false;
        if (pass->question.all && dialect != REEL_CARLA_0_9_4) {
            print_frame(pass);
        }
    } else if (p->kind == CARLA_FRAME_END) {
        info->ended = true;
        carla_print(&pass->text, dialect == REEL_CARLA_DEV_2026 ? "\n" : "");
    } else if (p->id > 7 && dialect == REEL_CARLA_0_9_4) {
        print_unknown(pass, p);
    } else if (p->kind == CARLA_PLATFORM_TIME) {
        carla_print_record(&pass->text, " Current platform time: %g\n", &c, &p->layout);
    } else if (w->head) {
        if (p->total > 0 && !info->frame_printed) {
            print_frame(pass);
        }
        if (w->head[0] != '\0') {
            carla_print(&pass->text, w->head);
            carla_print_number(&pass->text, cursor_u16le(&c));
            carla_print(&pass->text, "\n");
        }
        print_records(pass, p);
        bool ruled = p->kind == CARLA_BONES && dialect < REEL_CARLA_DEV_2026;
        carla_print(&pass->text, ruled ? "\n" : "");
    }
    return true;
}

static bool carla_report_info_needs(const struct reel_carla *pass, enum carla_kind kind) {
    const struct words *w = &words[kind];
    enum reel_carla_dialect dialect = pass->question.dialect;
    bool unknown = dialect == REEL_CARLA_0_9_4 && (kind == CARLA_UNKNOWN || carla_facts[kind].id > 7);
    if (kind == CARLA_FRAME_START || (kind == CARLA_FRAME_END && dialect == REEL_CARLA_DEV_2026) || unknown) {
        return true;
    }
    if (kind == CARLA_PLATFORM_TIME) {
        return pass->question.all && dialect >= REEL_CARLA_0_9_10;
    }
    return w->head && dialect >= w->since && (w->always || pass->question.all);
}

static bool carla_report_info_begin(struct reel_carla *pass, struct reel_error *err) {
    (void)err;
    carla_print_start(pass);
    return true;
}

/* The version of 2026 sees the end of the last frame twice. */
static bool carla_report_info_end(struct reel_carla *pass, bool *more, struct reel_error *err) {
    const struct info *info = pass->state;
    (void)err;
    *more = false;
    carla_print(&pass->text, info->ended && pass->question.dialect == REEL_CARLA_DEV_2026 ? "\n" : "");
    carla_print_end(pass, false);
    return true;
}

static void carla_report_info_free_state(void *state) {
    (void)state;
}

const struct carla_question carla_info = {.needs = carla_report_info_needs,
                                          .begin = carla_report_info_begin,
                                          .packet = carla_report_info_packet,
                                          .end = carla_report_info_end,
                                          .free = carla_report_info_free_state,
                                          .state_size = sizeof(struct info)};
