/* The playbacks that are running, by their ids. A playback ends with its connection. */
#ifndef SERVER_API_CONTENTS_PLAYS_H
#define SERVER_API_CONTENTS_PLAYS_H

#include "catalog/catalog.h"
#include "reel/play.h"

enum { PLAY_ID_TEXT = 2 * RECORDING_ID_TEXT };
struct play_entry {
    struct play_entry *next;
    char id[PLAY_ID_TEXT]; /* among several servers it ends with "-" and the id of the one that plays */
    char recording[RECORDING_ID_TEXT];
    char *collection;
    enum reel_clock clock;
    struct reel_play *play;
};

/* Memory that a playback gives back while it waits (api_idle_memory()). */
enum { PLAY_IDLE_NS = 100000000 }; /* from a wait of so long on */
struct play_memory {
    uint64_t unused, lacking; /* bytes: that it may give back; that it has given back */
};
struct http_request;
void play_memory_rest(struct play_memory *m, struct http_request *r);
/* Before the next message. False: REEL_BUSY. */
bool play_memory_resume(struct play_memory *m, struct http_request *r, struct reel_error *err);

struct plays;
struct plays *plays_new(struct reel_error *err);
void plays_free(struct plays *plays); /* NULL is fine */
/* Adds a playback of the server `home` ("": there is one) and gives it an id. Takes a reference to `play`. NULL: err.
 */
struct play_entry *plays_add(struct plays *plays, const char *home, const struct catalog_recording *row,
                             struct reel_play *play, enum reel_clock clock, struct reel_error *err);
void plays_remove(struct plays *plays, struct play_entry *entry); /* NULL is fine */
/* A copy of the entry, with a reference to its controls; play_entry_done() releases it. False: there is none. */
bool plays_find(struct plays *plays, const char *id, struct play_entry *out);
void play_entry_done(struct play_entry *entry);
/* speed, rate, clock, max_gap, loop, paused, latch and pause_topic of the request (play.c). False: replied. */
enum { PLAY_PAUSE_TOPICS_MAX = 64 };
bool plays_read_options(struct http_request *r, struct reel_play_options *out,
                        const char *pause_topics[PLAY_PAUSE_TOPICS_MAX]);
const char *play_home(const char *id); /* "": none */

#endif
