/* The output of any writer, from front to back: planned, or rows. */
#ifndef REEL_TESTS_ANY_OUTPUT_H
#define REEL_TESTS_ANY_OUTPUT_H

#include "convert/writer.h"

struct any_output {
    struct reel_planned_output *planned; /* NULL: rows */
    struct reel_row_output *rows;
    uint64_t at, length; /* of `planned` */
};

/* `plan` NULL: the writer is REEL_STREAMED. The stream is taken over, also on failure. */
static inline bool any_output_open(struct any_output *o, struct reel_plan *plan, const struct reel_writer *writer,
                                   const struct reel_write_options *options, struct reel_stream *stream,
                                   struct reel_error *err) {
    *o = (struct any_output){.length = plan ? reel_plan_length(plan) : 0};
    o->planned = plan ? reel_planned_output_new(plan, stream, err) : NULL;
    o->rows = plan ? NULL : reel_row_output_new(writer, options, stream, err);
    return o->planned || o->rows;
}

/* The next at most `size` bytes; *got 0: that was all. */
static inline bool any_output_next(struct any_output *o, void *buffer, size_t size, size_t *got,
                                   struct reel_error *err) {
    if (o->rows) {
        return reel_row_output_next(o->rows, buffer, size, got, err);
    }
    uint64_t left = o->length - o->at, at = o->at;
    *got = left < size ? (size_t)left : size;
    o->at += *got;
    return reel_planned_output_read(o->planned, at, buffer, *got, err);
}

static inline void any_output_close(struct any_output *o) {
    reel_planned_output_free(o->planned);
    reel_row_output_free(o->rows);
}

#endif
