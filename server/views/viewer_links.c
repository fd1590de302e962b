/* See viewer_links.h. */
#include "views/viewer_links.h"

#include <stdio.h>
#include <string.h>

#include "access/access.h"
#include "app.h"
#include "base/cleanup.h"
#include "base/text_stream.h"
#include "reel/time.h"
#include "views/addresses.h"

static const int64_t AFTER_START_NS = 1000000000;

static char *closed(FILE *f, char **text) { /* NULL: no memory */
    return text_stream_close(f, text) ? *text : NULL;
}

static char *viewer_links_target(const char *id, const char *what, const char *name, const char *after) {
    char *text = NULL;
    size_t size;
    FILE *f = open_memstream(&text, &size);
    if (f) {
        fprintf(f, "/api/v1/recordings/%s/%s", id, what);
        address_put_escaped(f, name);
        fputs(after, f);
    }
    return closed(f, &text);
}

/* Signed if a token is required, as viewers send none. */
static char *address(const struct http_request *r, const char *id, const char *what, const char *name,
                     const char *after) {
    char *text = NULL;
    size_t size;
    AUTO_MEM char *plain = viewer_links_target(id, what, name, after);
    AUTO_MEM char *link = plain ? access_link(r, plain) : NULL;
    FILE *f = link ? open_memstream(&text, &size) : NULL;
    if (f) {
        address_put_base(f, r);
        fputs(link, f);
    }
    return closed(f, &text);
}

static char *viewer_address(const char *viewer, const char *mcap, const char *layout,
                            const struct catalog_recording *row) {
    char *text = NULL, time[REEL_TIME_TEXT];
    size_t size;
    FILE *f = open_memstream(&text, &size);
    if (f) {
        fprintf(f, "%s%cds=remote-file&ds.url=", viewer, strchr(viewer, '?') ? '&' : '?');
        address_put_escaped(f, mcap);
        fputs("&layoutUrl=", f);
        address_put_escaped(f, layout);
        if (row->messages > 0 && row->start_ns >= 0) { /* not the very start, where most topics have nothing yet */
            int64_t tenth = (row->end_ns - row->start_ns) / 10;
            reel_time_rfc3339(row->start_ns + (tenth < AFTER_START_NS ? tenth : AFTER_START_NS), time);
            fputs("&time=", f);
            address_put_escaped(f, time);
        }
    }
    return closed(f, &text);
}

char *viewer_mcap_address(const struct http_request *r, const struct catalog_recording *row) {
    const char *slash = strrchr(row->name, '/');
    const char *name = slash ? slash + 1 : row->name;
    size_t size = strlen(name);
    bool is_mcap = size > 5 && strcmp(name + size - 5, ".mcap") == 0;
    return address(r, row->id, "as/", name, is_mcap ? "?view=foxglove" : ".mcap?view=foxglove");
}

void viewer_add_links(const struct http_request *r, json_t *recording, const struct catalog_recording *row) {
    const char *viewer = http_app(r)->config.viewer;
    if (!viewer || row->state != STATE_READY) {
        return;
    }
    AUTO_MEM char *mcap = viewer_mcap_address(r, row);
    AUTO_MEM char *layout = address(r, row->id, "layout.json", "", "");
    AUTO_MEM char *open = mcap && layout ? viewer_address(viewer, mcap, layout, row) : NULL;
    if (open) {
        json_t *links = json_pack("{s:s, s:s, s:s}", "viewer", open, "mcap", mcap, "layout", layout);
        json_object_update_missing(links, json_object_get(recording, "links"));
        json_object_set_new(recording, "links", links);
    }
}
