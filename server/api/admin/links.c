/* /links and /recordings/{id}/links: signs URLs that work without a token for a limited time. */
#include <stdlib.h>

#include "access/access.h"
#include "api/admin/admin.h"
#include "api/body.h"
#include "api/recording.h"
#include "base/cleanup.h"
#include "base/text_stream.h"
#include "views/addresses.h"
#include "views/views.h"

enum { LINK_DAYS_MAX = 366 };
static const int64_t SECOND_NS = 1000000000, LINK_DEFAULT_NS = 86400 * INT64_C(1000000000);

static bool read_expires(struct http_request *r, const json_t *value, int64_t *expires_s) {
    int64_t now = reel_now_ns(), ns = LINK_DEFAULT_NS;
    struct reel_time t;
    const char *text = json_string_value(value);
    bool good = !value || (text && reel_duration_parse(text, &ns, NULL));
    if (!good && text && reel_time_parse(text, 1, &t, NULL) &&
        (t.kind == REEL_TIME_ABSOLUTE || t.kind == REEL_TIME_FROM_NOW)) {
        int64_t at = reel_time_resolve(&t, 0, 0, now);
        good = at > now;
        ns = good ? at - now : 0;
    }
    if (!good || ns > LINK_DAYS_MAX * LINK_DEFAULT_NS) {
        http_reply_problem(r, 400, "bad-body",
                           "expires is a duration such as \"12h\", or a future time, at most %d days from now",
                           LINK_DAYS_MAX);
        return false;
    }
    *expires_s = (now + ns) / SECOND_NS + 1;
    return true;
}

void api_link_create(struct http_request *r) {
    static const char *const known[] = {"path", "expires", NULL};
    struct reel_error err = {0};
    int64_t expires_s;
    json_t *body = body_json(r);
    http_audit(r);
    if (!body || !body_knows(r, body, known) || !read_expires(r, json_object_get(body, "expires"), &expires_s)) {
        return;
    }
    const char *path = json_string_value(json_object_get(body, "path"));
    AUTO_MEM char *signed_path = NULL;
    if (!path || !access_sign(http_app(r)->access, http_caller(r), http_without_prefix(r, path), expires_s,
                              &signed_path, &err)) {
        if (!path) {
            reel_fail(&err, REEL_ARGUMENT, "path is the path of the link, such as /api/v1/recordings/ID/as/run.mcap");
        }
        http_reply_error(r, &err);
        return;
    }
    http_add_header(r, "Cache-Control", "no-store");
    http_reply_json(r, 201,
                    json_pack("{s:o, s:o}", "url", json_sprintf("%s%s", http_prefix(r), signed_path), "expires",
                              view_time(expires_s * SECOND_NS, REEL_CLOCK_WALL)));
}

/* The key is in the fragment of the page's address, which browsers do not send: it gets into no log and no Referer. */
static json_t *page_address(const struct http_request *r, const char *recording, const char *key) {
    AUTO_MEM char *text = NULL;
    size_t size;
    FILE *f = open_memstream(&text, &size);
    if (!f) {
        return NULL;
    }
    address_put_base(f, r);
    fprintf(f, "/recordings/%s#link=%s", recording, key);
    return text_stream_close(f, &text) ? json_string(text) : NULL;
}

void api_recording_link(struct http_request *r) {
    static const char *const known[] = {"expires", NULL};
    struct reel_error err = {0};
    struct api_recording a;
    int64_t expires_s;
    char key[LINK_KEY_TEXT];
    json_t *body = body_json(r);
    http_audit(r);
    if (!body || !body_knows(r, body, known) || !read_expires(r, json_object_get(body, "expires"), &expires_s) ||
        !api_find(r, &a)) {
        return;
    }
    if (!access_sign_recording(http_app(r)->access, http_caller(r), a.row.id, expires_s, key, &err)) {
        http_reply_error(r, &err);
    } else {
        http_add_header(r, "Cache-Control", "no-store");
        http_reply_json(r, 201,
                        json_pack("{s:o, s:s, s:o}", "url", page_address(r, a.row.id, key), "key", key, "expires",
                                  view_time(expires_s * SECOND_NS, REEL_CLOCK_WALL)));
    }
    api_recording_done(&a);
}
