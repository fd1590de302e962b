/* Makes the inputs of golden/carla, one quirk each, and nothing else: `make_carla FOLDER` writes FOLDER/CASE/input.log,
 * `make_carla --check FOLDER` compares with what is there. README.md describes each case. Shares no code with the
 * reader. */
#include "makers/carla_maker.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <sys/stat.h>

enum { V094, V096, V0910, V0914, V0915, V0916, V2026, UE5 };

static struct maker world(unsigned style, unsigned frames) {
    return make_world(&make_styles[style], frames);
}
static void begin(struct maker *m) {
    make_header(m, 1, MAKE_DATE, MAKE_MAP);
}

/* --- versions --- */

static void version_094(struct maker *m) {
    *m = world(V094, 3);
}
static void version_096(struct maker *m) {
    *m = world(V096, 3);
}
static void version_0910(struct maker *m) {
    *m = world(V0910, 4);
}
static void version_0914(struct maker *m) {
    *m = world(V0914, 3);
}
static void version_0915(struct maker *m) {
    *m = world(V0915, 3);
}
static void version_0916(struct maker *m) {
    *m = world(V0916, 3);
}
static void version_2026(struct maker *m) {
    *m = world(V2026, 5);
}
static void version_ue5(struct maker *m) {
    *m = world(UE5, 3);
}
/* ue4-dev between November 2023 and March 2025: the numbering of UE5, with floats. */
static void version_2024(struct maker *m) {
    struct make_style s = make_styles[UE5];
    s.doubles = false;
    s.wheel = 48;
    *m = make_world(&s, 3);
}
static void attributes_from_1(struct maker *m) {
    struct make_style s = make_styles[V0915];
    s.attributes_from_1 = true;
    *m = make_world(&s, 2);
}

/* --- header --- */

static void header_only(struct maker *m) {
    begin(m);
}
static void header_cut(struct maker *m) {
    begin(m);
    m->size -= 2;
}
static void version_3(struct maker *m) {
    *m = world(V0916, 1);
    make_patch(m, 0, 3, 2);
}
static void date_none(struct maker *m) {
    *m = world(V096, 2);
    make_patch(m, 18, 0, 8);
}
static void map_odd(struct maker *m) {
    make_header(m, 2, MAKE_DATE, "/Game/Maps/caf\xe9");
    make_frame(m, &make_styles[V0916], 1, true);
}

/* --- where a file breaks off --- */

static void cut_in_packet(struct maker *m) {
    *m = world(V0915, 3);
    m->size -= 60;
}
static void cut_in_head(struct maker *m) {
    *m = world(V0915, 3);
    m->size -= 2;
}
static void cut_between_packets(struct maker *m) {
    *m = world(V0915, 3);
    m->size -= 5;
}
static void size_never_written(struct maker *m) {
    begin(m);
    make_frame(m, &make_styles[V0915], 1, false);
    make_start(m, 2, -1, 0.125);
    size_t p = make_packet(m, 2);
    make_number(m, 2, 2);
    make_actor(m, &make_styles[V0915], 40, 1, 1, "vehicle.a.b", "hero");
    make_patch(m, p - 4, 0, 4);
    m->size -= 6;
}
static void damage_inside(struct maker *m) {
    begin(m);
    make_frame(m, &make_styles[V0915], 1, false);
    size_t at = m->size;
    for (unsigned f = 2; f <= 4; f++) {
        make_frame(m, &make_styles[V0915], f, f == 4);
    }
    memset(m->data + at + 40, 0xee, 40); /* over the head of a packet */
}
static void last_duration(struct maker *m) {
    begin(m);
    make_frame(m, &make_styles[V0915], 1, false);
    make_frame(m, &make_styles[V0915], 2, false);
}

/* --- frames --- */

static void packets_outside(struct maker *m) {
    begin(m);
    make_raw(m, 130, "before all");
    make_frame(m, &make_styles[V096], 1, false);
    make_none(m, 5);
    make_end(m);
    make_frame(m, &make_styles[V096], 2, true);
    make_raw(m, 131, "after all");
}
static void end_missing(struct maker *m) {
    begin(m);
    make_start(m, 1, 0.125, 0);
    make_body(m, &make_styles[V096], 1);
    make_frame(m, &make_styles[V096], 2, true);
}
static void no_positions(struct maker *m) {
    begin(m);
    make_start(m, 1, 0.125, 0);
    make_none(m, 7);
    make_end(m);
    make_start(m, 2, -1, 0.125);
    make_none(m, 6);
    make_end(m);
}
static void elapsed_differs(struct maker *m) {
    static const double elapsed[] = {0, 0.25, 0.2, INFINITY, 0.625};
    begin(m);
    for (unsigned f = 1; f <= 5; f++) {
        make_start(m, f == 5 ? 9 : f, f == 5 ? -1 : 0.125, elapsed[f - 1]);
        make_none(m, 6);
        make_none(m, 7);
        make_end(m);
    }
}
static void start_short(struct maker *m) {
    begin(m);
    make_frame(m, &make_styles[V094], 1, false);
    make_raw(m, 0, "too short");
    make_body(m, &make_styles[V094], 2);
    make_end(m);
}

/* --- packets --- */

static void user_packets(struct maker *m) {
    begin(m);
    for (unsigned f = 1; f <= 2; f++) {
        make_start(m, f, f == 2 ? -1 : 0.125, make_elapsed(f));
        make_body(m, &make_styles[V0914], f);
        make_raw(m, 139, "sensor data");
        make_raw(m, 140, f == 1 ? "custom actor" : "");
        make_raw(m, 77, "nobody's");
        make_end(m);
    }
}
static void size_0(struct maker *m) {
    begin(m);
    make_start(m, 1, -1, 0);
    for (uint8_t id = 2; id <= 10; id++) {
        make_close(m, make_packet(m, id));
    }
    make_end(m);
}
static void misfits(struct maker *m) {
    begin(m);
    make_start(m, 1, -1, 0);
    make_raw(m, 2, "\1\1half an actor");
    make_raw(m, 3, "\1");
    size_t p = make_packet(m, 6);
    make_number(m, 2, 2);
    make_moved(m, &make_styles[V0915], 1, 1);
    make_close(m, p);
    make_raw(m, 7, "\1\1");
    make_raw(m, 14, "1234567");
    make_raw(m, 15, "\1\1physics");
    make_raw(m, 19, "\1\1bones");
    make_end(m);
}
static void boxes_of_nothing(struct maker *m) {
    begin(m);
    make_start(m, 1, -1, 0);
    make_none(m, 6);
    make_none(m, 7);
    size_t p = make_packet(m, 13);
    make_number(m, 1, 2);
    make_number(m, 271, 4);
    make_vec(m, &make_styles[V0910], NAN, -NAN, NAN);
    make_vec(m, &make_styles[V0910], INFINITY, INFINITY, -INFINITY);
    make_close(m, p);
    make_end(m);
}
/* Wheels in a frame without positions: the position suggests doors, the size proves wheels. */
static void wheels_alone(struct maker *m) {
    begin(m);
    make_start(m, 1, -1, 0);
    make_one(m, &make_styles[V0915], 'V', 1);
    make_one(m, &make_styles[V0915], 'W', 1);
    make_end(m);
}

static const struct {
    const char *name;
    void (*make)(struct maker *m);
} inputs[] = {
    {"version_0.9.4", version_094},
    {"version_0.9.6", version_096},
    {"version_0.9.10", version_0910},
    {"version_0.9.14", version_0914},
    {"version_0.9.15", version_0915},
    {"version_0.9.16", version_0916},
    {"version_2026", version_2026},
    {"version_ue5", version_ue5},
    {"version_2024", version_2024},
    {"attributes_from_1", attributes_from_1},
    {"header_only", header_only},
    {"header_cut", header_cut},
    {"version_3", version_3},
    {"date_none", date_none},
    {"map_odd", map_odd},
    {"cut_in_packet", cut_in_packet},
    {"cut_in_head", cut_in_head},
    {"cut_between_packets", cut_between_packets},
    {"size_never_written", size_never_written},
    {"damage_inside", damage_inside},
    {"last_duration", last_duration},
    {"packets_outside", packets_outside},
    {"end_missing", end_missing},
    {"no_positions", no_positions},
    {"elapsed_differs", elapsed_differs},
    {"start_short", start_short},
    {"user_packets", user_packets},
    {"size_0", size_0},
    {"misfits", misfits},
    {"boxes_of_nothing", boxes_of_nothing},
    {"wheels_alone", wheels_alone},
};

static bool file_is(const char *path, const struct maker *m) {
    FILE *file = fopen(path, "rbe");
    char *there = (char *)malloc(m->size + 1);
    assert(there);
    bool same = file && fread(there, 1, m->size + 1, file) == m->size && memcmp(there, m->data, m->size) == 0;
    if (file) {
        fclose(file);
    }
    free(there);
    return same;
}
static bool file_write(const char *path, const struct maker *m) {
    FILE *file = fopen(path, "wbe");
    bool written = file && fwrite(m->data, 1, m->size, file) == m->size;
    return file && fclose(file) == 0 && written;
}

int main(int argc, char **argv) {
    bool check = argc == 3 && strcmp(argv[1], "--check") == 0;
    int bad = 0;
    if (argc != 2 && !check) {
        fprintf(stderr, "usage: %s [--check] FOLDER\n", argv[0]);
        return 2;
    }
    for (size_t i = 0; i < sizeof inputs / sizeof *inputs; i++) {
        char path[1024];
        snprintf(path, sizeof path, "%s/%s", argv[argc - 1], inputs[i].name);
        if (!check && mkdir(path, 0777) != 0 && errno != EEXIST) {
            perror(path);
            return 1;
        }
        snprintf(path, sizeof path, "%s/%s/input.log", argv[argc - 1], inputs[i].name);
        struct maker m = {0};
        inputs[i].make(&m);
        if (!(check ? file_is(path, &m) : file_write(path, &m))) {
            fprintf(stderr, "%s: %s\n", path, check ? "is not what is made now" : strerror(errno));
            bad = 1;
        }
        free(m.data);
    }
    return bad;
}
