/* view=foxglove: adds messages in Foxglove's schemas to the original ones. feed: generated messages in time order ·
 * transforms: one file per encoding · json, schemas: output. Generated messages depend only on the recordings, the
 * position and the start of the selection, so their bytes are the same after streaming and after a seek. */
#ifndef REEL_FORMATS_FOXGLOVE_VIEW_H
#define REEL_FORMATS_FOXGLOVE_VIEW_H

#include "base/arena.h"
#include "base/grow.h"
#include "decode/encoding.h"
#include "stream/view.h"

extern const struct reel_view reel_view_foxglove, reel_view_foxglove_raw;

/* --- schemas (schemas.c): JSON Schema in the subset that viewers support --- */

struct view_schema {
    const char *name, *json;
};
extern const struct view_schema view_schema_scene, view_schema_transforms, view_schema_poses, view_schema_cloud,
    view_schema_log, view_schema_ego, view_schema_energies, view_schema_raw_image, view_schema_compressed_image,
    view_schema_scan;

/* --- transforms --- */

enum view_role {                 /* role of a channel in one transform; 0: not used */
                 VIEW_HERE = 1,  /* messages are generated from its messages */
                 VIEW_ALL = 2,   /* … and its state depends on all of its messages */
                 VIEW_LAST = 4,  /* … or only on the last one */
                 VIEW_OPENS = 8, /* the first of these in a selection contains everything known by then */
};

struct view_maker;

/* A transform for the channels of one encoding: one const table in the subject's view.c. */
struct view_transform {
    const struct reel_encoding *encoding; /* encoding of the messages that it reads */
    /* optional: messages of this encoding are converted to `encoding` by convert() */
    const struct reel_encoding *older;
    struct reel_stream *(*convert)(struct reel_stream *below, struct reel_error *err); /* takes `below` over */
    unsigned (*role)(const struct reel_channel *channel); /* role of a channel of this encoding: enum view_role */
    uint32_t nothing;        /* VIEW_ALL messages up to this size do not change the state */
    bool from_initial_state; /* the state is computed from the initial messages of the encoding; else from VIEW_ALL and
                        VIEW_LAST messages */
    size_t state_size;       /* zeroed */

    /* Declares its topics with view_topic(); called for each channel of the recording that has a role. */
    bool (*open)(struct view_maker *m, const struct reel_channel *channel, struct reel_error *err);
    void (*close)(void *state);
    void (*forget)(void *state); /* resets the state to that after open() */
    /* Processes a message of such a channel: updates the state and, unless m->silent, generates messages. Unreadable
     * messages are skipped.
     */
    bool (*take)(struct view_maker *m, const struct reel_channel *channel, const struct reel_message *message,
                 struct reel_bytes payload, struct reel_error *err);
};
extern const struct view_transform *const view_transforms[]; /* NULL-terminated; in formats/views.c */

/* One transform running on one recording. */
struct view_maker {
    const struct view_transform *how;
    void *state;
    struct view_feed *feed;
    uint32_t source;
    bool silent;  /* update the state only */
    bool opening; /* this message is the selection's first of VIEW_OPENS */
    bool has_first;
    struct reel_position first; /* position of that message */
};

/* Declares an output topic; a name may be declared twice. Its number is returned in *topic. */
bool view_topic(struct view_maker *m, const char *name, const struct view_schema *schema, uint32_t *topic,
                struct reel_error *err);
/* Starts a message: returns the buffer for its JSON, to be ended by view_end(); NULL: the topic is not selected. */
struct grow *view_begin(struct view_maker *m, uint32_t topic);
bool view_end(struct view_maker *m, struct reel_error *err);
/* A stream of these topics of the maker's recording over [start, end) of the selection, for output that needs more than
 * one message. */
struct reel_stream *view_whole(const struct view_maker *m, const char *const *topics, uint32_t n_topics,
                               struct reel_error *err);

/* --- the feed (feed.c): output of all transforms, in the order of the source messages --- */

struct view_setup { /* input of a feed; owned by the view */
    struct reel_recording **recordings;
    uint32_t n;
    struct reel_source_option *sources; /* NULL: none */
    enum reel_prefixing prefixing;
    int64_t start_ns, end_ns;
    const struct reel_since *since; /* NULL: of all messages; else of those that are new, which may be late */
};
struct view_out { /* an output topic */
    const char *name;
    const struct view_schema *schema;
    uint32_t source;
    bool selected;
    const struct view_transform *how;
};
struct view_derived {
    uint32_t topic;
    size_t at, size; /* offset in the feed's bytes */
};
struct view_feed {
    const struct view_setup *setup;
    struct arena arena;
    int64_t start_ns;           /* of the selection, or of the first message that is new */
    struct reel_stream *stream; /* all channels with a role */
    struct view_lane {
        struct view_maker *maker;
        unsigned role;
    } * lanes; /* by channel of the stream */
    struct view_maker *makers;
    size_t n_makers, n_outs, cap_outs;
    struct view_out *outs;
    /* generated from the current message: */
    struct reel_message of;
    struct grow bytes;
    struct view_derived *derived;
    size_t n_derived, cap_derived;
};
/* NULL on failure. A feed without topics generates nothing. */
struct view_feed *view_feed_new(const struct view_setup *setup, struct reel_error *err);
void view_feed_free(struct view_feed *feed);
/* Advances to the next message from which something is generated. */
enum reel_step view_feed_next(struct view_feed *feed, struct reel_error *err);
/* Continues at the message at `mark`, or the first one after it. */
bool view_feed_seek(struct view_feed *feed, const struct reel_position *mark, struct reel_error *err);

/* Whether a transform draws the channel's messages. */
bool view_draws(const struct reel_channel *channel);

/* --- the recorded channels themselves (plain.c): a stream of what viewers can read. Takes `below` over. ---
 */
struct reel_stream *view_plain(struct reel_stream *below, struct reel_error *err);

/* Compares positions in a stream: < 0, 0, > 0. Not for messages of the initial state. */
int view_compare(const struct reel_position *a, const struct reel_position *b);

/* --- JSON (json.c). Numbers that are not finite are written as 0 --- */

struct view_vec {
    double x, y, z;
};
struct view_quat {
    double x, y, z, w;
};
struct view_color {
    float r, g, b, a;
};
#define VIEW_UPRIGHT ((struct view_quat){0, 0, 0, 1})

void fg_put(struct grow *g, const char *text); /* copied unchanged */
void fg_number(struct grow *g, double value);  /* in float precision */
void fg_double(struct grow *g, double value);
void fg_count(struct grow *g, uint64_t value);
void fg_text(struct grow *g, struct reel_bytes text); /* in quotes */
void fg_time(struct grow *g, int64_t ns);             /* "timestamp":{…} */
void fg_point(struct grow *g, struct view_vec v);
void fg_quat(struct grow *g, struct view_quat q);
void fg_pose(struct grow *g, struct view_vec v, struct view_quat q); /* "pose":{…} */
void fg_transform(struct grow *g, int64_t ns, const char *parent, const char *child, struct view_vec v,
                  struct view_quat q);
void fg_cube(struct grow *g, struct view_vec at, struct view_quat turned, struct view_vec size,
             struct view_color color);
void fg_sphere(struct grow *g, struct view_vec at, double diameter, struct view_color color);
/* Begins and ends a line: the members before "points":[ and after its ]. type: 0 strip, 1 loop, 2 list of pairs. */
void fg_line(struct grow *g, int type, double thickness);
void fg_line_end(struct grow *g, struct view_color color);
void fg_log(struct grow *g, int64_t ns, int level, const char *name, struct reel_bytes text);
enum { FG_DEBUG = 1, FG_INFO, FG_WARNING, FG_ERROR };

/* {"deletions":[all earlier ones],"entities":[ … ]} */
void fg_scene(struct grow *g, int64_t ns);
void fg_scene_end(struct grow *g);
/* An entity: fg_entity(), then its metadata and its arrays that are not empty, each by fg_array() … fg_array_end(),
 * then fg_entity_end().
 */
struct fg_entity {
    struct grow *g;
    unsigned written; /* arrays */
};
struct fg_entity fg_entity(struct grow *g, int64_t ns, const char *frame, const char *id, bool follows);
void fg_array(struct fg_entity *e, const char *name);
void fg_array_end(struct fg_entity *e);
void fg_pair(struct grow *g, const char *key, struct reel_bytes value); /* a pair of its metadata */
void fg_entity_end(struct fg_entity *e);
/* Writes a comma unless the text so far ends with the start of a list or map. */
void fg_comma(struct grow *g);

#endif
