/* See json_bytes.h. */
#include "chunks/json_bytes.h"

#include <string.h>

#include "syntax/base64.h"

static const char KEY[] = "\"$base64\"";

struct run {
    const uint8_t *in, *in_end;
    uint8_t *out, *out_end;
};

static bool json_bytes_copy(struct run *r, size_t size) {
    size_t room = (size_t)(r->out_end - r->out);
    size_t n = size < room ? size : room;
    memcpy(r->out, r->in, n);
    r->in += n;
    r->out += n;
    return n == size;
}

/* Up to and with the key. */
static void text_step(struct json_bytes *j, struct run *r) {
    if (j->matched == 0) {
        const uint8_t *quote = memchr(r->in, '"', (size_t)(r->in_end - r->in));
        if (!json_bytes_copy(r, (size_t)((quote ? quote : r->in_end) - r->in)) || !quote) {
            return;
        }
    }
    while (r->in < r->in_end && r->out < r->out_end) {
        uint8_t c = *r->in;
        json_bytes_copy(r, 1);
        j->matched = c == (uint8_t)KEY[j->matched] ? j->matched + 1 : c == '"';
        if (j->matched == sizeof KEY - 1) {
            *j = (struct json_bytes){.stage = JSON_BYTES_KEY};
            return;
        }
        if (j->matched == 0) {
            return;
        }
    }
}

/* From the key to the first digit; `matched` counts the colon. */
static void key_step(struct json_bytes *j, struct run *r) {
    uint8_t c = *r->in;
    if (c == ' ' || c == '\t' || (c == ':' && j->matched == 0)) {
        j->matched += c == ':';
        json_bytes_copy(r, 1);
    } else if (c == '"' && j->matched == 1) {
        *j = (struct json_bytes){.stage = JSON_BYTES_DIGITS};
        json_bytes_copy(r, 1);
    } else {
        *j = (struct json_bytes){.stage = JSON_BYTES_TEXT};
    }
}

/* The character that a byte of the text ends; 0: none, or not one byte of UTF-8. */
static uint8_t next_character(struct json_bytes *j, uint8_t c) {
    if (j->n_escape == 0 && c != '\\') {
        return c;
    }
    j->escape[j->n_escape++] = c;
    if (j->n_escape == 1 || (j->escape[1] == 'u' && j->n_escape < JSON_ESCAPE_MAX)) {
        return 0;
    }
    uint8_t character[JSON_ESCAPE_MAX];
    size_t size = 0;
    bool good = json_unescape(bytes_of(j->escape, j->n_escape), character, &size);
    j->n_escape = 0;
    return good && size == 1 ? character[0] : 0;
}

static void digit_step(struct json_bytes *j, struct run *r) {
    uint8_t c = *r->in;
    if (c < ' ' || (c == '"' && j->n_escape != 1)) { /* the end; a text that was cut off ends with its line */
        for (; j->owed > 0 && r->out < r->out_end; j->owed--) {
            *r->out++ = 0;
        }
        if (j->owed == 0) {
            *j = (struct json_bytes){.stage = JSON_BYTES_TEXT};
        }
        return;
    }
    r->in++;
    j->owed++;
    int digit = base64_digit((char)next_character(j, c));
    if (digit < 0) {
        return;
    }
    j->bits = (j->bits << 6 | (unsigned)digit) & 0xffff;
    j->n_bits += 6;
    if (j->n_bits >= 8) {
        j->n_bits -= 8;
        *r->out++ = (uint8_t)(j->bits >> j->n_bits);
        j->owed--;
    }
}

/* Whole groups of four digits, and one digit. */
static void digits_step(struct json_bytes *j, struct run *r) {
    const uint8_t *in = r->in;
    uint8_t *out = r->out;
    while (j->n_escape == 0 && j->n_bits == 0 && r->in_end - in >= 4 && r->out_end - out >= 3) {
        int a = base64_digit((char)in[0]), b = base64_digit((char)in[1]);
        int c = base64_digit((char)in[2]), d = base64_digit((char)in[3]);
        if ((a | b | c | d) < 0) {
            break;
        }
        unsigned v = (unsigned)a << 18 | (unsigned)b << 12 | (unsigned)c << 6 | (unsigned)d;
        out[0] = (uint8_t)(v >> 16);
        out[1] = (uint8_t)(v >> 8);
        out[2] = (uint8_t)v;
        in += 4;
        out += 3;
    }
    j->owed += (uint64_t)(in - r->in) / 4;
    r->in = in;
    r->out = out;
    if (r->in < r->in_end && r->out < r->out_end) {
        digit_step(j, r);
    }
}

void json_bytes_decode(struct json_bytes *j, const uint8_t **in, size_t *left, uint8_t **out, size_t *room) {
    struct run r = {.in = *in, .in_end = *in + *left, .out = *out, .out_end = *out + *room};
    while (r.in < r.in_end && r.out < r.out_end) {
        switch (j->stage) {
        case JSON_BYTES_TEXT:
            text_step(j, &r);
            break;
        case JSON_BYTES_KEY:
            key_step(j, &r);
            break;
        case JSON_BYTES_DIGITS:
            digits_step(j, &r);
            break;
        }
    }
    *in = r.in;
    *left = (size_t)(r.in_end - r.in);
    *out = r.out;
    *room = (size_t)(r.out_end - r.out);
}
