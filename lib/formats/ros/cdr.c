/* Messages of ROS 2 and DDS in CDR. The head of 4 bytes names the version, the byte order and how the payload's type is
 * laid out; what it leaves open is tried. */
#include "base/bytes.h"
#include "formats/ros/cdr_walk.h"
#include "formats/ros/convert.h"
#include "syntax/visitor.h"

enum { HEAD = 4, LAYOUTS_MAX = 10 };

/* ---- heads */

struct cdr_head {
    bool is_v2, big;
    uint8_t extensibility; /* of the payload's type */
};

/* The kinds of DDS-XTypes, and those that RTPS 2.5 gave XCDR2 instead: of each pair the first is big-endian. */
static bool read_head(struct reel_bytes payload, struct cdr_head *out, struct reel_error *err) {
    static const struct {
        uint8_t kind;
        bool is_v2;
        uint8_t extensibility;
    } kinds[] = {{0x00, false, ROS_FINAL},     {0x02, false, ROS_MUTABLE},  {0x06, true, ROS_FINAL},
                 {0x08, true, ROS_APPENDABLE}, {0x0a, true, ROS_MUTABLE},   {0x10, true, ROS_FINAL},
                 {0x12, true, ROS_MUTABLE},    {0x14, true, ROS_APPENDABLE}};
    if (payload.size < HEAD) {
        return reel_fail(err, REEL_DAMAGED, "byte 0 of %zu: the head of CDR has 4 bytes", payload.size);
    }
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (payload.data[0] == 0 && (payload.data[1] & 0xfe) == kinds[i].kind) {
            *out = (struct cdr_head){kinds[i].is_v2, !(payload.data[1] & 1), kinds[i].extensibility};
            return true;
        }
    }
    return reel_fail(err, REEL_UNSUPPORTED, "byte 0 of %zu: CDR of kind %02x%02x is not read", payload.size,
                     payload.data[0], payload.data[1]);
}

/* ---- layouts */

struct layouts {
    struct cdr_layout items[LAYOUTS_MAX];
    unsigned n;
};

/* In XCDR2: as the specification has it, without sizes before enums (Fast CDR), without any before lists (RTI by
 * default, Foxglove). */
static void add_layouts_v2(struct layouts *out, const struct cdr_head *head, uint8_t unannotated) {
    for (unsigned i = 0; i < 3; i++) {
        out->items[out->n++] = (struct cdr_layout){
            .top = head->extensibility, .unannotated = unannotated, .heads_lists = i < 2, .heads_enums = i == 0};
    }
}

/* How the payload may be laid out, the likeliest first. Types without an annotation are like the payload's, if that has
 * none either; otherwise the compiler decided: that of ROS makes them final, others mostly appendable. The last layout
 * is that of writers that know no annotations. */
static void list_layouts(const struct ros_definition *d, const struct cdr_head *head, struct layouts *out) {
    bool alike = d->types[d->top].extensibility == ROS_NOT_ANNOTATED;
    uint8_t first = alike ? head->extensibility : d->is_omg && head->is_v2 ? ROS_APPENDABLE : ROS_FINAL;
    out->n = 0;
    if (head->is_v2) {
        add_layouts_v2(out, head, first);
        add_layouts_v2(out, head, first == ROS_APPENDABLE ? ROS_FINAL : ROS_APPENDABLE);
        if (first == ROS_MUTABLE) {
            add_layouts_v2(out, head, ROS_FINAL);
        }
    } else {
        out->items[out->n++] = (struct cdr_layout){.top = head->extensibility, .unannotated = first};
    }
    out->items[out->n++] = (struct cdr_layout){
        .top = head->extensibility, .unannotated = ROS_FINAL, .ignores_types = head->extensibility == ROS_FINAL};
    bool varies = head->is_v2 ? d->varies : d->has_mutable || first == ROS_MUTABLE;
    out->n = varies ? out->n : 1;
}

/* ---- a payload */

/* Some writers pad the payload to a multiple of 4 bytes; others say in the head by how many they do. */
static bool ended(const struct cdr *c) {
    size_t left = cursor_left(&c->run.c);
    return left == 0 || (left < 4 && (c->run.payload.size % 4 == 0 || left == (c->run.payload.data[3] & 3U)));
}

static bool run_layout(const struct ros_definition *def, struct reel_bytes payload, const struct cdr_head *head,
                       const struct cdr_layout *layout, struct reel_visitor *v, uint64_t *oddities,
                       struct reel_error *err) {
    struct cdr c = {.run = {.def = def, .payload = payload, .v = v, .err = err},
                    .origin = payload.data + HEAD,
                    .big = head->big,
                    .is_v2 = head->is_v2,
                    .has_runs = !head->big && !head->is_v2 && !def->has_mutable && layout->top != ROS_MUTABLE &&
                                layout->unannotated != ROS_MUTABLE,
                    .align_max = head->is_v2 ? 4 : 8,
                    .layout = *layout};
    c.run.c = cursor_of(bytes_of(payload.data + HEAD, payload.size - HEAD));
    bool good = cdr_walk(&c) && (ended(&c) || ros_definition_too_long(&c.run));
    *oddities = c.oddities;
    return good;
}

/* Of several layouts that the payload fits the one that explains it best, of equal ones the first; if it fits none, the
 * first. */
static const struct cdr_layout *choose(const struct layouts *all, const struct ros_definition *def,
                                       struct reel_bytes payload, const struct cdr_head *head) {
    struct reel_visitor nobody = {.ops = &visit_nothing};
    const struct cdr_layout *best = &all->items[0];
    uint64_t least = UINT64_MAX;
    for (unsigned i = 0; i < all->n && all->n > 1 && least > 0; i++) {
        struct reel_error why = {0};
        uint64_t oddities;
        if (run_layout(def, payload, head, &all->items[i], &nobody, &oddities, &why) && oddities < least) {
            best = &all->items[i];
            least = oddities;
        }
    }
    return best;
}

static bool decode_as(const struct ros_definition *def, struct reel_bytes payload, struct reel_visitor *v,
                      struct reel_error *err) {
    struct cdr_head head = {0};
    struct layouts layouts;
    uint64_t oddities;
    if (!read_head(payload, &head, err)) {
        return false;
    }
    list_layouts(def, &head, &layouts);
    return run_layout(def, payload, &head, choose(&layouts, def, payload, &head), v, &oddities, err);
}

/* By the first of the definitions that the payload fits. */
static bool ros_cdr_decode(const void *state, struct reel_bytes payload, struct reel_visitor *v,
                           struct reel_error *err) {
    const struct ros_definition *first = state, *fits = first->older ? first : NULL;
    struct reel_visitor nobody = {.ops = &visit_nothing};
    struct reel_error why = {0};
    while (fits && !decode_as(fits, payload, &nobody, &why)) {
        fits = fits->older;
    }
    return decode_as(fits ? fits : first, payload, v, err);
}

static bool ros_cdr_open_channel(const struct reel_channel *channel, void **state, struct reel_error *err) {
    return (*state = ros_definition_open(channel, ROS_2, err)) != NULL;
}
static void ros_cdr_close_state(void *state) {
    ros_definition_free(state);
}

const struct reel_encoding reel_encoding_cdr = {
    .name = "cdr",
    .open = ros_cdr_open_channel,
    .close = ros_cdr_close_state,
    .decode = ros_cdr_decode,
    .fields = ros_definition_fields,
    .convert = ros_convert_to_ros2,
    .shape = ros_definition_shape,
    .is_exact = true,
    .profile = "ros2",
    .languages = (const char *const[]){"ros2", "omg", NULL},
    .is_viewable = true,
    .source = ros_definition_source,
    .version = 4,
};
