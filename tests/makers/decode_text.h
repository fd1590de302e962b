/* For tests of decoders: a payload as JSON text, and the fields of a schema as lines. A test program includes this
 * once. */
#ifndef REEL_TESTS_DECODE_TEXT_H
#define REEL_TESTS_DECODE_TEXT_H

#undef NDEBUG /* a release's tests check as well */
#include <assert.h>
#include <stdio.h>

#include "syntax/json_out.h"

/* The JSON of `payload`, valid until the next call; on failure "error CODE: text" (CODE as in enum reel_code). */
static inline const char *decode_text(const struct reel_channel *channel, struct reel_bytes payload) {
    static struct grow out;
    struct reel_error err = {0};
    char problem[512] = "";
    out.size = 0;
    struct reel_decoder *d = reel_decoder_open(channel, &err);
    struct json_out json = json_out_to(&out, 64 << 20);
    if (!d || !reel_decode(d, payload, &json.visitor, &err)) {
        snprintf(problem, sizeof problem, "error %d: %s", err.code, err.text);
        out.size = 0;
        grow_put(&out, problem, strlen(problem));
    }
    reel_decoder_free(d);
    grow_put(&out, "", 1);
    assert(!out.failed);
    return (const char *)out.data;
}

static inline bool decode_field_line(void *context, const struct reel_field *f) {
    struct grow *out = context;
    char line[1024];
    int n = snprintf(line, sizeof line, "%s %s%s%s%s\n", f->path, f->type, f->unit[0] ? " " : "", f->unit,
                     f->numeric ? " numeric" : "");
    grow_put(out, line, (size_t)n);
    return true;
}
/* "path type[ unit][ numeric]\n" for each field, valid until the next call. */
static inline const char *decode_fields(const struct reel_channel *channel) {
    static struct grow out;
    struct reel_error err = {0};
    out.size = 0;
    struct reel_decoder *d = reel_decoder_open(channel, &err);
    assert(d && reel_decoder_fields(d, decode_field_line, &out));
    reel_decoder_free(d);
    grow_put(&out, "", 1);
    assert(!out.failed);
    return (const char *)out.data;
}

#endif
