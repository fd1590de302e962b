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
static char *absolute(const struct http_request *r, const char *target) {
    char *text = NULL;
    size_t size;
    AUTO_MEM char *link = access_link(r, target);
    FILE *f = link ? open_memstream(&text, &size) : NULL;
    if (f) {
        address_put_base(f, r);
        fputs(link, f);
    }
    return closed(f, &text);
}

static char *address(const struct http_request *r, const char *id, const char *what, const char *name,
                     const char *after) {
    AUTO_MEM char *plain = viewer_links_target(id, what, name, after);
    return plain ? absolute(r, plain) : NULL;
}

static char *viewer_address(const char *viewer, const char *data, const char *layout,
                            const struct catalog_recording *row) {
    bool live = row->state == STATE_RECORDING;
    char *text = NULL, time[REEL_TIME_TEXT];
    size_t size;
    FILE *f = open_memstream(&text, &size);
    if (f) {
        fprintf(f, "%s%cds=%s&ds.url=", viewer, strchr(viewer, '?') ? '&' : '?',
                live ? "foxglove-websocket" : "remote-file");
        address_put_escaped(f, data);
        fputs("&layoutUrl=", f);
        address_put_escaped(f, layout);
        if (!live && row->messages > 0 && row->start_ns >= 0) { /* not the very start, where most topics have nothing
                                                                   yet */
            int64_t tenth = (row->end_ns - row->start_ns) / 10;
            reel_time_rfc3339(row->start_ns + (tenth < AFTER_START_NS ? tenth : AFTER_START_NS), time);
            fputs("&time=", f);
            address_put_escaped(f, time);
        }
    }
    return closed(f, &text);
}

static const char *file_name(const struct catalog_recording *row) {
    const char *slash = strrchr(row->name, '/');
    return slash ? slash + 1 : row->name;
}

char *viewer_mcap_address(const struct http_request *r, const struct catalog_recording *row) {
    const char *name = file_name(row);
    size_t size = strlen(name);
    bool is_mcap = size > 5 && strcmp(name + size - 5, ".mcap") == 0;
    return address(r, row->id, "as/", name, is_mcap ? "?view=foxglove" : ".mcap?view=foxglove");
}

/* Of a live recording, which viewers follow by WebSocket; malloc'd. */
static char *socket_address(const struct http_request *r, const struct catalog_recording *row) {
    char target[96], *text = NULL;
    snprintf(target, sizeof target, "/ws/recordings/%s?follow=true", row->id);
    AUTO_MEM char *http = absolute(r, target);
    return http && asprintf(&text, "ws%s", http + strlen("http")) >= 0 ? text : NULL;
}

/* NULL: no memory. */
static json_t *viewer_links(const struct http_request *r, const char *viewer, const struct catalog_recording *row) {
    bool live = row->state == STATE_RECORDING;
    AUTO_MEM char *data = live ? socket_address(r, row) : viewer_mcap_address(r, row);
    AUTO_MEM char *layout = address(r, row->id, "layout.json", "", "");
    AUTO_MEM char *open = data && layout ? viewer_address(viewer, data, layout, row) : NULL;
    return open ? json_pack("{s:s, s:s, s:s}", "viewer", open, live ? "websocket" : "mcap", data, "layout", layout)
                : NULL;
}

/* Of Mol*, for molecules: the topology and the first frame. NULL: no memory. */
static json_t *molecule_links(const struct http_request *r, const char *viewer, const struct catalog_recording *row) {
    AUTO_MEM char *pdb = address(r, row->id, "as/", file_name(row), ".pdb");
    AUTO_MEM char *open = NULL;
    char *text = NULL;
    size_t size;
    FILE *f = pdb ? open_memstream(&text, &size) : NULL;
    if (f) {
        fprintf(f, "%s%cstructure-url=", viewer, strchr(viewer, '?') ? '&' : '?');
        address_put_escaped(f, pdb);
        fputs("&structure-url-format=pdb", f);
    }
    open = closed(f, &text);
    return open ? json_pack("{s:s}", "mol", open) : NULL;
}

static void add_links(json_t *recording, json_t *links) {
    json_object_update_missing(links, json_object_get(recording, "links"));
    json_object_set_new(recording, "links", links);
}

void viewer_add_links(const struct http_request *r, json_t *recording, const struct catalog_recording *row) {
    const struct app_config *config = &http_app(r)->config;
    bool ready = row->state == STATE_READY;
    if (config->viewer && (ready || row->state == STATE_RECORDING)) {
        add_links(recording, viewer_links(r, config->viewer, row));
    }
    if (config->viewer_mol && ready && strcmp(row->format, "nanover") == 0) {
        add_links(recording, molecule_links(r, config->viewer_mol, row));
    }
}
