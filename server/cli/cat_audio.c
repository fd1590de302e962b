/* See cat_audio.h. A WAV file begins with its sizes: they are written at the end where the output is a file, and are
 * the largest possible in a pipe, which players take for "up to the end". */
#include "cli/cat_audio.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/cleanup.h"
#include "base/disk.h"
#include "base/grow.h"
#include "base/limits.h"
#include "cli/cli.h"
#include "decode/encoding.h"
#include "syntax/base64.h"

enum { HEAD = 44, RATE_MAX = 10000000, CHANNELS_MAX = 1024, RATE_OF_RSB = 44100 };

struct sample_form {
    uint32_t rate, channels;
    unsigned bits;
    bool is_float, is_signed, big_endian;
};

enum audio_field { OTHER, DATA, FORM, RATE, CHANNELS, ENDIANNESS };

struct audio {
    struct reel_visitor visitor; /* must be the first member */
    enum audio_field at;
    unsigned lists;
    struct grow data; /* the samples */
    bool any, failed;
    char form[32], endianness[32];
    uint64_t rate, channels;
};

static struct audio *audio_of(struct reel_visitor *v) {
    return (struct audio *)v;
}

/* ---- the fields of a message, also of one inside of an envelope */

static bool audio_begin_list(struct reel_visitor *v) {
    audio_of(v)->lists++;
    return true;
}
static bool audio_end_list(struct reel_visitor *v) {
    audio_of(v)->lists--;
    return true;
}

static bool audio_key(struct reel_visitor *v, struct reel_bytes name) {
    static const struct {
        const char *name;
        enum audio_field field;
    } names[] = {{"data", DATA},
                 {"format", FORM},
                 {"sample_type", FORM},
                 {"sample_format", FORM},
                 {"sample_rate", RATE},
                 {"rate", RATE},
                 {"channels", CHANNELS},
                 {"number_of_channels", CHANNELS},
                 {"endianness", ENDIANNESS}};
    audio_of(v)->at = OTHER;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        audio_of(v)->at = bytes_is(name, names[i].name) ? names[i].field : audio_of(v)->at;
    }
    return true;
}

static bool audio_natural(struct reel_visitor *v, uint64_t value) {
    struct audio *a = audio_of(v);
    if (a->lists == 0 && a->at == RATE) {
        a->rate = value;
    } else if (a->lists == 0 && a->at == CHANNELS) {
        a->channels = value;
    }
    return true;
}
static bool audio_integer(struct reel_visitor *v, int64_t value) {
    return audio_natural(v, value < 0 ? 0 : (uint64_t)value);
}
static bool audio_real(struct reel_visitor *v, double value) { /* of JSON */
    return audio_natural(v, value >= 0 && value < 1e15 ? (uint64_t)value : 0);
}

static bool audio_binary(struct reel_visitor *v, struct reel_bytes value) {
    struct audio *a = audio_of(v);
    if (a->lists == 0 && a->at == DATA) {
        a->any = true;
        grow_put(&a->data, value.data, value.size);
    }
    return true;
}
static bool audio_numbers(struct reel_visitor *v, enum reel_number type, struct reel_bytes data, unsigned columns) {
    (void)columns;
    return reel_number_size(type) > 1 || audio_binary(v, data);
}

static bool audio_text(struct reel_visitor *v, struct reel_bytes value) {
    struct audio *a = audio_of(v);
    if (a->at == FORM) {
        snprintf(a->form, sizeof a->form, "%.*s", (int)(value.size < 31 ? value.size : 31), (const char *)value.data);
    } else if (a->at == ENDIANNESS) {
        snprintf(a->endianness, sizeof a->endianness, "%.*s", (int)(value.size < 31 ? value.size : 31),
                 (const char *)value.data);
    } else if (a->at == DATA && a->lists == 0) { /* JSON: base64 */
        size_t size = 0;
        uint8_t *room = grow_room(&a->data, BASE64_ROOM(value.size));
        a->any = true;
        a->failed |= !room || !base64_read(value, room, &size);
        a->data.size += size;
    }
    return true;
}

static bool audio_read(struct audio *a, const struct reel_decoder *decoder, struct reel_bytes payload,
                       struct reel_error *err) {
    static const struct reel_visitor_ops ops = {.begin_list = audio_begin_list,
                                                .end_list = audio_end_list,
                                                .key = audio_key,
                                                .integer = audio_integer,
                                                .natural = audio_natural,
                                                .real = audio_real,
                                                .text = audio_text,
                                                .binary = audio_binary,
                                                .numbers = audio_numbers};
    struct grow data = a->data;
    data.size = 0;
    *a = (struct audio){.visitor = {&ops}, .data = data, .rate = RATE_OF_RSB, .channels = 1};
    if (!reel_decode(decoder, payload, &a->visitor, err)) {
        return false;
    }
    return !a->data.failed || reel_fail_memory(err);
}

/* "pcm-s16", "SAMPLE_S16", "S16LE" */
static bool read_form(const struct audio *a, struct sample_form *out, struct reel_error *err) {
    const char *form = a->form;
    form += strncmp(form, "pcm-", 4) == 0 ? 4 : strncmp(form, "SAMPLE_", 7) == 0 ? 7 : 0;
    form = form[0] ? form : "S16"; /* what RSB omits */
    unsigned bits = (unsigned)strtoul(form + 1, NULL, 10);
    char kind = (char)(form[0] | 0x20);
    *out = (struct sample_form){.rate = (uint32_t)a->rate,
                                .channels = (uint32_t)a->channels,
                                .bits = bits,
                                .is_float = kind == 'f',
                                .is_signed = kind != 'u',
                                .big_endian = strstr(form, "BE") || strstr(a->endianness, "BIG")};
    bool integer = (kind == 's' || kind == 'u') && (bits == 8 || bits == 16 || bits == 24 || bits == 32);
    if (!a->any || a->failed || !(integer || (kind == 'f' && (bits == 32 || bits == 64)))) {
        return reel_fail(err, REEL_UNSUPPORTED, "this message has no audio samples of a known form (\"%s\")", a->form);
    }
    return (a->rate > 0 && a->rate <= RATE_MAX && a->channels > 0 && a->channels <= CHANNELS_MAX) ||
           reel_fail(err, REEL_UNSUPPORTED, "audio of %llu channels at %llu Hz", (unsigned long long)a->channels,
                     (unsigned long long)a->rate);
}

/* ---- the file */

static void make_head(const struct sample_form *f, uint64_t bytes, uint8_t head[HEAD]) {
    uint32_t frame = f->channels * f->bits / 8, size = bytes > UINT32_MAX - HEAD ? UINT32_MAX : (uint32_t)bytes;
    memcpy(head, "RIFF....WAVEfmt ", 16);
    store_u32le(head + 4, size == UINT32_MAX ? UINT32_MAX : size + HEAD - 8);
    store_u32le(head + 16, 16);
    store_u16le(head + 20, f->is_float ? 3 : 1);
    store_u16le(head + 22, (uint16_t)f->channels);
    store_u32le(head + 24, f->rate);
    store_u32le(head + 28, f->rate * frame);
    store_u16le(head + 32, (uint16_t)frame);
    store_u16le(head + 34, (uint16_t)f->bits);
    memcpy(head + 36, "data", 4);
    store_u32le(head + 40, size);
}

/* WAV has little-endian samples, those of 8 bits without a sign and larger ones with it. */
static void put_in_order(const struct sample_form *f, struct reel_bytes data, uint8_t *to) {
    size_t size = f->bits / 8;
    bool other_sign = !f->is_float && f->is_signed == (f->bits == 8);
    memcpy(to, data.data, data.size);
    for (size_t at = 0; at + size <= data.size; at += size) {
        for (size_t i = 0; i < size && f->big_endian; i++) {
            to[at + i] = data.data[at + size - 1 - i];
        }
        to[at + size - 1] ^= other_sign ? 0x80 : 0;
    }
}

static bool put_samples(const struct sample_form *form, const struct audio *a, struct output_file *out,
                        struct reel_error *err) {
    AUTO_MEM uint8_t *samples = malloc(a->data.size + 1);
    if (!samples) {
        return reel_fail_memory(err);
    }
    put_in_order(form, bytes_of(a->data.data, a->data.size), samples);
    return cli_output_write(out, samples, a->data.size, err);
}

static bool same_form(const struct sample_form *a, const struct sample_form *b) {
    return a->rate == b->rate && a->channels == b->channels && a->bits == b->bits && a->is_float == b->is_float;
}

/* Where the output is a file, its sizes are right at the end. */
static bool end_file(const struct sample_form *form, uint64_t bytes, off_t begin, const struct output_file *out,
                     struct reel_error *err) {
    uint8_t head[HEAD];
    struct stat st;
    make_head(form, bytes, head);
    return begin < 0 || fstat(out->fd, &st) != 0 || !S_ISREG(st.st_mode) ||
           disk_write_at(out->fd, head, sizeof head, (uint64_t)begin) || reel_fail_errno(err, "standard output");
}

static bool put_message(struct audio *a, struct reel_stream *stream, const struct reel_message *m,
                        const struct reel_decoder *decoder, struct sample_form *form, bool first,
                        struct output_file *out, struct reel_error *err) {
    struct reel_bytes payload;
    struct sample_form own;
    uint8_t head[HEAD];
    if (!stream_decodable(stream, m, &payload, err) || !audio_read(a, decoder, payload, err) ||
        !read_form(a, &own, err)) {
        return false;
    }
    if (first) {
        *form = own;
        make_head(form, UINT64_MAX, head);
        return cli_output_write(out, head, sizeof head, err) && put_samples(&own, a, out, err);
    }
    return same_form(&own, form) ? put_samples(&own, a, out, err)
                                 : reel_fail(err, REEL_UNSUPPORTED, "the form of the samples changes: select a part");
}

bool cat_audio(struct reel_stream *stream, uint64_t limit, struct output_file *out, struct reel_error *err) {
    if (stream->n_channels != 1) {
        return reel_fail(err, REEL_ARGUMENT, "wav needs a single topic: select one with --topic");
    }
    AUTO(reel_decoder_free) struct reel_decoder *decoder = reel_decoder_open(stream->channels[0], err);
    if (!decoder) {
        return false;
    }
    off_t begin = lseek(out->fd, 0, SEEK_CUR);
    struct audio a = {.any = false};
    struct sample_form form = {.rate = 0};
    struct reel_message m;
    enum reel_step step = REEL_STEP_END;
    uint64_t bytes = 0, n = 0;
    bool good = true;
    for (; good && (limit == 0 || n < limit) && (step = stream_next(stream, &m, err)) == REEL_STEP_MESSAGE; n++) {
        good = put_message(&a, stream, &m, decoder, &form, n == 0, out, err);
        bytes += a.data.size;
    }
    grow_done(&a.data);
    good = good && step != REEL_STEP_ERROR;
    return good && (n > 0 ? end_file(&form, bytes, begin, out, err)
                          : reel_fail(err, REEL_NOT_FOUND, "there is no message to take audio from"));
}
