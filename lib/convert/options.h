/* Options that only some writers have, as rows of a table (struct reel_writer.options). From the rows come the options
 * of the command line and their help, the parameters of HTTP, their part of the entity tag, the OpenAPI document and
 * the manual page. */
#ifndef REEL_CONVERT_OPTIONS_H
#define REEL_CONVERT_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/limits.h"
#include "reel/error.h"

enum reel_write_option_type {
    REEL_OPTION_FLAG,
    REEL_OPTION_UINT,
    REEL_OPTION_BYTES,
    REEL_OPTION_DURATION, /* in ns */
    REEL_OPTION_CHOICE,
    REEL_OPTION_GLOBS, /* may be given several times */
};

struct reel_write_option { /* tables end with {0} */
    const char *name;      /* of a parameter: "block_size"; on the command line --block-size */
    enum reel_write_option_type type;
    bool is_variant;            /* a choice that selects the writer by its variant; the first one selects none */
    uint64_t least, most;       /* of a number; most of globs: how many; most 0: no bound */
    const char *const *choices; /* NULL-terminated */
    const char *initial;        /* the value where it is not given, as text; NULL: 0, or none */
    const char *help;           /* begins with a small letter and ends without a full stop */
};

struct reel_write_value {
    const char *name; /* of its option */
    const char *text; /* of a choice or glob; else "" */
    uint64_t number;  /* of the others */
};

struct reel_write_values { /* as they were given */
    struct reel_write_value items[REEL_WRITE_VALUES_MAX];
    uint32_t n;
};

/* The row of this name; NULL: none. `options` may be NULL. */
const struct reel_write_option *reel_write_option_find(const struct reel_write_option *options, const char *name);
/* Checks the text and its range. It must outlive the value. NULL or "" sets a flag. */
bool reel_write_option_parse(const struct reel_write_option *option, const char *text, struct reel_write_value *value,
                             struct reel_error *err);
/* Adds a value, or replaces the one that the option has; values of globs are added. */
bool reel_write_values_add(struct reel_write_values *values, const struct reel_write_option *option, const char *text,
                           struct reel_error *err);
/* The i-th value of an option of the table; the row's initial one where there is none and i is 0. False: there are no
 * more. */
bool reel_write_values_find(const struct reel_write_option *options, const struct reel_write_value *values, uint32_t n,
                            const char *name, uint32_t i, struct reel_write_value *value);

#endif
