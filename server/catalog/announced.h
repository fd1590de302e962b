/* Announced recordings: a robot has sent the index of a file that it still has. Users ask for the file, or for a part
 * of it; the robot looks for what it is asked for, and answers. */
#ifndef SERVER_CATALOG_ANNOUNCED_H
#define SERVER_CATALOG_ANNOUNCED_H

#include "catalog/catalog.h"

enum {
    ANNOUNCED_AGENT = 33, /* 32 hex digits: the `reel push` that has the file; only it knows them */
    ANNOUNCED_ROBOT = 256,
    ANNOUNCED_PACK_MAX = 64 << 20, /* bytes of an index pack, about 10 million messages */
    FETCHES_MAX = 64,              /* that wait for one recording */
    FETCHES_SHOWN_MAX = 20         /* of one recording, the newest */
};
#define ANNOUNCED_SIZE_MAX (UINT64_C(1) << 46) /* bytes of the files, as the robot says: the catalog adds them up */

struct announced {
    char sha256[SHA256_HEX]; /* of the file, as the robot says */
    char agent[ANNOUNCED_AGENT];
    char robot[ANNOUNCED_ROBOT]; /* its name */
};
/* Of catalog_recording.announced; false: it is not announced. */
bool announced_read(const char *text, struct announced *out);
char *announced_text(const struct announced *a); /* malloc'd */
/* What names the pack and the manifest of an announced recording. It is no content's SHA-256, so that a robot that
 * names the hash of another file neither sees that file nor changes its index. */
void announced_content(const char *id, const char *sha256, char out[SHA256_HEX]);

struct catalog_fetch {
    int64_t row;
    char recording[RECORDING_ID_TEXT];
    bool has_range;
    int64_t start_ns, end_ns; /* on the recording's own clock */
    char author[160];
    int64_t asked_ns, answered_ns; /* answered_ns 0: it waits */
    char problem[256];
    char result[RECORDING_ID_TEXT]; /* "": none */
};

/* Asks for it; one that asks for the same already is the answer. Fills the row. */
bool catalog_fetch_ask(struct catalog *c, const char *agent, struct catalog_fetch *fetch, struct reel_error *err);
/* Those of a recording, the newest first: up to FETCHES_SHOWN_MAX. */
bool catalog_fetches_of(struct catalog *c, const char *recording, struct catalog_fetch *out, uint32_t *n,
                        struct reel_error *err);
/* Those that wait for an agent, the oldest first: up to FETCHES_MAX. */
bool catalog_fetches_waiting(struct catalog *c, const char *agent, struct catalog_fetch *out, uint32_t *n,
                             struct reel_error *err);
/* The answer of the agent: fetch->problem, or fetch->result. REEL_NOT_FOUND: it waits for no such thing. */
bool catalog_fetch_answer(struct catalog *c, const char *agent, const struct catalog_fetch *fetch,
                          struct reel_error *err);

#endif
