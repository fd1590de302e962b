/* The questions of CARLA's tools asked of made logs: what no sample shows. The texts of real ones are compared in
 * carla_texts.c. */
#include "base/cleanup.h"
#include "decode/encoding.h"
#include "makers/carla_query.h"
#include "makers/carla_scan.h"

#define NEW (&make_styles[6])  /* every packet there is */
#define BARE (&make_styles[1]) /* 0.9.6: no kinematics */
#define START "Version: 1\nMap: Town05\nDate: 09/13/20 12:26:40\n\n"

enum { TEXT = -1 };

static struct reel_carla_question about(enum reel_carla_topic topic) {
    return reel_carla_question(topic);
}
static struct reel_carla_question info_in(const char *dialect, bool all) {
    struct reel_carla_question q = reel_carla_question(REEL_CARLA_INFO);
    struct reel_error err = {0};
    assert_true(reel_carla_dialect_named(dialect, &q.dialect, &err));
    q.all = all;
    return q;
}
static const char *answer_of(const struct maker *m, struct reel_carla_question q, int form) {
    RECORDING *r = carla_read(m);
    return carla_query(r, &q, form);
}
static void assert_part(const char *text, const char *part) {
    if (!strstr(text, part)) {
        fail_msg("no \"%s\" in:\n%s", part, text);
    }
}
static void assert_no_part(const char *text, const char *part) {
    if (strstr(text, part)) {
        fail_msg("\"%s\" in:\n%s", part, text);
    }
}

/* --- info --- */

static void what_happened(void **state) {
    (void)state;
    MAKER m = make_world(BARE, 4);
    assert_string_equal(
        answer_of(&m, about(REEL_CARLA_INFO), TEXT), START
        "Frame 1 at 0 seconds\n Create 1: spectator (0) at (10, 2, 3)\n Create 2: traffic.traffic_light (3) at (20, 2, "
        "3)\n"
        " Create 24: vehicle.tesla.model3 (1) at (30, 2, 3)\n  number_of_wheels = 4\n  role_name = hero\n"
        " Create 25: vehicle.diamondback.century (1) at (40, 2, 3)\n  number_of_wheels = 4\n  role_name = autopilot "
        "\xc3\xa9t\xc3\xa9\n"
        "Frame 2 at 0.125 seconds\n Create 26: walker.pedestrian.0001 (2) at (50, 2, 3)\n Create 27: sensor.camera.rgb "
        "(5) at (1, 2, 3)\n"
        " Parenting 27 with 24 (parent)\nFrame 3 at 0.25 seconds\n Collision id 7 between 24 (hero)  with 4294967295\n"
        "Frame 4 at 0.375 seconds\n Destroy 26\n\nFrames: 4\nDuration: 0.375 seconds\n");
    assert_string_equal(answer_of(&m, about(REEL_CARLA_INFO), REEL_TABLE_CSV),
                        "time_s,frame,event,actor,other,type,description,x_m,y_m,z_m,collision,hero,other_hero\r\n"
                        "0,1,created,1,,other,spectator,0.1,0.02,0.03,,,\r\n"
                        "0,1,created,2,,traffic_light,traffic.traffic_light,0.2,0.02,0.03,,,\r\n"
                        "0,1,created,24,,vehicle,vehicle.tesla.model3,0.3,0.02,0.03,,,\r\n"
                        "0,1,created,25,,vehicle,vehicle.diamondback.century,0.4,0.02,0.03,,,\r\n"
                        "0.125,2,created,26,,walker,walker.pedestrian.0001,0.5,0.02,0.03,,,\r\n"
                        "0.125,2,created,27,,unknown,sensor.camera.rgb,0.01,0.02,0.03,,,\r\n"
                        "0.125,2,attached,27,24,,,,,,,,\r\n"
                        "0.25,3,collided,24,,,,,,,7,true,false\r\n"
                        "0.375,4,destroyed,26,,,,,,,,,\r\n");
}

static void the_first_versions_words(void **state) {
    (void)state;
    MAKER m = make_world(BARE, 2);
    const char *text = answer_of(&m, info_in("0.9.5", true), TEXT);
    assert_part(text, " Parenting 27 with 27 (parent)\n");
    assert_part(text, " State traffic lights: 1\n  Id: 2 state: 1 frozen: 0 elapsedTime: 1\n");
    assert_part(text, "Unknown packet id: \x08 at offset "); /* the byte itself */
    assert_no_part(text, "Positions");
    assert_no_part(answer_of(&m, info_in("0.9.6", true), TEXT), "Unknown");
}

static void words_change_with_versions(void **state) {
    (void)state;
    MAKER m = make_world(NEW, 4);
    static const struct {
        const char *dialect, *has[3], *has_not[3];
    } rows[] = {
        {"0.9.9",
         {"  Id: 24 Location (100, 5, 6) Rotation (1, 2, 3)\n", "  Vehicle id 24: Steering ",
          "  Walker id 26: speed 140\n"},
         {" Vehicle light", "Bones"}},
        {"0.9.13",
         {"  Id: 24 Location: (100, 5, 6) Rotation (1, 2, 3)\n", " Throttle: 0.5 Brake 0 Handbrake: 0 Gear: -1\n",
          "  Id: 26 speed: 140\n"},
         {"Bones", "door"}},
        {"0.9.14",
         {" Walkers Bones: 0\n\nFrame 2 at",
          "     Bone: \"crl_root\" relative: Loc(1, 1, 1) Rot(2, 2, 2)\n     Bone: \"\" relative"},
         {"door", "Weathers"}},
        {"0.9.15", {"  Id: 24 Location: (100, 5, 6) Rotation: (1, 2, 3)\n", " Brake: 0 "}, {"door", "Weathers"}},
        {"0.9.16",
         {" Vehicle door animations: 1\n  Id: 24\n  Doors opened:  Front Left \n Positions: 2\n", " Brake: 0 "},
         {"Weathers"}},
        {"0.10", {"Doors opened:  Trunk \n"}, {"Weathers"}},
        {"dev2026",
         {" Weathers: 1\n  Cloudiness: 10 Precipitation: 11 ", "DustStorm: 23\n", "\n\nFrame 2 at 0.125 seconds\n"},
         {"Unknown"}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *text = answer_of(&m, info_in(rows[i].dialect, true), TEXT);
        for (size_t k = 0; k < 3; k++) {
            if (rows[i].has[k]) {
                assert_part(text, rows[i].has[k]);
            }
            if (rows[i].has_not[k]) {
                assert_no_part(text, rows[i].has_not[k]);
            }
        }
    }
    struct reel_carla_question q;
    struct reel_error err = {0};
    assert_false(reel_carla_dialect_named("0.9.99", &q.dialect, &err));
    assert_int_equal(err.code, REEL_ARGUMENT);
}

static void a_cut_log_ends_after_its_last_whole_packet(void **state) {
    (void)state;
    MAKER m = make_world(BARE, 2);
    make_start(&m, 3, -1, 0.25);
    make_raw(&m, 3, "\1\0\1"); /* does not end with its records */
    make_packet(&m, 6);
    make_patch(&m, m.size - 4, 1000, 4);
    make_number(&m, 5, 2);
    const char *text = answer_of(&m, info_in("0.9.15", true), TEXT);
    assert_part(text, "Frame 3 at 0.25 seconds\n\nFrames: 3\nDuration: 0.25 seconds\n");
    MAKER none = {0};
    make_header(&none, 1, MAKE_DATE, MAKE_MAP);
    assert_string_equal(answer_of(&none, about(REEL_CARLA_INFO), TEXT), START "\nFrames: 0\nDuration: 0 seconds\n");
}

/* --- collisions --- */

static void begin_frame(struct maker *m, unsigned frame) {
    make_start(m, frame, 0.5, 0.5 * (frame - 1));
}
static void hit(struct maker *m, uint32_t a, uint32_t b, bool hero) {
    size_t p = make_packet(m, 5);
    make_number(m, 1, 2);
    make_number(m, 40, 4);
    make_number(m, a, 4);
    make_number(m, b, 4);
    make_number(m, hero, 2);
    make_close(m, p);
}
static void add(struct maker *m, uint32_t id, uint8_t type, const char *name) {
    size_t p = make_packet(m, 2);
    make_number(m, 1, 2);
    make_actor(m, BARE, id, type, 0, name, NULL);
    make_close(m, p);
}
static void forget(struct maker *m, uint32_t id) {
    size_t p = make_packet(m, 3);
    make_number(m, 1, 2);
    make_number(m, id, 4);
    make_close(m, p);
}

static void only_the_begin_of_a_collision(void **state) {
    (void)state;
    MAKER m = {0};
    make_header(&m, 1, MAKE_DATE, MAKE_MAP);
    for (unsigned frame = 1; frame <= 5; frame++) {
        begin_frame(&m, frame);
        if (frame == 1) {
            add(&m, 7, 1, "car");
            add(&m, 8, 4, "traffic.stop");
        }
        if (frame != 4) { /* frames 1, 2, 3 are one collision, 5 another */
            hit(&m, 7, 8, false);
        }
        make_end(&m);
    }
    const char *text = answer_of(&m, about(REEL_CARLA_COLLISIONS), TEXT);
    assert_string_equal(
        text,
        START "    Time  Types     Id Actor 1                                 Id Actor 2                            \n"
              "       0   v h       7 car                                      8 traffic.stop                       \n"
              "       2   v h       7 car                                      8 traffic.stop                       \n"
              "\nFrames: 5\nDuration: 2 seconds\n");
    assert_string_equal(answer_of(&m, about(REEL_CARLA_COLLISIONS), REEL_TABLE_NDJSON),
                        "{\"time_s\":0,\"frame\":1,\"collision\":40,\"actor1\":7,\"type1\":\"vehicle\","
                        "\"description1\":\"car\",\"hero1\":"
                        "false,\"actor2\":8,"
                        "\"type2\":\"invalid\",\"description2\":\"traffic.stop\",\"hero2\":false}\n"
                        "{\"time_s\":2,\"frame\":5,\"collision\":40,\"actor1\":7,\"type1\":\"vehicle\","
                        "\"description1\":\"car\",\"hero1\":"
                        "false,\"actor2\":8,"
                        "\"type2\":\"invalid\",\"description2\":\"traffic.stop\",\"hero2\":false}\n");
    struct reel_carla_question q = about(REEL_CARLA_COLLISIONS);
    q.type1 = 'h'; /* no hero among the first */
    assert_part(answer_of(&m, q, TEXT), "Actor 2                            \n\nFrames: 5\nDuration: 2 seconds\n");
}

static void deletions_in_text_and_in_rows(void **state) {
    (void)state;
    MAKER m = {0};
    make_header(&m, 1, MAKE_DATE, MAKE_MAP);
    begin_frame(&m, 1);
    add(&m, 7, 1, "car");
    add(&m, 8, 2, "walker");
    forget(&m, 7); /* CARLA forgets the walker */
    hit(&m, 7, 8, true);
    make_end(&m);
    assert_part(
        answer_of(&m, about(REEL_CARLA_COLLISIONS), TEXT),
        "       0   v o       7 car                                      8                                    \n");
    assert_part(answer_of(&m, about(REEL_CARLA_COLLISIONS), REEL_TABLE_CSV),
                "0,1,40,7,vehicle,car,true,8,walker,walker,false\r\n");
}

/* --- blocked --- */

static void move_all(struct maker *m, float car, float walker) {
    size_t p = make_packet(m, 6);
    make_number(m, 2, 2);
    make_moved(m, BARE, 7, car);
    make_moved(m, BARE, 8, walker);
    make_close(m, p);
}

static void who_stood_still(void **state) {
    (void)state;
    MAKER m = {0};
    static const float car[] = {1000, 1000, 1000, 1000, 5000, 9000}, walker[] = {500, 900, 905, 901, 899, 900};
    make_header(&m, 1, MAKE_DATE, MAKE_MAP);
    for (unsigned frame = 1; frame <= 6; frame++) {
        make_start(&m, frame, frame == 6 ? -1 : 10, 10.0 * (frame - 1));
        if (frame == 1) {
            add(&m, 7, 1, "car");
            add(&m, 8, 2, "walker");
        }
        move_all(&m, car[frame - 1], walker[frame - 1]);
        make_end(&m);
    }
    assert_string_equal(answer_of(&m, about(REEL_CARLA_BLOCKED), TEXT),
                        START "    Time     Id Actor                                 Duration\n"
                              "      10      7 car                                         30\n"
                              "\nFrames: 6\nDuration: 50 seconds\n");
    struct reel_carla_question q = about(REEL_CARLA_BLOCKED);
    q.min_time_s = 29; /* the walker stands for 10+10+10-1 s in CARLA's count */
    assert_part(answer_of(&m, q, TEXT), "      10      7 car                                         30\n"
                                        "      20      8 walker                                      29\n");
    assert_string_equal(
        answer_of(&m, q, REEL_TABLE_CSV),
        "actor,type,description,since_s,duration_s\r\n7,vehicle,car,10,30\r\n8,walker,walker,20,30\r\n");
    q.min_distance_cm = 1;
    assert_no_part(answer_of(&m, q, TEXT), "walker");
}

/* --- actors and their ways --- */

static void who_was_there(void **state) {
    (void)state;
    MAKER m = make_world(NEW, 4);
    assert_string_equal(
        answer_of(&m, about(REEL_CARLA_ACTORS), REEL_TABLE_CSV),
        "actor,type,description,role_name,parent,first_time_s,last_time_s,destroyed,x_m,y_m,z_m,roll_deg,pitch_deg,yaw_"
        "deg,attributes\r\n"
        "1,other,spectator,,,0,0.375,false,0.1,0.02,0.03,0,0,90,{}\r\n"
        "2,traffic_light,traffic.traffic_light,,,0,0.375,false,0.2,0.02,0.03,0,0,90,{}\r\n"
        "24,vehicle,vehicle.tesla.model3,hero,,0,0.375,false,0.3,0.02,0.03,0,0,90,\"{\"\"number_of_wheels\"\":"
        "\"\"4\"\",\"\"role_name\"\":"
        "\"\"hero\"\"}\"\r\n"
        "25,vehicle,vehicle.diamondback.century,autopilot \xc3\xa9t\xc3\xa9,,0,0.375,false,0.4,0.02,0.03,0,0,90,"
        "\"{\"\"number_of_wheels\"\":\"\"4\"\",\"\"role_name\"\":\"\"autopilot \xc3\xa9t\xc3\xa9\"\"}\"\r\n"
        "26,walker,walker.pedestrian.0001,,,0.125,0.375,true,0.5,0.02,0.03,0,0,90,{}\r\n"
        "27,sensor,sensor.camera.rgb,,24,0.125,0.375,false,0.01,0.02,0.03,0,0,90,{}\r\n");
    assert_part(answer_of(&m, about(REEL_CARLA_ACTORS), TEXT), "error 3: ");
}

static struct reel_carla_question way_of(uint32_t actor, bool ros) {
    struct reel_carla_question q = about(REEL_CARLA_TRAJECTORY);
    q.actor = actor;
    q.ros_frame = ros;
    return q;
}
#define WAY                                                                                                            \
    "time_s,frame,x_m,y_m,z_m,roll_deg,pitch_deg,yaw_deg,speed_m_s,vx_m_s,vy_m_s,vz_m_s,speed_from,"                   \
    "acceleration_m_s2,ax_m_s2,ay_m_s2,az_m_s2\r\n"

static void the_way_of_an_actor(void **state) {
    (void)state;
    MAKER recorded = make_world(NEW, 4);
    assert_string_equal(answer_of(&recorded, way_of(26, false), REEL_TABLE_CSV),
                        WAY "0.125,2,2.02,0.05,0.06,1,2,3,202.15094,202,5,6,recorded,,,,\r\n"
                            "0.25,3,3.02,0.05,0.06,1,2,3,302.10098,302,5,6,recorded,800,800,0,0\r\n");
    assert_string_equal(answer_of(&recorded, way_of(26, true), REEL_TABLE_CSV),
                        WAY "0.125,2,2.02,-0.05,0.06,1,-2,-3,202.15094,202,-5,6,recorded,,,,\r\n"
                            "0.25,3,3.02,-0.05,0.06,1,-2,-3,302.10098,302,-5,6,recorded,800,800,0,0\r\n");
    MAKER bare = make_world(BARE, 3);
    assert_string_equal(answer_of(&bare, way_of(24, true), REEL_TABLE_CSV),
                        WAY "0,1,1,-0.05,0.06,1,-2,-3,,,,,,,,,\r\n"
                            "0.125,2,2,-0.05,0.06,1,-2,-3,8,8,0,0,difference,,,,\r\n"
                            "0.25,3,3,-0.05,0.06,1,-2,-3,8,8,0,0,difference,0,0,0,0\r\n");
    assert_string_equal(answer_of(&bare, way_of(2, false), REEL_TABLE_CSV), WAY); /* a traffic light does not move */
    assert_string_equal(answer_of(&bare, way_of(999, false), REEL_TABLE_JSON),
                        "error 6: no actor 999 is in this recording");
}

static void doubles_keep_their_digits(void **state) {
    (void)state;
    MAKER m = make_world(&make_styles[7], 1);
    assert_part(answer_of(&m, way_of(24, false), REEL_TABLE_CSV), "0,1,1,0.05,0.06,1,2,3,");
}

static void physics_of_ue5_are_printed(void **state) {
    (void)state;
    MAKER m = make_world(&make_styles[7], 1);
    const char *text = answer_of(&m, info_in("0.10", true), TEXT);
    assert_part(text, " Physics Control events: 1\n  Id: 24\n   max_torque = 10\n   max_rpm = 11\n   MOI = 14\n"
                      "   rev_down_rate = 15\n   differential_type = 2\n   front_rear_split = 0.5\n"
                      "   use_gear_auto_box = true\n   gear_change_time = 20\n   final_ratio = 21\n"
                      "   change_up_rpm = 22\n   change_down_rpm = 23\n   transmission_efficiency = 24\n"
                      "   mass = 1000\n   drag_coefficient = 26\n   center_of_mass = (27, 28, 29)\n"
                      "   torque_curve = (1, 1) (2, 2)\n   steering_curve =\n   forward_gear_ratios:\n"
                      "    gear 0: ratio 2.85\n    gear 1: ratio 2.02\n    gear 2: ratio 1.35\n"
                      "   reverse_gear_ratios:\n    gear 0: ratio -2.86\n   wheels:\nwheel #0:\n axle_type: 0 "
                      "offset: (0.5, 1.5, 2.5) wheel_radius: 3.5 ");
    assert_part(text, " affected_by_handbrake: 0 affected_by_engine: 1 abs_enabled: 0 traction_control_enabled: 1 "
                      "max_wheelspin_rotation: 30 external_torque_combine_method: 1 lateral_slip_graph: [] "
                      "suspension_axis: (100, 101, 102) suspension_force_offset: (103, 104, 105) ");
    assert_part(text, " suspension_smoothing: -2 rollbar_scaling: 0.25 sweep_shape: 1 sweep_type: 2 "
                      "max_brake_torque: 1500 max_hand_brake_torque: 3000 wheel_index: 1 location: (200, 201, 202) "
                      "old_location: (203, 204, 205) velocity: (206, 207, 208)\n Traffic Light time events: ");
}

static void a_gap_or_another_actor_gives_no_speed(void **state) {
    (void)state;
    MAKER m = {0};
    make_header(&m, 1, MAKE_DATE, MAKE_MAP);
    for (unsigned frame = 1; frame <= 6; frame++) {
        begin_frame(&m, frame);
        if (frame == 1 || frame == 5) {
            add(&m, 7, 1, "car");
        }
        if (frame != 3) {
            move_all(&m, 100.0f * (float)frame, 0);
        }
        make_end(&m);
    }
    assert_string_equal(answer_of(&m, way_of(7, false), REEL_TABLE_CSV),
                        WAY "0,1,1,0.05,0.06,1,2,3,,,,,,,,,\r\n"
                            "0.5,2,2,0.05,0.06,1,2,3,2,2,0,0,difference,,,,\r\n"
                            "1.5,4,4,0.05,0.06,1,2,3,,,,,,,,,\r\n"
                            "2,5,5,0.05,0.06,1,2,3,,,,,,,,,\r\n"
                            "2.5,6,6,0.05,0.06,1,2,3,2,2,0,0,difference,,,,\r\n");
}

/* --- the state --- */

static void doors_that_are_open(void **state) {
    (void)state;
    struct reel_carla_question q = reel_carla_question(REEL_CARLA_STATE);
    MAKER m = {0};
    make_header(&m, 2, MAKE_DATE, MAKE_MAP);
    for (unsigned frame = 1; frame <= 3; frame++) {
        make_start(&m, frame, frame == 3 ? -1 : 1, frame - 1);
        make_none(&m, 20);
        size_t p = make_packet(&m, 2);
        make_number(&m, frame == 1 ? 2 : 0, 2);
        if (frame == 1) {
            make_actor(&m, &make_styles[5], 24, 1, 30, "car", NULL);
            make_actor(&m, &make_styles[5], 25, 1, 30, "van", NULL);
        }
        make_close(&m, p);
        p = make_packet(&m, 6);
        make_number(&m, 1, 2);
        make_moved(&m, &make_styles[5], 24, 100);
        make_close(&m, p);
        p = make_packet(&m, 23);
        make_number(&m, 2, 2);
        make_number(&m, 24, 4);
        make_number(&m, 0, 1); /* front left: closed in the third frame */
        make_number(&m, frame < 3, 1);
        make_number(&m, 24, 4);
        make_number(&m, 5, 1); /* the trunk: opened in the second */
        make_number(&m, frame > 1, 1);
        make_close(&m, p);
        make_end(&m);
    }
    static const char *const open[] = {"[\"Front Left\"]", "[\"Front Left\",\"Trunk\"]", "[\"Trunk\"]"};
    for (int i = 0; i < 3; i++) {
        char part[80];
        q.at_ns = MAKE_DATE * 1000000000 + i * INT64_C(1000000000);
        snprintf(part, sizeof part, "\"doors_open\":%s", open[i]);
        assert_part(answer_of(&m, q, REEL_TABLE_NDJSON), part);
        assert_part(answer_of(&m, q, REEL_TABLE_NDJSON), "\"doors_open\":null");
    }
}

/* --- moments --- */

static void moments_are_events(void **state) {
    (void)state;
    struct reel_carla_question q = reel_carla_question(REEL_CARLA_MOMENTS);
    MAKER m = make_world(BARE, 4);
    assert_string_equal(
        answer_of(&m, q, REEL_TABLE_CSV),
        "start_ns,end_ns,title,kind,actor,type,description,other,other_type,other_description,state\r\n"
        "1600000000125000000,1600000000125000000,Added: walker.pedestrian.0001 "
        "26,added,26,walker,walker.pedestrian.0001"
        ",,,,\r\n"
        "1600000000125000000,1600000000125000000,Added: sensor.camera.rgb 27,added,27,unknown,sensor.camera.rgb,,,,\r\n"
        "1600000000125000000,1600000000125000000,Traffic light 2: green,traffic_light,2,,,,,,green\r\n"
        "1600000000250000000,1600000000250000000,Collision of vehicle.tesla.model3 24 with something else,collision,24,"
        "vehicle,vehicle.tesla.model3,,,,\r\n"
        "1600000000250000000,1600000000250000000,Traffic light 2: off,traffic_light,2,,,,,,off\r\n"
        "1600000000375000000,1600000000375000000,Removed: walker.pedestrian.0001 26,removed,26,walker,"
        "walker.pedestrian.0001,,,,\r\n"
        "1600000000375000000,1600000000375000000,Traffic light 2: red,traffic_light,2,,,,,,red\r\n");
}

/* Frames of 1 s: a car and a walker that stand, a light that changes. */
static void lights_and_blocked_vehicles(void **state) {
    (void)state;
    MAKER m = {0};
    make_header(&m, 1, MAKE_DATE, MAKE_MAP);
    for (unsigned frame = 1; frame <= 40; frame++) {
        make_start(&m, frame, frame == 40 ? -1 : 1, frame - 1);
        size_t p = make_packet(&m, 2);
        make_number(&m, frame == 1 ? 2 : 0, 2);
        if (frame == 1) {
            make_actor(&m, BARE, 24, 1, 30, "vehicle.tesla.model3", "hero");
            make_actor(&m, BARE, 9, 2, 30, "walker.pedestrian.0001", NULL);
        }
        make_close(&m, p);
        p = make_packet(&m, 6);
        make_number(&m, 2, 2);
        make_moved(&m, BARE, 24, frame <= 3 ? 100.0f * (float)frame : 300);
        make_moved(&m, BARE, 9, 7);
        make_close(&m, p);
        p = make_packet(&m, 7);
        make_number(&m, 1, 2);
        make_number(&m, 5, 4);
        make_number(&m, 0, 1);
        make_f32(&m, 0);
        make_number(&m, frame < 10 ? 0 : frame == 10 ? 1 : 2, 1);
        make_close(&m, p);
        make_end(&m);
    }
    assert_string_equal(
        answer_of(&m, reel_carla_question(REEL_CARLA_MOMENTS), REEL_TABLE_CSV),
        "start_ns,end_ns,title,kind,actor,type,description,other,other_type,other_description,state\r\n"
        "1600000009000000000,1600000009000000000,Traffic light 5: yellow,traffic_light,5,,,,,,yellow\r\n"
        "1600000010000000000,1600000010000000000,Traffic light 5: green,traffic_light,5,,,,,,green\r\n"
        "1600000003000000000,1600000039000000000,Blocked: vehicle.tesla.model3 24,blocked,24,vehicle,"
        "vehicle.tesla.model3,,,,\r\n");
}

/* --- lists without items --- */

static uint64_t counted(struct reel_recording *r, const char *topic, bool filled) {
    const struct reel_index *index = reel_recording_index(r);
    const struct reel_index_info *info = reel_index_info(index);
    struct reel_span spans[2] = {{0}};
    struct reel_channel_stats stats;
    struct reel_error err = {0};
    uint32_t i = 0;
    while (i < info->n_channels && strcmp(reel_index_channel(index, i)->name, topic) != 0) {
        i++;
    }
    assert_true(i < info->n_channels);
    uint32_t least = filled ? reel_channel_least_filled(reel_index_channel(index, i)) : 0;
    uint64_t width_ns = (uint64_t)(info->end_ns - info->start_ns) + 1;
    assert_true(index_coverage_from(index, i, least, info->start_ns, width_ns, spans, 2, &err));
    assert_true(index_stats_from(index, i, least, &stats, &err));
    assert_int_equal(spans[0].count, stats.count);
    assert_true(stats.count == 0 || (spans[0].first_ns == stats.first_ns && spans[0].last_ns == stats.last_ns));
    return stats.count;
}

static void lists_without_items_do_not_count(void **state) {
    (void)state;
    MAKER m = make_world(BARE, 4);
    RECORDING *r = carla_read(&m);
    static const struct {
        const char *topic;
        uint64_t all, filled;
    } rows[] = {{"/collision", 4, 1}, {"/event/add", 4, 2}, {"/event/del", 4, 1},
                {"/position", 4, 4},  {"/frame", 4, 4},     {"/event/parent", 4, 1}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_int_equal(counted(r, rows[i].topic, false), rows[i].all);
        assert_int_equal(counted(r, rows[i].topic, true), rows[i].filled);
    }
}

/* --- asking --- */

static void what_makes_no_sense(void **state) {
    (void)state;
    MAKER m = make_world(BARE, 1);
    struct reel_carla_question q = about(REEL_CARLA_COLLISIONS);
    q.type2 = 'x';
    assert_part(answer_of(&m, q, TEXT), "error 5: a type of actor is one of");
    q = about(REEL_CARLA_BLOCKED);
    q.min_time_s = -1;
    assert_part(answer_of(&m, q, TEXT), "error 5: the least time");
}

static bool put_little(void *context, const char *text, size_t size) {
    unsigned *calls = context;
    (void)text;
    (void)size;
    return ++*calls < 3;
}
static void a_sink_may_have_enough(void **state) {
    (void)state;
    MAKER m = make_world(NEW, 400);
    RECORDING *r = carla_read(&m);
    unsigned calls = 0;
    const struct reel_text_sink sink = {.put = put_little, .context = &calls};
    struct reel_carla_question q = info_in("0.9.16", true);
    struct reel_error err = {0};
    bool done = false;
    AUTO(reel_carla_free) struct reel_carla *pass = reel_carla_open(r, &q, &sink, NULL, &err);
    assert_non_null(pass);
    while (!done && reel_carla_step(pass, &done, &err)) {
    }
    assert_int_equal(calls, 3); /* a step is a small part of 400 frames */
    assert_int_equal(err.code, REEL_CANCELLED);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_happened),
        cmocka_unit_test(the_first_versions_words),
        cmocka_unit_test(words_change_with_versions),
        cmocka_unit_test(a_cut_log_ends_after_its_last_whole_packet),
        cmocka_unit_test(only_the_begin_of_a_collision),
        cmocka_unit_test(deletions_in_text_and_in_rows),
        cmocka_unit_test(who_stood_still),
        cmocka_unit_test(who_was_there),
        cmocka_unit_test(the_way_of_an_actor),
        cmocka_unit_test(doubles_keep_their_digits),
        cmocka_unit_test(physics_of_ue5_are_printed),
        cmocka_unit_test(a_gap_or_another_actor_gives_no_speed),
        cmocka_unit_test(doors_that_are_open),
        cmocka_unit_test(moments_are_events),
        cmocka_unit_test(lights_and_blocked_vehicles),
        cmocka_unit_test(lists_without_items_do_not_count),
        cmocka_unit_test(what_makes_no_sense),
        cmocka_unit_test(a_sink_may_have_enough),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
