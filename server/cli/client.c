/* See client.h. */
#include "cli/client.h"

#include <string.h>

#include "base/ascii.h"
#include "base/cleanup.h"
#include "base/hex.h"
#include "json_whole.h"

enum { ID_SIZE = 32 };

bool client_is_url(const char *text) {
    return ascii_ncasecmp(text, "http://", 7) == 0 || ascii_ncasecmp(text, "https://", 8) == 0;
}

static bool client_go_on(void) {
    return !cli_interrupted();
}

struct push_http *client_connect(const struct client *c, struct reel_error *err) {
    return push_http_new(c->token[0] ? c->token : NULL, client_go_on, err);
}

bool client_open(struct client *c, char **argv, int argc, int *first, struct reel_error *err) {
    const char *usual = getenv("REEL_URL");
    bool given = *first < argc && client_is_url(argv[*first]);
    const char *url = given ? argv[*first] : usual && *usual ? usual : NULL;
    if (!url) {
        return reel_fail(err, REEL_ARGUMENT, "the server's address is missing: http://HOST:8040, or REEL_URL");
    }
    const char *query = strchr(url, '?');
    AUTO_MEM char *server = strndup(url, query ? (size_t)(query - url) : strlen(url));
    *first += given;
    c->query = query ? query + 1 : "";
    if (!server || !(c->api = push_http_api(server))) {
        return reel_fail_memory(err);
    }
    cli_catch_interrupt();
    return push_http_token(c->token_file, c->token, err) && (c->http = client_connect(c, err));
}

void client_done(struct client *c) {
    push_http_free(c->http);
    free(c->api);
}

json_t *client_get(struct client *c, const char *path, struct reel_error *err) {
    AUTO_MEM char *url = NULL;
    if (asprintf(&url, "%s/%s", c->api, path) < 0) {
        reel_fail_memory(err);
        return NULL;
    }
    json_t *json = push_http_json(c->http, url, NULL, false, &c->answer, err);
    if (!json && err->code == REEL_OK) {
        push_http_refused(&c->answer, err);
    }
    return json;
}

static bool client_read(void *context, void *buffer, size_t size, size_t *got) {
    struct reel_bytes *left = context;
    *got = left->size < size ? left->size : size;
    memcpy(buffer, left->data, *got);
    left->data += *got;
    left->size -= *got;
    return true;
}

bool client_send(struct client *c, const char *method, const char *path, const json_t *body, struct reel_error *err) {
    AUTO_MEM char *url = NULL, *text = body ? json_whole_text(body, JSON_COMPACT) : NULL;
    if ((body && !text) || asprintf(&url, "%s/%s", c->api, path) < 0) {
        return reel_fail_memory(err);
    }
    struct reel_bytes left = {.data = (const uint8_t *)text, .size = text ? strlen(text) : 0};
    const struct push_request q = {.method = method,
                                   .url = url,
                                   .headers = {body ? "Content-Type: application/json" : NULL},
                                   .read = body ? client_read : NULL,
                                   .context = &left,
                                   .length = left.size};
    return push_http_do(c->http, &q, &c->answer, err) &&
           (c->answer.status / 100 == 2 || push_http_refused(&c->answer, err));
}

/* ---- addresses */

void client_add(struct client *c, char **path, const char *name, const char *value) {
    AUTO_MEM char *before = *path, *escaped = push_http_escape(c->http, value);
    *path = NULL;
    if (before && escaped && asprintf(path, "%s%c%s=%s", before, strchr(before, '?') ? '&' : '?', name, escaped) < 0) {
        *path = NULL;
    }
}

void client_add_query(struct client *c, char **path) {
    AUTO_MEM char *before = c->query[0] ? *path : NULL;
    if (before && asprintf(path, "%s%c%s", before, strchr(before, '?') ? '&' : '?', c->query) < 0) {
        *path = NULL;
    }
}

char *client_recording(struct client *c, const char *recording, const char *rest, struct reel_error *err) {
    const char *slash = strchr(recording, '/');
    char *path = NULL;
    int n = -1;
    if (hex_is(recording, ID_SIZE)) {
        n = asprintf(&path, "recordings/%s%s", recording, rest);
    } else if (!slash || slash == recording || slash[1] == '\0') {
        reel_fail(err, REEL_ARGUMENT, "\"%.200s\" is neither COLLECTION/NAME nor the id of a recording", recording);
        return NULL;
    } else {
        AUTO_MEM char *escaped = push_http_escape(c->http, recording);
        n = escaped ? asprintf(&path, "recordings/name:%s%s", escaped, rest) : -1;
    }
    if (n < 0) {
        reel_fail_memory(err);
        return NULL;
    }
    return path;
}

/* ---- lists */

json_t *client_page(struct client *c, struct push_http *http, const char *path, char **cursor, bool *more,
                    struct reel_error *err) {
    const char *before = !*cursor ? "" : strchr(path, '?') ? "&cursor=" : "?cursor=";
    AUTO_MEM char *url = NULL;
    AUTO_MEM struct push_answer *answer = malloc(sizeof *answer);
    if (!answer || asprintf(&url, "%s/%s%s%s", c->api, path, before, *cursor ? *cursor : "") < 0) {
        reel_fail_memory(err);
        return NULL;
    }
    json_t *page = push_http_json(http, url, NULL, false, answer, err);
    const char *next = json_string_value(json_object_get(page, "next"));
    free(TAKE(*cursor));
    *more = next;
    if (page && next && !(*cursor = push_http_escape(http, next))) {
        reel_fail_memory(err);
    } else if (page && !json_is_array(json_object_get(page, "items"))) {
        reel_fail(err, REEL_DAMAGED, "the answer is no list");
    } else if (page || err->code != REEL_OK) {
        return page;
    } else {
        push_http_refused(answer, err);
    }
    json_decref(page);
    return NULL;
}

bool client_list(struct client *c, const char *path, uint64_t limit,
                 bool (*each)(void *context, const json_t *item, struct reel_error *err), void *context,
                 struct reel_error *err) {
    AUTO_MEM char *cursor = NULL;
    uint64_t n = 0;
    bool more = true, good = true;
    while (good && more) {
        json_auto_t *page = client_page(c, c->http, path, &cursor, &more, err);
        size_t i;
        json_t *item;
        good = page;
        json_array_foreach(json_object_get(page, "items"), i, item) {
            if (!good || (limit > 0 && n++ == limit)) {
                return good;
            }
            good = each(context, item, err);
        }
    }
    return good;
}
