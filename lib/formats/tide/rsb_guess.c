/* Decodes protobuf by field number, for messages without a known definition. The meaning of bytes is guessed from their
 * content alone: equal bytes are always decoded alike, and a guess never fails. */
#include "base/bytes.h"
#include "formats/tide/rsb.h"
#include "syntax/protobuf.h"
#include "syntax/utf8.h"
#include "syntax/visitor.h"

#include <stdio.h>

enum { GUESS_DEPTH_MAX = 32 }; /* each level reads its bytes again; deeper ones are emitted as binary */

static bool is_message(struct reel_bytes b) {
    struct cursor c = cursor_of(b);
    struct proto_field f;
    while (proto_next(&c, &f)) {
    }
    return !c.failed;
}

bool rsb_guess_fits(struct reel_bytes message) {
    return is_message(message);
}

enum looks { LOOKS_TEXT, LOOKS_LINES, LOOKS_BINARY };

/* Lines: text with line ends or tabs, which small messages often begin with too. */
static enum looks looks_of(struct reel_bytes b) {
    enum looks looks = LOOKS_TEXT;
    for (size_t at = 0; at < b.size;) {
        uint8_t c = b.data[at];
        size_t length = utf8_length(b.data + at, b.size - at);
        bool space = c == '\n' || c == '\r' || c == '\t';
        bool control = c < 0x20 || c == 0x7f || (c == 0xc2 && length == 2 && b.data[at + 1] < 0xa0);
        if (length == 0 || (control && !space)) {
            return LOOKS_BINARY;
        }
        looks = space ? LOOKS_LINES : looks;
        at += length;
    }
    return looks;
}

static bool tide_emit_message(struct reel_bytes b, unsigned depth, struct reel_visitor *v);

static bool emit_bytes(struct reel_bytes b, unsigned depth, struct reel_visitor *v) {
    enum looks looks = looks_of(b);
    if (looks != LOOKS_TEXT && depth < GUESS_DEPTH_MAX && is_message(b)) {
        return tide_emit_message(b, depth + 1, v);
    }
    return looks == LOOKS_BINARY ? visit_binary(v, b) : visit_text(v, b);
}

static bool tide_emit_field(const struct proto_field *f, unsigned depth, struct reel_visitor *v) {
    uint8_t le[8];
    store_u64le(le, f->value);
    switch (f->wire) {
    case PROTO_VARINT:
        return visit_natural(v, f->value);
    case PROTO_64:
        return visit_real(v, load_f64le(le));
    case PROTO_32:
        return visit_real32(v, load_f32le(le));
    default:
        return emit_bytes(f->bytes, depth, v);
    }
}

/* Emits one field, or a list of the consecutive fields with its number; `c` is after them then. */
static bool emit_run(struct cursor *c, struct proto_field *f, bool *more, unsigned depth, struct reel_visitor *v) {
    char key[12];
    int length = snprintf(key, sizeof key, "%u", f->number);
    struct proto_field next = {0};
    *more = proto_next(c, &next);
    bool list = *more && next.number == f->number;
    bool goes_on =
        visit_key(v, bytes_of(key, (size_t)length)) && (!list || visit_begin_list(v)) && tide_emit_field(f, depth, v);
    while (goes_on && *more && next.number == f->number) {
        goes_on = tide_emit_field(&next, depth, v);
        *more = proto_next(c, &next);
    }
    *f = next;
    return goes_on && (!list || visit_end_list(v));
}

static bool tide_emit_message(struct reel_bytes b, unsigned depth, struct reel_visitor *v) {
    struct cursor c = cursor_of(b);
    struct proto_field f;
    bool more = proto_next(&c, &f), goes_on = visit_begin_map(v);
    while (goes_on && more) {
        goes_on = emit_run(&c, &f, &more, depth, v);
    }
    return goes_on && visit_end_map(v);
}

bool rsb_guess_emit(struct reel_bytes message, struct reel_visitor *v) {
    return tide_emit_message(message, 0, v);
}
