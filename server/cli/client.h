/* What `reel ls`, search, tag, rm and get share: the server's address, requests in JSON, lists, names of recordings. */
#ifndef SERVER_CLI_CLIENT_H
#define SERVER_CLI_CLIENT_H

#include "cli/cli.h"
#include "cli/push_http.h"

struct client {
    char *api;         /* http://…/api/v1 */
    const char *query; /* what follows "?" in the address, "" without */
    const char *token_file;
    char token[PUSH_TOKEN_MAX];
    struct push_http *http;
    struct push_answer answer; /* 64 KiB */
};
#define CLIENT_TOKEN_OPTION(client)                                                                                    \
    {                                                                                                                  \
        .name = "token-file", .kind = CLI_TEXT, .to = &(client).token_file, .value = "FILE",                           \
        .help = "file with the token (default: the environment variable REEL_TOKEN)"                                   \
    }
bool client_is_url(const char *text);
/* Connects to the server that the first of the arguments names, which *first then passes over, or to $REEL_URL. */
bool client_open(struct client *c, char **argv, int argc, int *first, struct reel_error *err);
void client_done(struct client *c);
/* Another connection to the same server, for another thread. */
struct push_http *client_connect(const struct client *c, struct reel_error *err);

/* GET of a path below the API; NULL with err. */
json_t *client_get(struct client *c, const char *path, struct reel_error *err);
/* With a body (may be NULL); false unless the answer is a 2xx. */
bool client_send(struct client *c, const char *method, const char *path, const json_t *body, struct reel_error *err);
/* "?q=a%20b": adds a parameter to a path; *path becomes NULL without memory. */
void client_add(struct client *c, char **path, const char *name, const char *value);
void client_add_query(struct client *c, char **path); /* the parameters of the address */

/* The pages of a list, one after another: NULL at the end, or with err. `cursor` is NULL first, and free()d by the
 * caller after an error. */
json_t *client_page(struct client *c, struct push_http *http, const char *path, char **cursor, bool *more,
                    struct reel_error *err);
/* Calls `each` with the items of all pages, until it returns false. `limit` 0: all. */
bool client_list(struct client *c, const char *path, uint64_t limit,
                 bool (*each)(void *context, const json_t *item, struct reel_error *err), void *context,
                 struct reel_error *err);

/* "recordings/ID" of an id or COLLECTION/NAME, with `rest` behind it; malloc'd. */
char *client_recording(struct client *c, const char *recording, const char *rest, struct reel_error *err);

#endif
