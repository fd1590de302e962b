/* What commands receive from a server: JSON, and files, which are checked by their SHA-256. What was received of a file
 * is kept as NAME.part, and continued the next time. */
#ifndef SERVER_CLI_DOWNLOAD_H
#define SERVER_CLI_DOWNLOAD_H

#include <jansson.h>

#include "cli/push_http.h"

struct download {
    const char *folder; /* that files are written below */
    char *api;          /* push_http_api() */
    struct push_http *http;
    struct push_answer answer; /* the last one */
    uint32_t received, skipped, failed;
    bool dry_run; /* files are not received, only named on stdout */
};
bool download_open(struct download *d, const char *token_file, const char *address, struct reel_error *err);
bool download_folder(const struct download *d, struct reel_error *err); /* makes the folder */
void download_done(struct download *d);

/* The answer 200 to GET, or with a body to POST; a new reference, NULL with err. */
json_t *download_json(struct download *d, const char *url, const char *body, struct reel_error *err);
/* Receives a file as NAME.part, checks its digest and gives it its name; one that is there is skipped. `path` begins
 * with the folder. */
bool download_file(struct download *d, char *path, const char *url, const char *sha256, uint64_t size,
                   struct reel_error *err);

#endif
