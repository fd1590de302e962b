/* See table.h. */
#include "api/table.h"

#include <stdio.h>
#include <string.h>

struct media {
    const char *media_type, *output, *sent_as;
    int form;
    bool rare; /* only offered where the caller names it */
};
static const struct media medias[] = {
    {"text/plain", "text", "text/plain; charset=utf-8", API_TABLE_TEXT, true},
    {"application/json", "json", "application/json", REEL_TABLE_JSON, false},
    {"text/csv", "csv", "text/csv; charset=utf-8; header=present", REEL_TABLE_CSV, false},
    {"application/x-ndjson", "ndjson", "application/x-ndjson", REEL_TABLE_NDJSON, false},
    {"application/vnd.apache.parquet", "parquet", "application/vnd.apache.parquet", REEL_TABLE_PARQUET, false},
    {"application/vnd.apache.arrow.stream", "arrows", "application/vnd.apache.arrow.stream", REEL_TABLE_ARROW, false},
    {"application/geo+json", "geojson", "application/geo+json", REEL_TABLE_GEOJSON, true},
};
enum { MEDIAS = sizeof medias / sizeof *medias };

const char *api_table_form(struct http_request *r, int fallback, int also, int *form) {
    const struct media *there[MEDIAS];
    const char *offers[MEDIAS + 1] = {NULL};
    char list[240] = "";
    size_t n = 1;
    for (size_t i = 0; i < MEDIAS; i++) {
        if (medias[i].form == fallback) {
            there[0] = &medias[i];
        } else if (!medias[i].rare || medias[i].form == also) {
            there[n++] = &medias[i];
        }
    }
    for (size_t i = 0, at = 0; i < n; i++) {
        offers[i] = there[i]->media_type;
        at += (size_t)snprintf(list + at, sizeof list - at, "%s%s", i == 0 ? "" : i + 1 < n ? ", " : " or ", offers[i]);
    }
    const char *output = http_param(r, "output"), *type = output ? NULL : http_negotiate(r, offers);
    for (size_t i = 0; i < n; i++) {
        if (output ? strcmp(there[i]->output, output) == 0 : type && strcmp(there[i]->media_type, type) == 0) {
            *form = there[i]->form;
            return there[i]->sent_as;
        }
    }
    http_reply_problem(r, 406, "not-acceptable", "this is available as %s", list);
    return NULL;
}
