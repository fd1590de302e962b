/* See pattern.h. */
#define PCRE2_CODE_UNIT_WIDTH 8
#include "catalog/pattern.h"
#include "base/cleanup.h"

#include <pcre2.h>
#include <string.h>

enum { STEPS_MAX = 20000, DEPTH_MAX = 250, HEAP_KIB_MAX = 512, PARENS_MAX = 20 };

struct pattern {
    pcre2_code *code;
    pcre2_match_data *match;
    pcre2_match_context *limits;
};

static bool fail(int code, size_t at, struct reel_error *err) {
    PCRE2_UCHAR text[160];
    pcre2_get_error_message(code, text, sizeof text);
    return reel_fail(err, REEL_ARGUMENT, "regular expression, byte %zu: %s", at + 1, (const char *)text);
}

static pcre2_code *compile(const char *text, struct reel_error *err) {
    pcre2_compile_context *context = pcre2_compile_context_create(NULL);
    int problem;
    PCRE2_SIZE at;
    if (!context) {
        reel_fail_memory(err);
        return NULL;
    }
    pcre2_set_parens_nest_limit(context, PARENS_MAX);
    pcre2_code *code = pcre2_compile((PCRE2_SPTR)text, PCRE2_ZERO_TERMINATED,
                                     PCRE2_UTF | PCRE2_NEVER_BACKSLASH_C | PCRE2_NEVER_UCP, &problem, &at, context);
    pcre2_compile_context_free(context);
    if (!code) {
        fail(problem, at, err);
    }
    return code;
}

struct pattern *pattern_new(const char *text, struct reel_error *err) {
    if (strlen(text) > PATTERN_BYTES_MAX) {
        reel_fail(err, REEL_ARGUMENT, "a regular expression has at most %d bytes", PATTERN_BYTES_MAX);
        return NULL;
    }
    AUTO(pattern_free) struct pattern *p = calloc(1, sizeof *p);
    if (!p) {
        reel_fail_memory(err);
        return NULL;
    }
    if (!(p->code = compile(text, err))) {
        return NULL;
    }
    p->match = pcre2_match_data_create(1, NULL);
    p->limits = pcre2_match_context_create(NULL);
    if (!p->match || !p->limits) {
        reel_fail_memory(err);
        return NULL;
    }
    pcre2_set_match_limit(p->limits, STEPS_MAX);
    pcre2_set_depth_limit(p->limits, DEPTH_MAX);
    pcre2_set_heap_limit(p->limits, HEAP_KIB_MAX);
    return TAKE(p);
}

void pattern_free(struct pattern *p) {
    if (p) {
        pcre2_match_context_free(p->limits);
        pcre2_match_data_free(p->match);
        pcre2_code_free(p->code);
        free(p);
    }
}

bool pattern_match(const struct pattern *p, const char *name, bool *yes, struct reel_error *err) {
    int found = pcre2_match(p->code, (PCRE2_SPTR)name, strlen(name), 0, 0, p->match, p->limits);
    *yes = found >= 0;
    if (found == PCRE2_ERROR_MATCHLIMIT || found == PCRE2_ERROR_DEPTHLIMIT || found == PCRE2_ERROR_HEAPLIMIT) {
        return reel_fail(err, REEL_ARGUMENT, "the regular expression takes too many steps on \"%.100s\"", name);
    }
    return true; /* other errors are of the name: it is no UTF-8 */
}
