/* The server's settings. Members, names, defaults and help come from serve_options.inc. */
#ifndef SERVER_APP_CONFIG_H
#define SERVER_APP_CONFIG_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

struct option_list { /* values of a repeated option, NULL-terminated; items NULL: none */
    const char **items;
    uint32_t count;
};
static inline void reel_auto_option_list_done(struct option_list *list) {
    free(list->items);
}

enum { LOG_LOGFMT, LOG_JSON }; /* app_config.log_format */

/* clang-format off */
#define TEXT(member, ...) const char *member;
#define LIST(member, ...) struct option_list member;
#define FLAG(member, ...) bool member;
#define CHOICE(member, ...) int member;
#define NUMBER(type, member, ...) type member;
#define DURATION(member, ...) unsigned member;
struct app_config {
#include "serve_options.inc"
    int listen_fd; /* a socket that is already listening; 0: none */
};
#undef TEXT
#undef LIST
#undef FLAG
#undef CHOICE
#undef NUMBER
#undef DURATION
/* clang-format on */

/* The part of --derived-mb for what compressed exports keep; the rest is for named files. */
static inline uint64_t app_kept_bytes(const struct app_config *config) {
    return config->derived_bytes / 4;
}

#endif
