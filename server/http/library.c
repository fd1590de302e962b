/* What depends on the version of libmicrohttpd: head.c and hide_query() fit only the one whose parser they were written
 * for; later ones have an option for strictness, which is set. */
#include "http/http_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* MHD_OPTION_CLIENT_DISCIPLINE_LVL, which the headers of older versions do not have, and the level that its document
 * names for applications centred on security. */
enum { OPTION_DISCIPLINE = 38, DISCIPLINE_SECURE = 2 };

bool library_parses_in_place(void) {
    return strcmp(MHD_get_version(), "0.9.75") == 0;
}

bool library_strictness(struct MHD_OptionItem *out) {
    bool has = strtol(MHD_get_version(), NULL, 10) >= 1;
    *out = (struct MHD_OptionItem){.option = has ? (enum MHD_OPTION)OPTION_DISCIPLINE : MHD_OPTION_END,
                                   .value = has ? DISCIPLINE_SECURE : 0};
    return has;
}

void library_report(const struct http_server *server) {
    const struct http_options *options = &server->options;
    struct MHD_OptionItem item;
    char line[400];
    if (library_parses_in_place() || !options->log) {
        return;
    }
    snprintf(line, sizeof line,
             "reel: libmicrohttpd %s is not the 0.9.75 that the check of raw request headers fits: it is off, %s; "
             "requests with very many parameters may be cut off without an answer",
             MHD_get_version(),
             library_strictness(&item) ? "and the library's own strictness is on instead"
                                       : "so a proxy in front should refuse malformed headers (docs/security.md)");
    options->log(options->app, line);
}
