/* view=foxglove: beside the messages as they are, messages that viewers of the Foxglove lineage draw. feed: what is made, in time order ·
 * transforms: a file per encoding · json, schemas: their words. Its one rule: what is made at a place depends on the recordings, the place
 * and the selection's start alone, so that it is the same bytes whether the stream ran there or was sought. */
#ifndef REEL_VIEWS_FOXGLOVE_H
#define REEL_VIEWS_FOXGLOVE_H

#include "reel/encoding.h"
#include "reel/view.h"
#include "wire/arena.h"
#include "wire/grow.h"

extern const struct reel_view reel_view_foxglove;

/* --- schemas (foxglove_schemas.c): JSON Schema in the subset that viewers read --- */

struct view_schema {
    const char *name, *json;
};
extern const struct view_schema view_schema_scene, view_schema_transforms, view_schema_poses, view_schema_cloud, view_schema_log,
    view_schema_ego, view_schema_energies;

/* --- transforms --- */

enum view_role {                 /* of a channel, for one transform; 0: it is not looked at */
                 VIEW_HERE = 1,  /* its messages are looked at where they stand */
                 VIEW_ALL = 2,   /* … and the state that makes others is made of all of them */
                 VIEW_LAST = 4,  /* … or of the last one */
                 VIEW_OPENS = 8, /* the first of these in a selection tells all that is known by then */
};

struct view_maker;

/* What can be made of the channels of an encoding: one const table a file, listed in foxglove_feed.c. */
struct view_transform {
    const struct reel_encoding *encoding; /* of the messages that it takes */
    const struct reel_encoding *older;    /* optional: messages of this encoding arrive in the form of `encoding` (nanover_view()) */
    unsigned (*role)(const struct reel_channel *channel); /* of channels of this encoding: enum view_role */
    uint32_t nothing;                                     /* VIEW_ALL messages of at most so many bytes leave the state as it is */
    bool from_front;   /* the state is made of what the encoding puts in front of a cut; else of VIEW_ALL and VIEW_LAST messages */
    size_t state_size; /* zeroed */

    /* Says with view_topic() what there will be; the channel is of the encoding and has a role. Called for each of a recording. */
    bool (*open)(struct view_maker *m, const struct reel_channel *channel, struct reel_error *err);
    void (*close)(void *state);
    void (*forget)(void *state); /* the state that it had after open() */
    /* A message of such a channel: learns from it, and, unless m->silent, makes messages of it. What it cannot read it passes over. */
    bool (*take)(struct view_maker *m, const struct reel_channel *channel, const struct reel_message *message, struct reel_bytes payload,
                 struct reel_error *err);
};
extern const struct view_transform view_carla, view_nanover, view_cloud;

/* One transform at work on one recording. */
struct view_maker {
    const struct view_transform *how;
    void *state;
    struct view_feed *feed;
    uint32_t source;
    bool silent;  /* only the state is wanted */
    bool opening; /* this message is the selection's first of VIEW_OPENS */
    bool has_first;
    struct reel_mark first; /* that message's place */
};

/* A topic of what the maker makes; the same name twice is one. Its number goes to *topic. */
bool view_topic(struct view_maker *m, const char *name, const struct view_schema *schema, uint32_t *topic, struct reel_error *err);
/* Where the message's JSON goes, ended by view_end(); NULL: nobody wants it. */
struct grow *view_begin(struct view_maker *m, uint32_t topic);
bool view_end(struct view_maker *m, struct reel_error *err);
/* A stream of the maker's recording over [start, end) of the selection, these topics only, for what needs more than one message. */
struct reel_stream *view_whole(const struct view_maker *m, const char *const *topics, uint32_t n_topics, struct reel_error *err);

/* --- the feed (foxglove_feed.c): all that the transforms make, in the order of what it is made of --- */

struct view_setup { /* what a feed is made from; the view owns it */
    struct reel_recording **recordings;
    uint32_t n;
    struct reel_source_option *sources; /* NULL: none */
    enum reel_prefixing prefixing;
    int64_t start_ns, end_ns;
};
struct view_out { /* a topic */
    const char *name;
    const struct view_schema *schema;
    uint32_t source;
    bool wanted;
    const struct view_transform *how;
};
struct view_made {
    uint32_t topic;
    size_t at, size; /* in the feed's bytes */
};
struct view_feed {
    const struct view_setup *setup;
    struct arena arena;
    struct reel_stream *stream; /* all channels with a role */
    struct view_lane {
        struct view_maker *maker;
        unsigned role;
    } * lanes; /* by channel of the stream */
    struct view_maker *makers;
    size_t n_makers, n_outs, cap_outs;
    struct view_out *outs;
    /* what was made of one message: */
    struct reel_message of;
    struct grow bytes;
    struct view_made *made;
    size_t n_made, cap_made;
};
/* NULL: err says why. A feed without topics has nothing to show. */
struct view_feed *view_feed_new(const struct view_setup *setup, struct reel_error *err);
void view_feed_free(struct view_feed *feed);
/* The next message that something is made of. */
enum reel_step view_feed_next(struct view_feed *feed, struct reel_error *err);
/* Goes on with the message at `mark`, or the first one after it. */
bool view_feed_seek(struct view_feed *feed, const struct reel_mark *mark, struct reel_error *err);

/* Order of messages in a stream: < 0, 0, > 0. Not for messages put in front. */
int view_compare(const struct reel_mark *a, const struct reel_mark *b);

/* --- JSON (foxglove_json.c). Numbers that are not finite stand as 0 --- */

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

void fg_put(struct grow *g, const char *text); /* as it is */
void fg_number(struct grow *g, double value);  /* in the precision of a float */
void fg_double(struct grow *g, double value);
void fg_count(struct grow *g, uint64_t value);
void fg_text(struct grow *g, struct reel_bytes text); /* in quotes */
void fg_time(struct grow *g, int64_t ns);             /* "timestamp":{…} */
void fg_point(struct grow *g, struct view_vec v);
void fg_quat(struct grow *g, struct view_quat q);
void fg_pose(struct grow *g, struct view_vec v, struct view_quat q); /* "pose":{…} */
void fg_transform(struct grow *g, int64_t ns, const char *parent, const char *child, struct view_vec v, struct view_quat q);
void fg_cube(struct grow *g, struct view_vec at, struct view_quat turned, struct view_vec size, struct view_color color);
void fg_sphere(struct grow *g, struct view_vec at, double diameter, struct view_color color);
/* A line's own members before "points":[ and after its ]. type: 0 strip, 1 loop, 2 list of pairs. */
void fg_line(struct grow *g, int type, double thickness);
void fg_line_end(struct grow *g, struct view_color color);
void fg_log(struct grow *g, int64_t ns, int level, const char *name, struct reel_bytes text);
enum { FG_DEBUG = 1, FG_INFO, FG_WARNING, FG_ERROR };

/* {"deletions":[all that was],"entities":[ … ]} */
void fg_scene(struct grow *g, int64_t ns);
void fg_scene_end(struct grow *g);
/* One of them: fg_entity(), then its metadata and those arrays that are not empty, each by fg_array() … fg_array_end(), then
 * fg_entity_end(). */
struct fg_entity {
    struct grow *g;
    unsigned written; /* arrays */
};
struct fg_entity fg_entity(struct grow *g, int64_t ns, const char *frame, const char *id, bool follows);
void fg_array(struct fg_entity *e, const char *name);
void fg_array_end(struct fg_entity *e);
void fg_pair(struct grow *g, const char *key, struct reel_bytes value); /* of its metadata */
void fg_entity_end(struct fg_entity *e);
/* A comma unless the text so far ends where a list or map begins. */
void fg_comma(struct grow *g);

#endif
