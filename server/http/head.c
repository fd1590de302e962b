/* The raw head of a request, which libmicrohttpd 0.9.75 reads in place: it puts NULs over what divides names, values and lines, and leaves
 * the rest as it came. Its one rule: every byte of the head is a part of what the library has told of it, or a blank, or one of those NULs,
 * each in its place; so nothing hides behind a NUL in a value, and no line that the library took for the end (": x") was one that a proxy
 * took for a header. */
#include "http/http_internal.h"

#include <string.h>

struct head {
    const char *at, *end; /* what has been gone through ends here; the head */
    bool good;
};

/* Blanks, and then as many NULs as the line ends that stand there have bytes; false: anything else up to `to`. */
static bool goes_on(const struct head *h, const char *to, unsigned nuls) {
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

static enum MHD_Result pass_header(void *context, enum MHD_ValueKind kind, const char *name, size_t name_size, const char *value,
                                   size_t value_size) {
    struct head *h = context;
    (void)kind;
    h->good = name && value && lies_in(h, name, name_size) && goes_on(h, name, 2); /* folded ones lie elsewhere */
    h->at = h->good ? name + name_size + 1 : h->at;                                /* a NUL for the colon */
    h->good = h->good && h->at <= h->end && h->at[-1] == '\0' && lies_in(h, value, value_size) && goes_on(h, value, 0);
    h->at = h->good ? value + value_size : h->at;
    return h->good ? MHD_YES : MHD_NO;
}

/* The first line was cut at its blanks: nothing else may lie between what it was cut into. */
static bool line_is_whole(const struct head *h, const char *method, const char *target, const char *version) {
    return lies_in(h, version, strlen(version)) && (size_t)(version - method) == strlen(method) + 1 + strlen(target) + 1;
}

bool head_is_whole(struct MHD_Connection *mhd, const char *method, const char *target, const char *version) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);
    if (strcmp(MHD_get_version(), "0.9.75") != 0 || !info) {
        return true; /* others are not known to read in place */
    }
    struct head h = {.at = method, .end = method + info->header_size, .good = true};
    if (!line_is_whole(&h, method, target, version)) {
        return false;
    }
    h.at = version + strlen(version);
    MHD_get_connection_values_n(mhd, MHD_HEADER_KIND, pass_header, &h);
    return h.good && goes_on(&h, h.end, 4);
}
