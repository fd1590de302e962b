/* Converts rows of any encoding to 8 bits, and scales them. An image is read once, row by row, and only the output is
 * kept in memory. */
#include "base/bytes.h"
#include "base/cancel.h"
#include "base/cleanup.h"
#include "media/image.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef unsigned long long ull;

bool picture_fits(uint64_t width, uint64_t height, struct reel_error *err) {
    if (width == 0 || height == 0) {
        return reel_fail(err, REEL_DAMAGED, "an image of %llu x %llu pixels", (ull)width, (ull)height);
    }
    if (width > PICTURE_SIDE_MAX || height > PICTURE_SIDE_MAX || width * height > PICTURE_PIXELS_MAX) {
        return reel_fail(err, REEL_LIMIT,
                         "an image of %llu x %llu pixels: at most %d a side and %d million in all are drawn",
                         (ull)width, (ull)height, PICTURE_SIDE_MAX, PICTURE_PIXELS_MAX >> 20);
    }
    return true;
}

bool pixels_new(uint32_t width, uint32_t height, unsigned values, struct pixels *out, struct reel_error *err) {
    *out = (struct pixels){
        .width = width, .height = height, .values = values, .data = calloc((size_t)width * height, values)};
    return out->data || reel_fail_memory(err);
}

/* --- scaling: each pixel is the mean of the pixels it covers --- */

/* Row `y` of a source, as 8-bit values; valid until the next call. */
struct row_source {
    const uint8_t *(*row)(struct row_source *s, uint32_t y);
    uint32_t width, height;
    unsigned values;
};

static uint32_t edge(uint32_t i, uint32_t from, uint32_t to) {
    return (uint32_t)((uint64_t)i * from / to);
}

static void image_rows_add_row(const uint8_t *row, uint32_t width, const struct pixels *to, uint64_t *sums) {
    for (uint32_t x = 0; x < to->width; x++) {
        uint32_t end = edge(x + 1, width, to->width);
        for (uint32_t i = edge(x, width, to->width); i < end; i++) {
            for (unsigned v = 0; v < to->values; v++) {
                sums[x * to->values + v] += row[i * to->values + v];
            }
        }
    }
}

static bool draw(struct row_source *s, uint32_t target_width, struct pixels *out, struct reel_error *err) {
    uint32_t width = target_width > 0 && target_width < s->width ? target_width : s->width;
    uint32_t height = (uint32_t)(((uint64_t)s->height * width + s->width / 2) / s->width);
    if (!pixels_new(width, height > 0 ? height : 1, s->values, out, err)) {
        return false;
    }
    size_t n = (size_t)width * s->values;
    AUTO_MEM uint64_t *sums = malloc(n * sizeof *sums);
    if (!sums) {
        return reel_fail_memory(err);
    }
    for (uint32_t y = 0; y < out->height; y++) {
        uint32_t from = edge(y, s->height, out->height), to = edge(y + 1, s->height, out->height);
        if (width == s->width && to == from + 1) {
            memcpy(out->data + y * n, s->row(s, from), n);
            continue;
        }
        memset(sums, 0, n * sizeof *sums);
        for (uint32_t i = from; i < to; i++) {
            if (!cancel_check(err)) {
                return false;
            }
            image_rows_add_row(s->row(s, i), s->width, out, sums);
        }
        for (uint32_t x = 0; x < width; x++) {
            uint32_t count = (to - from) * (edge(x + 1, s->width, width) - edge(x, s->width, width));
            for (unsigned v = 0; v < s->values; v++) {
                out->data[y * n + x * s->values + v] = (uint8_t)((sums[x * s->values + v] + count / 2) / count);
            }
        }
    }
    return true;
}

struct plain_source {
    struct row_source source; /* must be the first member */
    const struct pixels *from;
};
static const uint8_t *plain_row(struct row_source *s, uint32_t y) {
    const struct pixels *from = ((struct plain_source *)s)->from;
    return from->data + (size_t)y * from->width * from->values;
}

bool pixels_scale(const struct pixels *from, uint32_t target_width, struct pixels *out, struct reel_error *err) {
    struct plain_source s = {.source = {plain_row, from->width, from->height, from->values}, .from = from};
    return draw(&s.source, target_width, out, err);
}

/* --- encodings of raw images --- */

struct raw_source;
struct encoding {
    const char *name;
    unsigned bytes;  /* bytes per pixel */
    unsigned values; /* values per output pixel */
    void (*convert)(const struct raw_source *s, const uint8_t *from, uint8_t *to);
    uint8_t at[3]; /* offsets of red, green and blue; of yuv422 those of Y, U and V; of a mosaic red_x and red_y */
    bool stretched;
};
struct raw_source {
    struct row_source source; /* must be the first member */
    const struct reel_image *image;
    const struct encoding *how;
    uint64_t step;
    uint32_t y;          /* the row that is converted */
    double least, range; /* range of stretched values */
    uint8_t *row;
};

static void copy_grey(const struct raw_source *s, const uint8_t *from, uint8_t *to) {
    memcpy(to, from, s->image->width);
}

static void pick_colours(const struct raw_source *s, const uint8_t *from, uint8_t *to) {
    for (uint32_t x = 0; x < s->image->width; x++, from += s->how->bytes, to += 3) {
        to[0] = from[s->how->at[0]];
        to[1] = from[s->how->at[1]];
        to[2] = from[s->how->at[2]];
    }
}

static uint8_t clamp(double value) {
    return value <= 0 ? 0 : value >= 255 ? 255 : (uint8_t)(value + 0.5);
}

/* Two pixels in four bytes share their colour; full range, as in JPEG. */
static void mix_colours(const struct raw_source *s, const uint8_t *from, uint8_t *to) {
    const uint8_t *at = s->how->at;
    for (uint32_t x = 0; x < s->image->width; x++, to += 3) {
        const uint8_t *pair = from + (size_t)(x / 2) * 4;
        double y = pair[at[0] + 2 * (x % 2)], u = pair[at[1]] - 128.0, v = pair[at[2]] - 128.0;
        to[0] = clamp(y + 1.402 * v);
        to[1] = clamp(y - 0.344136 * u - 0.714136 * v);
        to[2] = clamp(y + 1.772 * u);
    }
}

static uint16_t value16(const struct raw_source *s, const uint8_t *p) {
    return s->image->big_endian ? (uint16_t)(p[0] << 8 | p[1]) : load_u16le(p);
}
static double image_rows_value_of(const struct raw_source *s, const uint8_t *p) {
    if (s->how->bytes == 2) {
        return value16(s, p);
    }
    const uint8_t turned[4] = {p[3], p[2], p[1], p[0]};
    return (double)load_f32le(s->image->big_endian ? turned : p);
}
/* A depth of 0 or NaN means no measurement. */
static bool is_measured(double value) {
    return isfinite(value) && value != 0;
}

static void take_upper(const struct raw_source *s, const uint8_t *from, uint8_t *to) {
    for (uint32_t x = 0; x < s->image->width; x++) {
        to[x] = (uint8_t)(value16(s, from + 2 * (size_t)x) >> 8);
    }
}
static void stretch(const struct raw_source *s, const uint8_t *from, uint8_t *to) {
    for (uint32_t x = 0; x < s->image->width; x++) {
        double value = image_rows_value_of(s, from + (size_t)x * s->how->bytes);
        to[x] = is_measured(value) && s->range > 0 ? clamp((value - s->least) * 255 / s->range) : 0;
    }
}

static void mix_mosaic(const struct raw_source *s, const uint8_t *from, uint8_t *to) {
    const struct mosaic mosaic = {s->image, s->step, s->how->bytes, s->how->at[0], s->how->at[1]};
    (void)from; /* needs the rows above and below, too */
    bayer_row(&mosaic, s->y, to);
}

static const struct encoding encodings[] = {
    {"rgb8", 3, 3, pick_colours, {0, 1, 2}, false},
    {"bgr8", 3, 3, pick_colours, {2, 1, 0}, false},
    {"8UC3", 3, 3, pick_colours, {2, 1, 0}, false},
    {"rgba8", 4, 3, pick_colours, {0, 1, 2}, false},
    {"bgra8", 4, 3, pick_colours, {2, 1, 0}, false},
    {"8UC4", 4, 3, pick_colours, {2, 1, 0}, false},
    {"mono8", 1, 1, copy_grey, {0}, false},
    {"8UC1", 1, 1, copy_grey, {0}, false},
    {"mono16", 2, 1, take_upper, {0}, false},
    {"16UC1", 2, 1, stretch, {0}, true},
    {"32FC1", 4, 1, stretch, {0}, true},
    {"yuv422", 2, 3, mix_colours, {1, 0, 2}, false},
    {"uyvy", 2, 3, mix_colours, {1, 0, 2}, false},
    {"yuv422_yuy2", 2, 3, mix_colours, {0, 1, 3}, false},
    {"yuyv", 2, 3, mix_colours, {0, 1, 3}, false},
    {"bayer_rggb8", 1, 3, mix_mosaic, {0, 0}, false},
    {"bayer_bggr8", 1, 3, mix_mosaic, {1, 1}, false},
    {"bayer_gbrg8", 1, 3, mix_mosaic, {0, 1}, false},
    {"bayer_grbg8", 1, 3, mix_mosaic, {1, 0}, false},
    {"bayer_rggb16", 2, 3, mix_mosaic, {0, 0}, false},
    {"bayer_bggr16", 2, 3, mix_mosaic, {1, 1}, false},
    {"bayer_gbrg16", 2, 3, mix_mosaic, {0, 1}, false},
    {"bayer_grbg16", 2, 3, mix_mosaic, {1, 0}, false},
};

static const struct encoding *image_rows_encoding_of(const struct reel_image *image, struct reel_error *err) {
    for (size_t i = 0; i < sizeof encodings / sizeof *encodings; i++) {
        if (strcmp(encodings[i].name, image->encoding) == 0) {
            return &encodings[i];
        }
    }
    reel_fail(err, REEL_UNSUPPORTED, "images of the encoding \"%s\" are not drawn", image->encoding);
    return NULL;
}

static const uint8_t *raw_row(struct row_source *source, uint32_t y) {
    struct raw_source *s = (struct raw_source *)source;
    s->y = y;
    s->how->convert(s, s->image->data.data + y * s->step, s->row);
    return s->row;
}

/* The last row may lack its padding. Two pixels of yuv422 are always complete. */
static bool check_bytes(struct raw_source *s, struct reel_error *err) {
    const struct reel_image *image = s->image;
    bool pairs = s->how->convert == mix_colours;
    uint64_t row = ((uint64_t)image->width + (pairs && image->width % 2)) * s->how->bytes;
    s->step = image->step ? image->step : row;
    if (s->step < row) {
        return reel_fail(err, REEL_DAMAGED, "rows of %llu bytes for %u pixels of %s", (ull)s->step, image->width,
                         image->encoding);
    }
    if (image->data.size < row || image->height - 1 > (image->data.size - row) / s->step) {
        return reel_fail(err, REEL_DAMAGED, "%zu bytes for %u rows of %llu", image->data.size, image->height,
                         (ull)s->step);
    }
    return true;
}

static void image_rows_find_range(struct raw_source *s) {
    double least = INFINITY, most = -INFINITY;
    for (uint32_t y = 0; y < s->image->height; y++) {
        const uint8_t *row = s->image->data.data + y * s->step;
        for (uint32_t x = 0; x < s->image->width; x++) {
            double value = image_rows_value_of(s, row + (size_t)x * s->how->bytes);
            if (is_measured(value)) {
                least = value < least ? value : least;
                most = value > most ? value : most;
            }
        }
    }
    s->least = least;
    s->range = most - least;
}

bool pixels_of_image(const struct reel_image *image, uint32_t target_width, struct pixels *out,
                     struct reel_error *err) {
    struct raw_source s = {.image = image, .how = image_rows_encoding_of(image, err)};
    if (!s.how || !picture_fits(image->width, image->height, err) || !check_bytes(&s, err)) {
        return false;
    }
    if (s.how->stretched) {
        image_rows_find_range(&s);
    }
    AUTO_MEM uint8_t *row = malloc((size_t)image->width * s.how->values);
    if (!row) {
        return reel_fail_memory(err);
    }
    s.row = row;
    s.source = (struct row_source){raw_row, image->width, image->height, s.how->values};
    return draw(&s.source, target_width, out, err);
}
