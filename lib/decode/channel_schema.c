/* Which schema of a channel describes its messages (reel/model.h). */
#include "base/bytes.h"
#include "reel/model.h"

/* The next component of "a/msg/B" or "a::msg::B"; dots do not separate. Size 0: end of the name. */
static struct reel_bytes next_part(const char **name) {
    const char *begin = *name + strspn(*name, "/:");
    size_t size = strcspn(begin, "/:");
    *name = begin + size;
    return bytes_of(begin, size);
}

struct parts {
    struct reel_bytes package, type;
    bool good;
};

/* ROS 1 writes "a/B", ROS 2 "a/msg/B" and in IDL "a::msg::B"; protobuf writes ".a.B" or "a.B", whose leading dot is
 * skipped. */
static struct parts split_name(const char *name) {
    struct reel_bytes part[4] = {{0}};
    unsigned n = 0;
    for (name += name[0] == '.'; n < 4 && *name; n++) {
        part[n] = next_part(&name);
    }
    bool kind = n == 3 && (bytes_is(part[1], "msg") || bytes_is(part[1], "srv") || bytes_is(part[1], "action"));
    struct parts p = {.package = n > 1 ? part[0] : bytes_of("", 0),
                      .type = n > 0 ? part[n - 1 < 3 ? n - 1 : 3] : bytes_of("", 0)};
    p.good = p.type.size > 0 && (n < 3 || kind);
    return p;
}

static bool same_name(const char *a, const char *b) {
    struct parts x = split_name(a), y = split_name(b);
    return x.good && y.good && bytes_equal(x.package, y.package) && bytes_equal(x.type, y.type);
}

const struct reel_schema *reel_channel_schema(const struct reel_channel *c) {
    for (uint32_t i = 0; i < c->n_schemas && c->type[0]; i++) {
        if (strcmp(c->schemas[i].name, c->type) == 0) {
            return &c->schemas[i];
        }
    }
    for (uint32_t i = 0; i < c->n_schemas; i++) {
        if (same_name(c->schemas[i].name, c->type)) {
            return &c->schemas[i];
        }
    }
    return c->n_schemas > 0 ? &c->schemas[0] : NULL;
}
