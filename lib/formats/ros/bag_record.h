/* Common to the framed ROS bags 1.2 and 2.0: a record is a header of named fields, and data. Reads one, and searches
 * for the next one after damage. Layouts: rosbag/v1_layout.h, rosbag/v2_layout.h. */
#ifndef REEL_FORMATS_ROS_BAG_RECORD_H
#define REEL_FORMATS_ROS_BAG_RECORD_H

#include "base/cleanup.h"
#include "base/cursor.h"
#include "base/sink.h"
#include "base/window.h"
#include "index/scan.h"

enum { ROSRECORD_MIN = 8 }; /* header_len and data_len */

/* Bounds of a record: its bytes end before `end`, which is the end of "the file" or of "its chunk". */
struct rosrecord_bounds {
    uint64_t end;
    const char *of;
};

struct rosrecord {
    uint64_t at;
    uint32_t head;            /* bytes before the data */
    uint32_t size;            /* of the data */
    bool cut;                 /* not read because the bytes end inside it */
    struct reel_bytes header; /* its fields; valid until the window's next use */
};

/* Reads header and data length without parsing the header. REEL_DAMAGED: they are cut off. */
bool rosrecord_head(struct window *window, uint64_t at, const struct rosrecord_bounds *bounds, struct rosrecord *r,
                    struct reel_error *err);
/* Checks that the data end within the bounds; if not, sets r->cut. */
bool rosrecord_fits(struct rosrecord *r, const struct rosrecord_bounds *bounds, struct reel_error *err);

/* The next "name=value" of a header; the first '=' is the separator. False: at the end, or (c->failed) the bytes are
 * not a field. */
bool rosrecord_field(struct cursor *c, struct reel_bytes *name, struct reel_bytes *value);

/* Parsing into a struct of `struct reel_bytes` members, one per known name. */
struct rosrecord_name {
    const char *name;
    size_t size, at; /* size of the name; offset of the member in the struct */
};
#define ROSRECORD_NAME(type, member)                                                                                   \
    { #member, sizeof #member - 1, offsetof(type, member) }
bool rosrecord_keep(const struct rosrecord_name *known, size_t n, void *fields, struct reel_bytes name,
                    struct reel_bytes value); /* false: unknown field */
bool rosrecord_printable(struct reel_bytes name);

typedef unsigned long long ull; /* for printf */

/* Reports that nothing is at `index_pos`, where the file header (if there was one) says that the index begins. */
void rosrecord_no_index(struct reel_scan *scan, bool has_header, uint64_t index_pos, bool has_messages,
                        const char *index);

/* --- writing --- */

/* Appends "name=value" with its length; returns where the value begins. */
uint64_t ros_put_field(struct reel_sink *out, const char *name, struct reel_bytes value);
void ros_put_op(struct reel_sink *out, uint8_t op);
void ros_put_u32(struct reel_sink *out, const char *name, uint32_t value);
void ros_put_u64(struct reel_sink *out, const char *name, uint64_t value);

/* --- searching for the next record after damage --- */

/* Searches [from, to) for bytes that may begin a record. `window` walks; the check has a small window of its own. */
struct rosrecord_search {
    struct window *window;
    uint64_t from, to;
    uint64_t *allowance; /* bytes the search may still read, so that it stays linear */
    bool (*looks_like)(void *context, struct window *peek, uint64_t at, bool *yes, struct reel_error *err);
    bool (*progress)(void *context, uint64_t at, struct reel_error *err);
    void *context;
};
#define ROSRECORD_NOWHERE UINT64_MAX
bool rosrecord_search(const struct rosrecord_search *s, uint64_t *found, struct reel_error *err); /* ROSRECORD_NOWHERE:
                                                                                                     none */

#endif
