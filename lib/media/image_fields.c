/* The fields of an image message. An image is recognised by its fields, not by its type: data with an encoding, width
 * and height, or data that are an image file. In an event of RSB they are those of its payload: rst.vision.Image has
 * color_mode and depth in place of an encoding, rst.vision.EncodedImage only the kind of file. */
#include "base/ascii.h"
#include "media/image.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "syntax/base64.h"

enum { DEPTH_HEAD = 12 }; /* before the PNG of a compressedDepth: format and two quantisation parameters */

enum member { OTHER, WIDTH, HEIGHT, STEP, ENDIAN, ENCODING, FORMAT, DATA, COLOURS, DEPTH, CHANNELS, ORDER, MEMBERS };

struct collector {
    struct reel_visitor visitor; /* must be the first member */
    struct reel_image *image;
    struct reel_bytes payload;
    unsigned depth;
    enum member at;
    unsigned met;                /* bits by member */
    bool in_event, after_schema; /* of RSB: in its payload, which follows "wire_schema" */
    char format[64];
    char colours[32], values[32], order[32]; /* of rst.vision.Image */
    uint32_t channels;
    bool no_memory, no_base64;
};

static struct collector *image_fields_self(struct reel_visitor *v) {
    return (struct collector *)v;
}

static bool go_in(struct reel_visitor *v) {
    image_fields_self(v)->depth++;
    return true;
}
static bool go_out(struct reel_visitor *v) {
    image_fields_self(v)->depth--;
    return true;
}

static bool is_field(const struct collector *c) {
    return c->depth == 1U + c->in_event;
}

static bool image_fields_on_key(struct reel_visitor *v, struct reel_bytes name) {
    static const char *const names[] = {
        [WIDTH] = "width",       [HEIGHT] = "height",     [STEP] = "step",       [ENDIAN] = "is_bigendian",
        [ENCODING] = "encoding", [FORMAT] = "format",     [DATA] = "data",       [COLOURS] = "color_mode",
        [DEPTH] = "depth",       [CHANNELS] = "channels", [ORDER] = "data_order"};
    struct collector *c = image_fields_self(v);
    if (c->depth == 1) {
        c->in_event = c->in_event || (c->after_schema && bytes_is(name, "payload"));
        c->after_schema = bytes_is(name, "wire_schema");
    }
    if (is_field(c)) {
        c->at = OTHER;
        for (unsigned i = WIDTH; i < MEMBERS; i++) {
            c->at = bytes_is(name, names[i]) ? (enum member)i : c->at;
        }
    }
    return true;
}

static bool wanted(const struct collector *c, enum member m) {
    return is_field(c) && c->at == m;
}

static bool image_fields_on_natural(struct reel_visitor *v, uint64_t value) {
    struct collector *c = image_fields_self(v);
    uint32_t side = value > UINT32_MAX ? UINT32_MAX : (uint32_t)value; /* beyond any limit */
    if (wanted(c, WIDTH)) {
        c->image->width = side;
    } else if (wanted(c, HEIGHT)) {
        c->image->height = side;
    } else if (wanted(c, STEP)) {
        c->image->step = value;
    } else if (wanted(c, ENDIAN)) {
        c->image->big_endian = value != 0;
    } else if (wanted(c, CHANNELS)) {
        c->channels = side;
    }
    c->met |= is_field(c) ? 1U << c->at : 0;
    return true;
}
static bool image_fields_on_integer(struct reel_visitor *v, int64_t value) {
    return image_fields_on_natural(v, value < 0 ? UINT64_MAX : (uint64_t)value);
}
static bool image_fields_on_boolean(struct reel_visitor *v, bool value) {
    return image_fields_on_natural(v, value);
}
static bool image_fields_on_real(struct reel_visitor *v, double value) { /* from JSON, which has no integers */
    return image_fields_on_natural(v, value >= 0 && value < 1e15 ? (uint64_t)value : UINT64_MAX);
}

static bool own_copy(struct collector *c, size_t size) {
    free(c->image->own);
    c->image->own = malloc(size ? size : 1);
    c->no_memory |= !c->image->own;
    return c->image->own;
}

/* Bytes of the payload stay valid; other bytes must be copied before the walk continues. */
static bool image_fields_on_binary(struct reel_visitor *v, struct reel_bytes value) {
    struct collector *c = image_fields_self(v);
    if (!wanted(c, DATA)) {
        return true;
    }
    c->met |= 1U << DATA;
    c->image->data = value;
    uintptr_t at = (uintptr_t)value.data, from = (uintptr_t)c->payload.data;
    if (value.size == 0 || (at >= from && at - from < c->payload.size)) {
        return true;
    }
    if (!own_copy(c, value.size)) {
        return false;
    }
    memcpy(c->image->own, value.data, value.size);
    c->image->data = bytes_of(c->image->own, value.size);
    return true;
}

static bool image_fields_on_numbers(struct reel_visitor *v, enum reel_number type, struct reel_bytes data,
                                    unsigned columns) {
    (void)columns;
    return reel_number_size(type) == 1 ? image_fields_on_binary(v, data) : true;
}

static void keep_text(char *to, size_t room, struct reel_bytes text) {
    size_t n = text.size < room ? text.size : room - 1;
    memcpy(to, text.data, n);
    to[n] = '\0';
}

static bool image_fields_on_text(struct reel_visitor *v, struct reel_bytes value) {
    struct collector *c = image_fields_self(v);
    if (wanted(c, DATA)) { /* JSON: bytes as base64 */
        size_t size;
        c->met |= 1U << DATA;
        if (!own_copy(c, BASE64_ROOM(value.size))) {
            return false;
        }
        c->no_base64 = !base64_read(value, c->image->own, &size);
        c->image->data = bytes_of(c->image->own, c->no_base64 ? 0 : size);
    } else if (wanted(c, ENCODING)) {
        keep_text(c->image->encoding, sizeof c->image->encoding, value);
    } else if (wanted(c, FORMAT)) {
        keep_text(c->format, sizeof c->format, value);
    } else if (wanted(c, COLOURS)) {
        keep_text(c->colours, sizeof c->colours, value);
    } else if (wanted(c, DEPTH)) {
        keep_text(c->values, sizeof c->values, value);
    } else if (wanted(c, ORDER)) {
        keep_text(c->order, sizeof c->order, value);
    }
    c->met |= is_field(c) ? 1U << c->at : 0;
    return true;
}

/* Videos have no first bytes of their own; the format names them. */
static bool find_video(struct collector *c) {
    bool h264 = ascii_casecmp(c->format, "h264") == 0,
         h265 = ascii_casecmp(c->format, "h265") == 0 || ascii_casecmp(c->format, "hevc") == 0;
    c->image->form = h264 ? REEL_PICTURE_H264 : REEL_PICTURE_H265;
    return h264 || h265;
}

/* The type of file is taken from its first bytes; `format` is only used for depths and videos. */
static bool find_form(struct collector *c, struct reel_error *err) {
    struct reel_image *image = c->image;
    bool depth = strstr(c->format, "compressedDepth") != NULL;
    if (depth && image->data.size > DEPTH_HEAD) {
        image->data = bytes_of(image->data.data + DEPTH_HEAD, image->data.size - DEPTH_HEAD);
    }
    image->compressed = true;
    if (bytes_start(image->data, bytes_of("\xff\xd8\xff", 3))) {
        image->form = REEL_PICTURE_JPEG;
        return true;
    }
    if (find_video(c)) {
        return true;
    }
    image->form = REEL_PICTURE_PNG;
    return bytes_start(image->data, bytes_of("\x89PNG\r\n\x1a\n", 8)) ||
           reel_fail(err, REEL_UNSUPPORTED,
                     "this image is neither JPEG, PNG, H.264 nor H.265; its format field is: \"%s\"", c->format);
}

/* The encoding of a rst.vision.Image. Without color_mode three values are blue, green, red, as its converters send
 * them; rows may be padded. */
static bool find_rst_encoding(struct collector *c, struct reel_error *err) {
    static const struct {
        const char *colours, *values, *encoding;
        unsigned pixel; /* bytes */
    } known[] = {{"COLOR_GRAYSCALE", "DEPTH_8U", "mono8", 1},  {"COLOR_GRAYSCALE", "DEPTH_16U", "mono16", 2},
                 {"COLOR_GRAYSCALE", "DEPTH_32F", "32FC1", 4}, {"COLOR_RGB", "DEPTH_8U", "rgb8", 3},
                 {"COLOR_RGB", "DEPTH_16U", "rgb16", 6},       {"COLOR_BGR", "DEPTH_8U", "bgr8", 3},
                 {"COLOR_BGR", "DEPTH_16U", "bgr16", 6},       {"COLOR_YUV422", "DEPTH_8U", "yuv422_yuy2", 2}};
    struct reel_image *image = c->image;
    const char *values = c->values[0] ? c->values : "DEPTH_8U";
    const char *colours = c->colours[0] ? c->colours : c->channels == 1 ? "COLOR_GRAYSCALE" : "COLOR_BGR";
    size_t i = 0, n = sizeof known / sizeof *known;
    while (i < n && (strcmp(known[i].colours, colours) != 0 || strcmp(known[i].values, values) != 0)) {
        i++;
    }
    if (i == n || (strcmp(c->order, "DATA_SEPARATE") == 0 && c->channels != 1)) {
        return reel_fail(err, REEL_UNSUPPORTED, "an image with %s, %s, %s is not drawn", colours, values,
                         c->order[0] ? c->order : "no data_order");
    }
    strcpy(image->encoding, known[i].encoding);
    uint64_t row = (uint64_t)image->width * known[i].pixel,
             stored = image->height ? image->data.size / image->height : 0;
    image->step = stored > row ? stored : row;
    c->met |= 1U << ENCODING;
    return true;
}

static bool sort_out(struct collector *c, struct reel_error *err) {
    const unsigned sides = 1U << WIDTH | 1U << HEIGHT | 1U << ENCODING, rst = 1U << WIDTH | 1U << HEIGHT | 1U << DATA;
    if (c->no_memory) {
        return reel_fail_memory(err);
    }
    if (c->in_event && !(c->met & 1U << ENCODING) && (c->met & rst) == rst && !find_rst_encoding(c, err)) {
        return false;
    }
    if (c->in_event && (c->met & 1U << DATA) && (c->met & sides) != sides) {
        return find_form(c, err);
    }
    if (!(c->met & 1U << DATA) || (!(c->met & 1U << FORMAT) && (c->met & sides) != sides)) {
        return reel_fail(
            err, REEL_UNSUPPORTED,
            "this message is not an image: an image has data and either a format, or an encoding, width and height");
    }
    if (c->no_base64) {
        return reel_fail(err, REEL_DAMAGED, "the data of the image is not valid base64");
    }
    return (c->met & sides) == sides || find_form(c, err);
}

bool reel_image_read(const struct reel_decoder *decoder, struct reel_bytes payload, struct reel_image *out,
                     struct reel_error *err) {
    static const struct reel_visitor_ops ops = {.begin_map = go_in,
                                                .end_map = go_out,
                                                .begin_list = go_in,
                                                .end_list = go_out,
                                                .key = image_fields_on_key,
                                                .boolean = image_fields_on_boolean,
                                                .integer = image_fields_on_integer,
                                                .natural = image_fields_on_natural,
                                                .real = image_fields_on_real,
                                                .text = image_fields_on_text,
                                                .binary = image_fields_on_binary,
                                                .numbers = image_fields_on_numbers};
    *out = (struct reel_image){0};
    struct collector c = {.visitor = {&ops}, .image = out, .payload = payload};
    struct reel_error why = {0};
    if (!reel_decode(decoder, payload, &c.visitor, &why) && !c.no_memory) {
        return why.code != REEL_OK ? reel_error_pass(err, &why)
                                   : reel_fail(err, REEL_DAMAGED, "the message ends early");
    }
    return sort_out(&c, err);
}

void reel_image_done(struct reel_image *image) {
    free(image->own);
    *image = (struct reel_image){0};
}
