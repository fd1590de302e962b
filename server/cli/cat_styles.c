/* See cat_styles.h. */
#include "cli/cat_styles.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/disk.h"
#include "base/grow.h"
#include "base/limits.h"
#include "cli/cli.h"
#include "decode/decoder.h"
#include "decode/decoder_set.h"
#include "media/picture.h"
#include "syntax/json_out.h"

enum { TEXT_MAX = 256 << 20, FULL = 256 << 10, COMPACT_CHARACTERS = 100, NAME_CHARACTERS = 100 };

struct cat {
    const struct cat_options *options;
    struct reel_stream *stream;
    struct output_file *out;
    struct decoder_set set;
    const struct reel_decoder **decoders;
    bool *tried;
    int64_t index; /* of the message */
    struct grow text, value;
};

static void cat_done(struct cat *c) {
    decoder_set_free(&c->set);
    free(c->decoders);
    free(c->tried);
    grow_done(&c->text);
    grow_done(&c->value);
}

static bool cat_flush(struct cat *c, struct reel_error *err) {
    if (c->text.failed) {
        return reel_fail_memory(err);
    }
    bool good = cli_output_write(c->out, c->text.data, c->text.size, err);
    c->text.size = 0;
    return good;
}

/* ---- values */

static bool cat_decoder(struct cat *c, uint32_t channel, const struct reel_decoder **out, struct reel_error *err) {
    if (!c->tried[channel] && !decoder_set_try(&c->set, c->stream->channels[channel], &c->decoders[channel], err)) {
        return false;
    }
    c->tried[channel] = true;
    *out = c->decoders[channel];
    return true;
}

/* c->value: the payload as JSON; bytes where it is not decoded. */
static bool read_value(struct cat *c, const struct reel_message *m, struct reel_error *err) {
    const struct reel_decoder *decoder;
    struct reel_bytes payload;
    bool whole = false;
    if (!cat_decoder(c, m->channel, &decoder, err) || !reel_stream_payload(c->stream, m, &payload, err)) {
        return false;
    }
    c->value.size = 0;
    if (decoder && m->size <= REEL_DECODED_MAX) {
        struct json_out json = json_out_to(&c->value, TEXT_MAX);
        if (!decode_try(decoder, payload, &json.visitor, &whole, err)) {
            return false;
        }
        whole = whole && !json.too_long;
    }
    if (!whole) {
        c->value.size = 0;
        grow_text(&c->value, "{\"$base64\":\"");
        json_put_base64(&c->value, payload);
        grow_text(&c->value, "\"}");
    }
    return !c->value.failed || reel_fail_memory(err);
}

static void new_line(struct grow *to, unsigned depth) {
    grow_u8(to, '\n');
    for (unsigned i = 0; i < depth + 1; i++) {
        grow_text(to, "  ");
    }
}

/* JSON of one line, with a line for each member and item. */
static void put_indented(struct grow *to, struct reel_bytes json) {
    bool in_text = false;
    unsigned depth = 0;
    for (size_t i = 0; i < json.size; i++) {
        uint8_t byte = json.data[i], next = i + 1 < json.size ? json.data[i + 1] : 0;
        bool opens = byte == '{' || byte == '[', closes = byte == '}' || byte == ']';
        if (in_text || byte == '"') {
            grow_u8(to, byte);
            if (byte == '\\' && in_text) {
                grow_u8(to, next);
                i++;
            }
            in_text = byte == '"' ? !in_text : in_text;
        } else if (opens && (next == '}' || next == ']')) {
            grow_u8(to, byte);
            grow_u8(to, next);
            i++;
        } else {
            depth -= closes;
            if (closes) {
                new_line(to, depth);
            }
            grow_u8(to, byte);
            depth += opens;
            if (opens || byte == ',') {
                new_line(to, depth);
            } else if (byte == ':') {
                grow_u8(to, ' ');
            }
        }
    }
}

/* ---- one message */

static void put_member(struct grow *to, const char *key, const char *value) {
    grow_text(to, key);
    json_put_string(to, bytes_text(value));
}

static void put_metadata(struct cat *c, const struct reel_message *m, const struct reel_description *d) {
    const struct reel_channel *channel = c->stream->channels[m->channel];
    char time[REEL_TIME_TEXT];
    struct grow *to = &c->text;
    grow_text(to, "{\"index\":");
    json_put_integer(to, c->index);
    put_member(to, ",\"topic\":", channel->name);
    put_member(to, ",\"type\":", channel->type);
    put_member(to, ",\"encoding\":", channel->encoding);
    grow_text(to, ",\"sequence\":");
    json_put_natural(to, d->sequence);
    put_member(to, ",\"log_time\":", cat_time(m->time_ns, c->options->clock, time));
    put_member(to, ",\"publish_time\":", cat_time(d->publish_ns, c->options->clock, time));
    if (d->frame_id) {
        put_member(to, ",\"frame_id\":", d->frame_id);
    }
    grow_text(to, ",\"size\":");
    json_put_natural(to, m->size);
    grow_text(to, "}\n");
}

static void put_details(struct cat *c, const struct reel_message *m, const struct reel_description *d) {
    const struct reel_channel *channel = c->stream->channels[m->channel];
    char time[REEL_TIME_TEXT], published[REEL_TIME_TEXT], line[160];
    struct grow *to = &c->text;
    snprintf(line, sizeof line, "%lld  %s  ", (long long)c->index, cat_time(m->time_ns, c->options->clock, time));
    grow_text(to, line);
    grow_text(to, channel->name);
    grow_text(to, "\n  type       ");
    grow_text(to, channel->type[0] ? channel->type : "-");
    snprintf(line, sizeof line, "\n  encoding   %.60s\n  sequence   %u\n  published  %s\n  size       %u\n  ",
             channel->encoding[0] ? channel->encoding : "-", d->sequence,
             cat_time(d->publish_ns, c->options->clock, published), m->size);
    grow_text(to, line);
    put_indented(to, bytes_of(c->value.data, c->value.size));
    grow_text(to, "\n");
}

/* At most so many characters, not half of one at the end. */
static void put_cut(struct grow *to, struct reel_bytes text, size_t most) {
    size_t n = 0, characters = 0;
    for (; n < text.size && (characters < most || (text.data[n] & 0xc0) == 0x80); n++) {
        characters += (text.data[n] & 0xc0) != 0x80;
    }
    grow_put(to, text.data, n);
    grow_text(to, n < text.size ? "…" : "");
}

static void put_compact(struct cat *c, const struct reel_message *m) {
    char time[REEL_TIME_TEXT], line[80];
    snprintf(line, sizeof line, "%s  ", cat_time(m->time_ns, c->options->clock, time));
    grow_text(&c->text, line);
    grow_text(&c->text, c->stream->channels[m->channel]->name);
    snprintf(line, sizeof line, "  %u B  ", m->size);
    grow_text(&c->text, line);
    put_cut(&c->text, bytes_of(c->value.data, c->value.size), COMPACT_CHARACTERS);
    grow_u8(&c->text, '\n');
}

static bool put_message(struct cat *c, const struct reel_message *m, struct reel_error *err) {
    enum cat_style style = c->options->style;
    struct reel_description d = {0};
    if (style == CAT_METADATA || style == CAT_DETAILED) {
        if (!stream_describe(c->stream, m, &d, err)) {
            return false;
        }
    }
    if (style == CAT_METADATA) {
        put_metadata(c, m, &d);
    } else if (!read_value(c, m, err)) { /* invalidates texts of the description but not its numbers */
        return false;
    } else if (style == CAT_DETAILED) {
        put_details(c, m, &d);
    } else if (style == CAT_COMPACT) {
        put_compact(c, m);
    } else {
        grow_put(&c->text, c->value.data, c->value.size);
        grow_u8(&c->text, '\n');
    }
    return c->text.size < FULL || cat_flush(c, err);
}

/* ---- files */

/* "000012-camera-image.jpg": the topic without what a file system might mind. */
static void name_file(const struct cat *c, const char *topic, const char *extension, char out[NAME_MAX]) {
    int n = snprintf(out, NAME_MAX, "%06lld-", (long long)c->index);
    size_t size = strlen(topic), at = (size_t)n;
    for (size_t i = strspn(topic, "/"); i < size && at < NAME_CHARACTERS; i++) {
        bool plain = strchr("/\\:*?\"<>| ", topic[i]) == NULL && (unsigned char)topic[i] > ' ';
        out[at++] = plain ? topic[i] : '-';
    }
    snprintf(out + at, NAME_MAX - at, "%s", extension);
}

static bool write_file(const struct cat *c, const char *name, struct reel_bytes data, struct reel_error *err) {
    char path[PATH_MAX];
    AUTO(output_file_done) struct output_file file = {.fd = -1};
    return disk_join(path, c->options->folder, name, err) && cli_output_open(&file, path, false, err) &&
           cli_output_write(&file, data.data, data.size, err) && output_file_finish(&file, err);
}

/* The picture of a message that is an image. *any false: it is none. */
static bool write_picture(const struct cat *c, const struct reel_message *m, const struct reel_decoder *decoder,
                          struct reel_bytes payload, bool *any, struct reel_error *err) {
    static const char *const extensions[] = {[REEL_PICTURE_JPEG] = ".jpg",
                                             [REEL_PICTURE_PNG] = ".png",
                                             [REEL_PICTURE_H264] = ".h264",
                                             [REEL_PICTURE_H265] = ".h265"};
    AUTO_STRUCT(reel_image_done) struct reel_image image = {0};
    AUTO_STRUCT(reel_picture_done) struct reel_picture picture = {0};
    char name[NAME_MAX];
    struct reel_error why = {0};
    *any = m->size <= REEL_DECODED_MAX && reel_image_read(decoder, payload, &image, &why) &&
           (image.compressed || reel_picture_make(&image, REEL_PICTURE_PNG, 0, &picture, &why));
    if (!*any) {
        return !reel_is_transient(why.code) || reel_error_pass(err, &why);
    }
    name_file(c, c->stream->channels[m->channel]->name, image.compressed ? extensions[image.form] : ".png", name);
    return write_file(c, name, image.compressed ? image.data : bytes_of(picture.data, picture.size), err);
}

static bool put_file(struct cat *c, const struct reel_message *m, struct reel_error *err) {
    const struct reel_channel *channel = c->stream->channels[m->channel];
    const struct reel_decoder *decoder;
    struct reel_bytes payload;
    char name[NAME_MAX];
    bool is_picture = false;
    if (!cat_decoder(c, m->channel, &decoder, err) || !reel_stream_payload(c->stream, m, &payload, err) ||
        (decoder && !write_picture(c, m, decoder, payload, &is_picture, err))) {
        return false;
    }
    if (is_picture) {
        return true;
    }
    name_file(c, channel->name, strcmp(channel->encoding, "json") == 0 ? ".json" : ".bin", name);
    return write_file(c, name, payload, err);
}

static bool make_folder(const char *folder, struct reel_error *err) {
    return mkdir(folder, 0777) == 0 || errno == EEXIST || reel_fail_errno(err, "%s", folder);
}

/* ---- all messages */

static bool cat_each(struct cat *c, struct cat_figures *figures, struct reel_error *err) {
    const struct cat_options *o = c->options;
    struct reel_message m;
    enum reel_step step = REEL_STEP_END;
    for (uint64_t n = 0; o->limit == 0 || n < o->limit; n++, c->index++) {
        if ((step = stream_next(c->stream, &m, err)) != REEL_STEP_MESSAGE) {
            break;
        }
        bool good = figures                 ? cat_figures_add(figures, &m, &c->text)
                    : o->style == CAT_FILES ? put_file(c, &m, err)
                                            : put_message(c, &m, err);
        if (!good || (figures && c->text.size >= FULL && !cat_flush(c, err))) {
            return good ? false : figures ? reel_fail_memory(err) : false;
        }
    }
    return step != REEL_STEP_ERROR;
}

bool cat_in_style(struct reel_stream *stream, const struct cat_options *options, struct output_file *out,
                  struct reel_error *err) {
    AUTO_STRUCT(cat_done)
    struct cat c = {.options = options, .stream = stream, .out = out, .index = options->first_index};
    AUTO(cat_figures_free) struct cat_figures *figures = NULL;
    c.decoders = calloc((size_t)stream->n_channels + 1, sizeof *c.decoders);
    c.tried = calloc((size_t)stream->n_channels + 1, sizeof *c.tried);
    bool counts = options->style == CAT_STATISTICS || options->style == CAT_MONITOR || options->style == CAT_TIMELINE;
    if (!c.decoders || !c.tried || (counts && !(figures = cat_figures_new(stream, options)))) {
        return reel_fail_memory(err);
    }
    if (options->style == CAT_FILES && !make_folder(options->folder, err)) {
        return false;
    }
    if (!cat_each(&c, figures, err)) {
        return false;
    }
    return (!figures || cat_figures_end(figures, &c.text) || reel_fail_memory(err)) && cat_flush(&c, err);
}
