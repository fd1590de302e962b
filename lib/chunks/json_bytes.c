/* See json_bytes.h. */
#include "chunks/json_bytes.h"

#include <string.h>

#include "syntax/base64.h"

static const char KEY[] = "\"$base64\"";

struct run {
    const uint8_t *in, *in_end;
    uint8_t *out, *out_end;
};

static bool copy(struct run *r, size_t size) {
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
        if (!copy(r, (size_t)((quote ? quote : r->in_end) - r->in)) || !quote) {
            return;
        }
    }
    while (r->in < r->in_end && r->out < r->out_end) {
        uint8_t c = *r->in;
        copy(r, 1);
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
        copy(r, 1);
    } else if (c == '"' && j->matched == 1) {
        *j = (struct json_bytes){.stage = JSON_BYTES_DIGITS};
        copy(r, 1);
    } else {
        *j = (struct json_bytes){.stage = JSON_BYTES_TEXT};
    }
}

static int hex_digit(uint8_t c) {
    return c >= '0' && c <= '9' ? c - '0' : (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10 : 0;
}

/* The character that an escape stands for; 0 while it is not complete. */
static unsigned unescape(struct json_bytes *j, uint8_t c) {
    if (j->escape == JSON_BYTES_PLAIN) {
        j->escape = c == '\\' ? JSON_BYTES_ESCAPE : JSON_BYTES_PLAIN;
        return c == '\\' ? 0 : c;
    }
    if (j->escape == JSON_BYTES_ESCAPE) {
        j->escape = c == 'u' ? JSON_BYTES_CODE : JSON_BYTES_PLAIN;
        j->code = j->n_code = 0;
        return c == 'u' ? 0 : c;
    }
    j->code = j->code << 4 | (unsigned)hex_digit(c);
    if (++j->n_code < 4) {
        return 0;
    }
    j->escape = JSON_BYTES_PLAIN;
    return j->code;
}

static void digit_step(struct json_bytes *j, struct run *r) {
    uint8_t c = *r->in;
    if (j->escape == JSON_BYTES_PLAIN &&
        (c == '"' || c < ' ')) { /* the end; a text that was cut off ends with its line */
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
    unsigned plain = unescape(j, c);
    int digit = plain > 0 && plain < 128 ? base64_digit((char)plain) : -1;
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

/* Whole groups of four digits. */
static void digits_step(struct json_bytes *j, struct run *r) {
    while (j->escape == JSON_BYTES_PLAIN && j->n_bits == 0 && r->in_end - r->in >= 4 && r->out_end - r->out >= 3) {
        int a = base64_digit((char)r->in[0]), b = base64_digit((char)r->in[1]);
        int c = base64_digit((char)r->in[2]), d = base64_digit((char)r->in[3]);
        if ((a | b | c | d) < 0) {
            break;
        }
        unsigned v = (unsigned)a << 18 | (unsigned)b << 12 | (unsigned)c << 6 | (unsigned)d;
        r->out[0] = (uint8_t)(v >> 16);
        r->out[1] = (uint8_t)(v >> 8);
        r->out[2] = (uint8_t)v;
        r->in += 4;
        r->out += 3;
        j->owed++;
    }
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
