/* JPEG and PNG files, with libjpeg-turbo and libpng. Sizes in a header are checked before anything is allocated by
 * them. */
#include <png.h>
#include <stdlib.h>
#include <string.h>
#include <turbojpeg.h>

#include "base/bytes.h"
#include "base/cancel.h"
#include "base/cleanup.h"
#include "media/image.h"

enum { QUALITY = 85 };

/* --- JPEG --- */

static inline void reel_auto_tj_done(tjhandle *handle) {
    if (*handle) {
        tjDestroy(*handle);
    }
}

/* The smallest decoder scale that is at least as wide as requested. */
static void choose_size(int width, int height, uint32_t target_width, int *out_width, int *out_height) {
    int n = 0;
    const tjscalingfactor *factors = tjGetScalingFactors(&n);
    *out_width = width;
    *out_height = height;
    for (int i = 0; factors && target_width > 0 && i < n; i++) {
        int w = TJSCALED(width, factors[i]), h = TJSCALED(height, factors[i]);
        if (w < *out_width && (uint32_t)w >= target_width) {
            *out_width = w;
            *out_height = h;
        }
    }
}

/* A progressive JPEG may repeat its scans any number of times at little cost in bytes, so they are counted. Similar
 * bytes elsewhere are counted too. */
static uint64_t count_scans(struct reel_bytes file) {
    uint64_t scans = 0;
    for (size_t i = 1; i < file.size; i++) {
        scans += file.data[i - 1] == 0xff && file.data[i] == 0xda;
    }
    return scans;
}

static bool scans_fit(struct reel_bytes file, int width, int height, struct reel_error *err) {
    uint64_t scans = count_scans(file);
    return (uint64_t)width * (uint64_t)height <= PICTURE_SCANNED_MAX / (scans ? scans : 1) ||
           reel_fail(err, REEL_LIMIT, "a JPEG of %d x %d pixels in %llu scans is not drawn", width, height,
                     (unsigned long long)scans);
}

static bool read_jpeg(struct reel_bytes file, uint32_t target_width, struct pixels *out, struct reel_error *err) {
    AUTO(tj_done) tjhandle jpeg = tjInitDecompress();
    int width = 0, height = 0, sampling = 0, colours = 0;
    if (!jpeg) {
        return reel_fail_memory(err);
    }
    if (tjDecompressHeader3(jpeg, file.data, file.size, &width, &height, &sampling, &colours) != 0) {
        return reel_fail(err, REEL_DAMAGED, "this JPEG cannot be read: %s", tjGetErrorStr2(jpeg));
    }
    if (!picture_fits((uint64_t)width, (uint64_t)height, err) || !scans_fit(file, width, height, err)) {
        return false;
    }
    bool grey = colours == TJCS_GRAY;
    choose_size(width, height, target_width, &width, &height);
    if (!pixels_new((uint32_t)width, (uint32_t)height, grey ? 1 : 3, out, err)) {
        return false;
    }
    int failed = tjDecompress2(jpeg, file.data, file.size, out->data, width, 0, height, grey ? TJPF_GRAY : TJPF_RGB,
                               TJFLAG_LIMITSCANS);
    /* a camera's picture is used even when cut off or malformed */
    return failed == 0 || tjGetErrorCode(jpeg) == TJERR_WARNING ||
           reel_fail(err, REEL_DAMAGED, "this JPEG cannot be read: %s", tjGetErrorStr2(jpeg));
}

static bool write_jpeg(const struct pixels *from, struct reel_picture *out, struct reel_error *err) {
    AUTO(tj_done) tjhandle jpeg = tjInitCompress();
    bool grey = from->values == 1;
    int sampling = grey ? TJSAMP_GRAY : TJSAMP_420;
    unsigned long size = tjBufSize((int)from->width, (int)from->height, sampling);
    out->data = size == (unsigned long)-1 ? NULL : malloc(size);
    if (!jpeg || !out->data) {
        return reel_fail_memory(err);
    }
    if (tjCompress2(jpeg, from->data, (int)from->width, 0, (int)from->height, grey ? TJPF_GRAY : TJPF_RGB, &out->data,
                    &size, sampling, QUALITY, TJFLAG_NOREALLOC) != 0) {
        return reel_fail(err, REEL_LIMIT, "no JPEG could be made: %s", tjGetErrorStr2(jpeg));
    }
    out->size = size;
    return true;
}

/* --- PNG --- */

/* A file that is read in small pieces: libpng offers no other place where the work can be cancelled. 64 megapixels take
 * half a second; a piece of 4 KiB has at most 4 MiB of pixels. */
enum { PNG_PIECE = 4 << 10 };
struct png_in {
    struct reel_bytes left;
    struct reel_error *err;
};
static ssize_t read_piece(void *context, char *buffer, size_t size) {
    struct png_in *in = context;
    size_t n = size < in->left.size ? size : in->left.size;
    n = n < PNG_PIECE ? n : PNG_PIECE;
    if (!cancel_check(in->err)) {
        return -1;
    }
    if (n > 0) {
        memcpy(buffer, in->left.data, n);
        in->left = bytes_of(in->left.data + n, in->left.size - n);
    }
    return (ssize_t)n;
}
static inline void reel_auto_file_close(FILE **file) {
    if (*file) {
        fclose(*file);
    }
}

static bool png_fail(const png_image *png, struct reel_error *err) {
    return cancel_check(err) && reel_fail(err, REEL_DAMAGED, "this PNG cannot be read: %s", png->message);
}

/* 16 bits of grey are a depth image, whose values are stretched as those of a raw one. */
static bool read_depth(png_image *png, uint32_t target_width, struct pixels *out, struct reel_error *err) {
    AUTO_MEM uint16_t *values = malloc((size_t)png->width * png->height * sizeof *values);
    if (!values) {
        return reel_fail_memory(err);
    }
    png->format = PNG_FORMAT_LINEAR_Y;
    if (!png_image_finish_read(png, NULL, values, 0, NULL)) {
        return png_fail(png, err);
    }
    const struct reel_image image = {.encoding = "16UC1",
                                     .width = png->width,
                                     .height = png->height,
                                     .big_endian = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__,
                                     .data = bytes_of(values, (size_t)png->width * png->height * sizeof *values)};
    return pixels_of_image(&image, target_width, out, err);
}

static bool read_png(struct reel_bytes bytes, uint32_t target_width, struct pixels *out, struct reel_error *err) {
    struct png_in in = {.left = bytes, .err = err};
    AUTO(file_close) FILE *file = fopencookie(&in, "rb", (cookie_io_functions_t){.read = read_piece});
    AUTO_STRUCT(png_image_free) png_image png = {.version = PNG_IMAGE_VERSION};
    if (!file || setvbuf(file, NULL, _IONBF, 0) != 0) {
        return reel_fail_memory(err);
    }
    if (!png_image_begin_read_from_stdio(&png, file)) {
        return png_fail(&png, err);
    }
    if (!picture_fits(png.width, png.height, err)) {
        return false;
    }
    bool grey = !(png.format & PNG_FORMAT_FLAG_COLOR);
    if (grey && png.format & PNG_FORMAT_FLAG_LINEAR && !(png.format & PNG_FORMAT_FLAG_ALPHA)) {
        return read_depth(&png, target_width, out, err);
    }
    const png_color black = {0, 0, 0}; /* background for transparent pixels */
    png.format = grey ? PNG_FORMAT_GRAY : PNG_FORMAT_RGB;
    return pixels_new(png.width, png.height, grey ? 1 : 3, out, err) &&
           (png_image_finish_read(&png, &black, out->data, 0, NULL) || png_fail(&png, err));
}

static bool write_png(const struct pixels *from, struct reel_picture *out, struct reel_error *err) {
    AUTO_STRUCT(png_image_free)
    png_image png = {.version = PNG_IMAGE_VERSION,
                     .width = from->width,
                     .height = from->height,
                     .format = from->values == 1 ? PNG_FORMAT_GRAY : PNG_FORMAT_RGB,
                     .flags = PNG_IMAGE_FLAG_FAST};
    png_alloc_size_t size = PNG_IMAGE_PNG_SIZE_MAX(png);
    if (!(out->data = malloc(size))) {
        return reel_fail_memory(err);
    }
    if (!png_image_write_to_memory(&png, out->data, &size, 0, from->data, 0, NULL)) {
        return reel_fail(err, REEL_LIMIT, "no PNG could be made: %s", png.message);
    }
    out->size = size;
    return true;
}

/* --- either --- */

static bool jpeg_size(struct reel_bytes file, uint32_t *width, uint32_t *height) {
    AUTO(tj_done) tjhandle jpeg = tjInitDecompress();
    int w = 0, h = 0, sampling = 0, colours = 0;
    bool good = jpeg && tjDecompressHeader3(jpeg, file.data, file.size, &w, &h, &sampling, &colours) == 0;
    *width = (uint32_t)w;
    *height = (uint32_t)h;
    return good;
}

static bool png_size(struct reel_bytes file, uint32_t *width, uint32_t *height) {
    AUTO_STRUCT(png_image_free) png_image png = {.version = PNG_IMAGE_VERSION};
    bool good = png_image_begin_read_from_memory(&png, file.data, file.size);
    *width = png.width;
    *height = png.height;
    return good;
}

bool reel_image_size(const struct reel_image *image, uint32_t *width, uint32_t *height) {
    if (!image->compressed) {
        *width = image->width;
        *height = image->height;
        return true;
    }
    return image->form == REEL_PICTURE_JPEG  ? jpeg_size(image->data, width, height)
           : image->form == REEL_PICTURE_PNG ? png_size(image->data, width, height)
                                             : false;
}

/* Of one picture made of another, both in memory, then of it and its file. */
static uint64_t memory_of(uint64_t read, uint64_t made, bool scaled, enum reel_picture_form form) {
    enum { PIXEL = 3 };                                                               /* bytes */
    const uint64_t file = form == REEL_PICTURE_JPEG ? made + made / 2 : made * PIXEL, /* as their writers allocate it */
        reading = (read + (scaled ? made : 0)) * PIXEL, writing = (scaled ? made : read) * PIXEL + file;
    return reading > writing ? reading : writing;
}

uint64_t reel_picture_memory(const struct reel_image *image, enum reel_picture_form form, uint32_t width) {
    enum { COEFFICIENTS = 6 }; /* bytes for each pixel of a JPEG of several scans */
    uint32_t w = 0, h = 0;
    if (!reel_image_size(image, &w, &h) || w == 0 || h == 0 || w > PICTURE_SIDE_MAX || h > PICTURE_SIDE_MAX) {
        return 0; /* it is not drawn */
    }
    bool jpeg = image->compressed && image->form == REEL_PICTURE_JPEG, scaled = width > 0 && width < w;
    int read_width = (int)w, read_height = (int)h;
    if (jpeg) {
        choose_size((int)w, (int)h, width, &read_width, &read_height);
    }
    uint64_t all = (uint64_t)w * h, made = scaled ? all * width / w * width / w : all,
             read = image->compressed ? (uint64_t)read_width * (uint64_t)read_height : made;
    return memory_of(read, made, scaled && image->compressed, form) +
           (jpeg && count_scans(image->data) > 1 ? all * COEFFICIENTS : 0);
}

bool pixels_of_file(const struct reel_image *image, uint32_t target_width, struct pixels *out, struct reel_error *err) {
    if (image->form != REEL_PICTURE_JPEG && image->form != REEL_PICTURE_PNG) {
        return reel_fail(err, REEL_UNSUPPORTED, "frames of a video are not drawn one by one; export the topic as .mp4");
    }
    return (image->form == REEL_PICTURE_JPEG ? read_jpeg : read_png)(image->data, target_width, out, err);
}

bool picture_write(const struct pixels *from, enum reel_picture_form form, struct reel_picture *out,
                   struct reel_error *err) {
    *out = (struct reel_picture){.width = from->width, .height = from->height};
    bool good = (form == REEL_PICTURE_JPEG ? write_jpeg : write_png)(from, out, err);
    uint8_t *less = good ? realloc(out->data, out->size) : NULL;
    out->data = less ? less : out->data;
    if (!good) {
        reel_picture_done(out);
    }
    return good;
}

void reel_picture_done(struct reel_picture *picture) {
    free(picture->data);
    *picture = (struct reel_picture){0};
}

static bool pixels_of(const struct reel_image *image, uint32_t width, struct pixels *out, struct reel_error *err) {
    AUTO(pixels_done) struct pixels whole = {0};
    if (!(image->compressed ? pixels_of_file : pixels_of_image)(image, width, &whole, err)) {
        return false;
    }
    if (width > 0 && whole.width > width) { /* raw images are scaled while they are read */
        return pixels_scale(&whole, width, out, err);
    }
    *out = whole;
    whole.data = NULL;
    return true;
}

bool reel_picture_pixels(const struct reel_image *image, uint32_t width, struct reel_pixels *out,
                         struct reel_error *err) {
    struct pixels pixels = {0};
    bool good = pixels_of(image, width, &pixels, err);
    *out = (struct reel_pixels){
        .data = pixels.data, .width = pixels.width, .height = pixels.height, .values = pixels.values};
    if (!good) {
        reel_pixels_done(out);
    }
    return good;
}

void reel_pixels_done(struct reel_pixels *pixels) {
    free(pixels->data);
    *pixels = (struct reel_pixels){0};
}

bool reel_picture_make(const struct reel_image *image, enum reel_picture_form form, uint32_t width,
                       struct reel_picture *out, struct reel_error *err) {
    AUTO(pixels_done) struct pixels pixels = {0};
    *out = (struct reel_picture){0};
    return pixels_of(image, width, &pixels, err) && picture_write(&pixels, form, out, err);
}
