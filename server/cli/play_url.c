/* See play_url.h. The options become the parameters of GET /recordings/{id}/play. */
#include "cli/play_url.h"

#include <string.h>

#include "base/bytes.h"
#include "base/cleanup.h"
#include "base/grow.h"
#include "base/hex.h"
#include "cli/push_http.h"

enum { ID_SIZE = 32 };
static const char collection[] = "/recordings/";

static void play_url_put_text(struct grow *out, const char *text) {
    grow_put(out, text, strlen(text));
}

static void put_param(struct grow *out, struct push_http *http, const char *name, const char *value) {
    AUTO_MEM char *escaped = value ? push_http_escape(http, value) : NULL;
    if (escaped) {
        play_url_put_text(out, "&");
        play_url_put_text(out, name);
        play_url_put_text(out, "=");
        play_url_put_text(out, escaped);
    }
    out->failed |= value && !escaped;
}

static void play_url_put_list(struct grow *out, struct push_http *http, const char *name,
                              const struct option_list *list) {
    for (size_t i = 0; i < list->count; i++) {
        put_param(out, http, name, list->items[i]);
    }
}

static void put_params(struct grow *out, struct push_http *http, const struct play_url_options *o) {
    const struct cli_select *s = o->select;
    play_url_put_list(out, http, "topic", &s->topics);
    play_url_put_list(out, http, "exclude_topic", &s->exclude);
    play_url_put_list(out, http, "channel", &s->channels);
    play_url_put_list(out, http, "where", &s->where);
    play_url_put_list(out, http, "rename", &s->renames);
    put_param(out, http, "start", s->start.text);
    put_param(out, http, "end", s->end.text);
    put_param(out, http, "every", s->every.text);
    put_param(out, http, "last", s->last ? "true" : NULL);
    put_param(out, http, "speed", o->speed);
    put_param(out, http, "rate", o->rate);
    put_param(out, http, "clock", o->clock);
    put_param(out, http, "max_gap", o->max_gap);
    put_param(out, http, "follow", o->follow);
    put_param(out, http, "loop", o->loop ? "true" : NULL);
    put_param(out, http, "decode", o->undecoded ? "none" : NULL);
    put_param(out, http, "channels", o->channels ? "true" : NULL);
    put_param(out, http, "output", o->output);
}

/* The address of the playback; the URL may have parameters of its own. */
static bool make_address(struct grow *out, struct push_http *http, const char *url, const struct play_url_options *o,
                         struct reel_error *err) {
    const char *query = strchr(url, '?'), *at = strstr(url, collection);
    size_t path = query ? (size_t)(query - url) : strlen(url), before = at ? (size_t)(at - url) : 0,
           id = before + sizeof collection - 1;
    bool good = at && before < path && hex_span(url + id) == ID_SIZE;
    const char *rest = good ? url + id + ID_SIZE : "";
    if (!good || (*rest && *rest != '?' && strncmp(rest, "/", 1) != 0)) {
        return reel_fail(err, REEL_ARGUMENT,
                         "the address of a recording is expected: http://HOST/api/v1/recordings/ID");
    }
    AUTO_MEM char *server = strndup(url, before), *api = server ? push_http_api(server) : NULL;
    if (!api) {
        return reel_fail_memory(err);
    }
    play_url_put_text(out, api);
    grow_put(out, at, sizeof collection - 1 + ID_SIZE);
    play_url_put_text(out, "/play");
    bool is_api = query && strlen(api) == before; /* a page's address has other parameters */
    play_url_put_text(out, is_api ? query : "?");
    put_params(out, http, o);
    grow_u8(out, 0);
    return !out->failed || reel_fail_memory(err);
}

static bool play_url_go_on(void) {
    return !cli_interrupted();
}

bool play_url(const char *url, const struct play_url_options *options, struct reel_error *err) {
    char token[PUSH_TOKEN_MAX];
    AUTO_MEM struct push_answer *answer = calloc(1, sizeof *answer); /* 64 KiB */
    if (!answer) {
        return reel_fail_memory(err);
    }
    if (!push_http_token(options->token_file, token, err)) {
        return false;
    }
    AUTO(push_http_free) struct push_http *http = push_http_new(token[0] ? token : NULL, play_url_go_on, err);
    struct grow address = {0};
    bool good = http && make_address(&address, http, url, options, err);
    AUTO_MEM uint8_t *text = address.data;
    const struct push_request q = {
        .method = "GET", .url = (const char *)text, .write = options->write, .context = options->context};
    return good && push_http_do(http, &q, answer, err) && (answer->status == 200 || push_http_refused(answer, err));
}
