/* See table.h. */
#include "api/table.h"

#include <string.h>

struct media {
    const char *media_type, *format, *sent_as;
    int form;
};
static const struct media medias[] = {
    {"text/plain", "text", "text/plain; charset=utf-8", API_TABLE_TEXT},
    {"application/json", "json", "application/json", REEL_TABLE_JSON},
    {"text/csv", "csv", "text/csv; charset=utf-8; header=present", REEL_TABLE_CSV},
    {"application/x-ndjson", "ndjson", "application/x-ndjson", REEL_TABLE_NDJSON},
};
enum { MEDIAS = sizeof medias / sizeof *medias };

static const char *choose(struct http_request *r, const char *const *offers, bool has_text, int *form) {
    const char *format = http_param(r, "format"), *type = format ? NULL : http_negotiate(r, offers);
    for (size_t i = !has_text; i < MEDIAS; i++) {
        if (format ? strcmp(medias[i].format, format) == 0 : type && strcmp(medias[i].media_type, type) == 0) {
            *form = medias[i].form;
            return medias[i].sent_as;
        }
    }
    http_reply_problem(r, 406, "not-acceptable", "this is given as %sapplication/json, text/csv or application/x-ndjson", has_text ? "text/plain, " : "");
    return NULL;
}

const char *api_table_form(struct http_request *r, bool has_text, int *form) {
    static const char *const offers[] = {"text/plain", "application/json", "text/csv", "application/x-ndjson", NULL};
    return choose(r, offers + !has_text, has_text, form);
}

const char *api_table_form_of(struct http_request *r, enum reel_table_form usual, int *form) {
    const char *offers[MEDIAS + 1] = {NULL};
    size_t n = 1;
    for (size_t i = 1; i < MEDIAS; i++) {
        offers[medias[i].form == (int)usual ? 0 : n++] = medias[i].media_type;
    }
    return choose(r, offers, false, form);
}
