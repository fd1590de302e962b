/* Checks the raw header section of a request. libmicrohttpd 0.9.75 parses it in place: it overwrites the separators of
 * names, values and lines with NULs. Every byte must belong to a name or value that the library reports, or be a blank
 * or one of those NULs in its place. Otherwise something is hidden: behind a NUL in a value, or in a line such as ":
 * x", which the library takes for the end and a proxy for a header. */
#include "http/http_internal.h"

#include <string.h>

struct head {
    const char *at, *end; /* checked up to `at`; end of the section */
    bool good;
};

/* Whether only blanks, then `nuls` NULs (the former line ends), lie before `to`. */
static bool is_separator(const struct head *h, const char *to, unsigned nuls) {
    const char *p = h->at;
    while (p < to && (*p == ' ' || *p == '\t')) {
        p++;
    }
    for (; nuls > 0 && p < to && *p == '\0'; p++) {
        nuls--;
    }
    return p == to && nuls == 0;
}

static bool lies_in(const struct head *h, const char *text, size_t size) {
    return text >= h->at && text <= h->end && size <= (size_t)(h->end - text);
}

static enum MHD_Result pass_header(void *context, enum MHD_ValueKind kind, const char *name, size_t name_size,
                                   const char *value, size_t value_size) {
    struct head *h = context;
    (void)kind;
    h->good = name && value && lies_in(h, name, name_size) && is_separator(h, name, 2); /* folded lines are stored
                                                                                           elsewhere */
    h->at = h->good ? name + name_size + 1 : h->at;                                     /* the colon is now a NUL */
    h->good =
        h->good && h->at <= h->end && h->at[-1] == '\0' && lies_in(h, value, value_size) && is_separator(h, value, 0);
    h->at = h->good ? value + value_size : h->at;
    return h->good ? MHD_YES : MHD_NO;
}

/* The request line was split at its blanks: there may be nothing else between its parts. */
static bool line_is_whole(const struct head *h, const char *method, const char *target, const char *version) {
    return lies_in(h, version, strlen(version)) &&
           (size_t)(version - method) == strlen(method) + 1 + strlen(target) + 1;
}

bool head_is_whole(struct MHD_Connection *mhd, const char *method, const char *target, const char *version) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);
    if (!library_parses_in_place() || !info) {
        return true; /* other versions may not parse in place */
    }
    struct head h = {.at = method, .end = method + info->header_size, .good = true};
    if (!line_is_whole(&h, method, target, version)) {
        return false;
    }
    h.at = version + strlen(version);
    MHD_get_connection_values_n(mhd, MHD_HEADER_KIND, pass_header, &h);
    return h.good && is_separator(&h, h.end, 4);
}
