/* JSON building blocks for viewer messages. Every message is valid for its schema, whatever the numbers. */
#include <math.h>

#include "base/bytes.h"
#include "formats/foxglove/view.h"
#include "syntax/json_out.h"

void fg_put(struct grow *g, const char *text) {
    grow_put(g, text, strlen(text));
}
void fg_number(struct grow *g, double value) {
    float v = (float)value;
    json_put_real32(g, isfinite(v) && v != 0 ? v : 0.0f); /* also -0 */
}
void fg_double(struct grow *g, double value) {
    json_put_real(g, isfinite(value) && value != 0 ? value : 0.0);
}
void fg_count(struct grow *g, uint64_t value) {
    json_put_natural(g, value);
}
void fg_text(struct grow *g, struct reel_bytes text) {
    json_put_string(g, text);
}

void fg_comma(struct grow *g) {
    if (!g->failed && g->size > 0 && !strchr("[{,:", g->data[g->size - 1])) {
        fg_put(g, ",");
    }
}

static void named(struct grow *g, const char *name, double value) {
    fg_comma(g);
    fg_put(g, "\"");
    fg_put(g, name);
    fg_put(g, "\":");
    fg_number(g, value);
}

/* Viewers do not accept times before 0. */
void fg_time(struct grow *g, int64_t ns) {
    uint64_t time = ns > 0 ? (uint64_t)ns : 0;
    fg_comma(g);
    fg_put(g, "\"timestamp\":{\"sec\":");
    fg_count(g, time / 1000000000);
    fg_put(g, ",\"nsec\":");
    fg_count(g, time % 1000000000);
    fg_put(g, "}");
}

void fg_point(struct grow *g, struct view_vec v) {
    fg_put(g, "{");
    named(g, "x", v.x);
    named(g, "y", v.y);
    named(g, "z", v.z);
    fg_put(g, "}");
}
void fg_quat(struct grow *g, struct view_quat q) {
    fg_put(g, "{");
    named(g, "x", q.x);
    named(g, "y", q.y);
    named(g, "z", q.z);
    named(g, "w", q.w);
    fg_put(g, "}");
}

void fg_pose(struct grow *g, struct view_vec v, struct view_quat q) {
    fg_comma(g);
    fg_put(g, "\"pose\":{\"position\":");
    fg_point(g, v);
    fg_put(g, ",\"orientation\":");
    fg_quat(g, q);
    fg_put(g, "}");
}

/* "color":{…} */
static void fg_color(struct grow *g, struct view_color c) {
    fg_comma(g);
    fg_put(g, "\"color\":{");
    named(g, "r", (double)c.r);
    named(g, "g", (double)c.g);
    named(g, "b", (double)c.b);
    named(g, "a", (double)c.a);
    fg_put(g, "}");
}

void fg_transform(struct grow *g, int64_t ns, const char *parent, const char *child, struct view_vec v,
                  struct view_quat q) {
    fg_comma(g);
    fg_put(g, "{");
    fg_time(g, ns);
    fg_put(g, ",\"parent_frame_id\":");
    fg_text(g, bytes_text(parent));
    fg_put(g, ",\"child_frame_id\":");
    fg_text(g, bytes_text(child));
    fg_put(g, ",\"translation\":");
    fg_point(g, v);
    fg_put(g, ",\"rotation\":");
    fg_quat(g, q);
    fg_put(g, "}");
}

static void sized(struct grow *g, struct view_vec at, struct view_quat turned, struct view_vec size,
                  struct view_color color) {
    fg_comma(g);
    fg_put(g, "{");
    fg_pose(g, at, turned);
    fg_put(g, ",\"size\":");
    fg_point(g, size);
    fg_color(g, color);
    fg_put(g, "}");
}
void fg_cube(struct grow *g, struct view_vec at, struct view_quat turned, struct view_vec size,
             struct view_color color) {
    sized(g, at, turned, size, color);
}
void fg_sphere(struct grow *g, struct view_vec at, double diameter, struct view_color color) {
    sized(g, at, VIEW_UPRIGHT, (struct view_vec){diameter, diameter, diameter}, color);
}

void fg_line(struct grow *g, int type, double thickness) {
    fg_comma(g);
    fg_put(g, "{\"type\":");
    fg_count(g, (uint64_t)type);
    fg_pose(g, (struct view_vec){0, 0, 0}, VIEW_UPRIGHT);
    named(g, "thickness", thickness);
    fg_put(g, ",\"scale_invariant\":false,\"points\":[");
}
void fg_line_end(struct grow *g, struct view_color color) {
    fg_put(g, "]");
    fg_color(g, color);
    fg_put(g, ",\"colors\":[],\"indices\":[]}");
}

void fg_log(struct grow *g, int64_t ns, int level, const char *name, struct reel_bytes text) {
    fg_put(g, "{");
    fg_time(g, ns);
    fg_put(g, ",\"level\":");
    fg_count(g, (uint64_t)level);
    fg_put(g, ",\"message\":");
    fg_text(g, text);
    fg_put(g, ",\"name\":");
    fg_text(g, bytes_text(name));
    fg_put(g, ",\"file\":\"\",\"line\":0}");
}

/* --- scenes --- */

static const char *const arrays[] = {"arrows", "cubes",     "spheres", "cylinders",
                                     "lines",  "triangles", "texts",   "models"};
enum { ARRAYS = sizeof arrays / sizeof *arrays };

void fg_scene(struct grow *g, int64_t ns) {
    fg_put(g, "{\"deletions\":[{");
    fg_time(g, ns);
    fg_put(g, ",\"type\":1,\"id\":\"\"}],\"entities\":[");
}
void fg_scene_end(struct grow *g) {
    fg_put(g, "]}");
}

struct fg_entity fg_entity(struct grow *g, int64_t ns, const char *frame, const char *id, bool follows) {
    fg_comma(g);
    fg_put(g, "{");
    fg_time(g, ns);
    fg_put(g, ",\"frame_id\":");
    fg_text(g, bytes_text(frame));
    fg_put(g, ",\"id\":");
    fg_text(g, bytes_text(id));
    fg_put(g, ",\"lifetime\":{\"sec\":0,\"nsec\":0},\"frame_locked\":");
    fg_put(g, follows ? "true" : "false");
    return (struct fg_entity){.g = g};
}

static void array_head(struct grow *g, const char *name) {
    fg_comma(g);
    fg_put(g, "\"");
    fg_put(g, name);
    fg_put(g, "\":[");
}

void fg_array(struct fg_entity *e, const char *name) {
    for (unsigned i = 0; i < ARRAYS; i++) {
        e->written |= strcmp(arrays[i], name) == 0 ? 1U << i : 0;
    }
    e->written |= strcmp(name, "metadata") == 0 ? 1U << ARRAYS : 0;
    array_head(e->g, name);
}
void fg_array_end(struct fg_entity *e) {
    fg_put(e->g, "]");
}

void fg_pair(struct grow *g, const char *key, struct reel_bytes value) {
    fg_comma(g);
    fg_put(g, "{\"key\":");
    fg_text(g, bytes_text(key));
    fg_put(g, ",\"value\":");
    fg_text(g, value);
    fg_put(g, "}");
}

void fg_entity_end(struct fg_entity *e) {
    for (unsigned i = 0; i <= ARRAYS; i++) {
        if (!(e->written & 1U << i)) {
            array_head(e->g, i < ARRAYS ? arrays[i] : "metadata");
            fg_put(e->g, "]");
        }
    }
    fg_put(e->g, "}");
}
