/* The header of a forwarded request: "X-Reel-Passed: SECONDS REMOTE MAC". SECONDS: the time, REMOTE: the
 * address that the request came from, MAC: the signature of both, of the addressee's id, and of the request but its
 * body. So whoever reads it on the way can send the same request again for a minute, with any body, to the same server,
 * and nothing else. */
#include "base/ascii.h"
#include "peers/peers_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "access/access.h"
#include "app.h"
#include "base/cleanup.h"
#include "base/text_stream.h"
#include "reel/time.h"

#define FORWARDED "X-Reel-Passed"
#define REQUEST_ID "X-Request-Id"
enum { SECONDS_OFF = 60 };

struct forward_header {
    char remote[HTTP_REMOTE], mac[LINK_MAC_TEXT];
    long long seconds;
};

static void forward_header_put_line(void *context, const char *name, const char *value) {
    fprintf(context, "%s: %s\n", name, value);
}

/* The text that is signed, but for the headers. */
static FILE *open_text(const struct http_request *r, const struct forward_header *p, const char *to, char **text,
                       size_t *size) {
    FILE *out = open_memstream(text, size);
    if (out) {
        fprintf(out, "%s\n%lld\n%s\n%s %s\nHost: %s\n", to, p->seconds, p->remote, http_method(r), http_target(r),
                http_header(r, "Host"));
    }
    return out;
}

/* ---- to another server */

struct outgoing {
    FILE *text;
    struct curl_slist *list;
    bool failed;
};

static void forward_header_add(struct outgoing *o, const char *line) {
    struct curl_slist *longer = o->failed || !line ? NULL : curl_slist_append(o->list, line);
    o->failed = !longer;
    o->list = longer ? longer : o->list;
}

static void add_header(struct outgoing *o, const char *name, const char *value) {
    AUTO_MEM char *line = NULL;
    bool empty = value[0] == '\0'; /* written "NAME;" for the library */
    if (asprintf(&line, "%s%s%s", name, empty ? ";" : ": ", value) < 0) {
        line = NULL;
    }
    forward_header_add(o, line);
}

static void take_header(void *context, const char *name, const char *value) {
    struct outgoing *o = context;
    if (ascii_casecmp(name, REQUEST_ID) != 0) {
        forward_header_put_line(o->text, name, value);
        add_header(o, name, value);
    }
}

static void add_mac(struct outgoing *o, const struct forward_header *p) {
    char value[160];
    snprintf(value, sizeof value, "%lld %s %s", p->seconds, p->remote, p->mac);
    add_header(o, FORWARDED, value);
}

struct curl_slist *forward_headers(const struct http_request *r, const char *to, struct reel_error *err) {
    struct app *app = http_app(r);
    struct forward_header p = {.seconds = reel_now_ns() / 1000000000};
    AUTO_MEM char *text = NULL;
    size_t size;
    snprintf(p.remote, sizeof p.remote, "%s", http_remote(r));
    struct outgoing o = {.text = open_text(r, &p, to, &text, &size)};
    if (!o.text) {
        reel_fail_memory(err);
        return NULL;
    }
    http_each_header(r, FORWARDED, take_header, &o);
    forward_header_put_line(o.text, REQUEST_ID, http_id(r));
    add_header(&o, REQUEST_ID, http_id(r));
    add_header(&o, "Host", http_header(r, "Host"));
    const char *const not_by_itself[] = {"Accept", "Content-Type", "Expect"}; /* what the library would add */
    for (unsigned i = 0; i < 3; i++) {
        char line[32];
        snprintf(line, sizeof line, "%s:", not_by_itself[i]);
        if (i == 2 || !http_header(r, not_by_itself[i])) {
            forward_header_add(&o, line);
        }
    }
    bool good = (text_stream_close(o.text, &text) && !o.failed) || reel_fail_memory(err);
    if (good && (good = access_mac(app->access, text, size, p.mac, err))) {
        add_mac(&o, &p);
        good = !o.failed || reel_fail_memory(err);
    }
    if (!good) {
        curl_slist_free_all(o.list);
    }
    return good ? o.list : NULL;
}

/* ---- from another server */

static bool read_forward_header(const char *header, struct forward_header *p) {
    int end = 0;
    return sscanf(header, "%lld %63[0-9a-fA-F.:] %43[A-Za-z0-9_-]%n", &p->seconds, p->remote, p->mac, &end) == 3 &&
           header[end] == '\0';
}

enum http_forwarding peers_forwarded(const struct http_request *r, char remote[HTTP_REMOTE]) {
    struct app *app = http_app(r);
    const char *header = http_header(r, FORWARDED);
    struct forward_header p;
    AUTO_MEM char *text = NULL;
    size_t size;
    if (!header || !app->shared) {
        return HTTP_DIRECT;
    }
    if (http_header_count(r, FORWARDED) != 1 || !read_forward_header(header, &p)) {
        return HTTP_FORGED;
    }
    long long now = reel_now_ns() / 1000000000;
    bool recent = p.seconds >= now - SECONDS_OFF && p.seconds <= now + SECONDS_OFF;
    FILE *out = recent ? open_text(r, &p, app->id, &text, &size) : NULL;
    if (!out) {
        return HTTP_FORGED;
    }
    http_each_header(r, FORWARDED, forward_header_put_line, out);
    if (!text_stream_close(out, &text) || !access_mac_matches(app->access, text, size, p.mac)) {
        return HTTP_FORGED;
    }
    memcpy(remote, p.remote, sizeof p.remote);
    return HTTP_FORWARDED;
}
