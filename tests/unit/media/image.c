/* Image messages as pictures: fields from every encoding of messages, pixels of every encoding of images, files there
 * and back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "base/cancel.h"
#include "base/cleanup.h"
#include "base/grow.h"
#include "makers/pb_maker.h"
#include "media/image.h"
#include "reel/open.h"

#include <math.h>
#include <stdio.h>
#include <turbojpeg.h>

static inline void reel_auto_tj_done(tjhandle *handle) {
    tjDestroy(*handle);
}
#define PIXELS AUTO(pixels_done) struct pixels
static inline void reel_auto_reel_image_done(struct reel_image *i) {
    reel_image_done(i);
}
static inline void reel_auto_reel_picture_done(struct reel_picture *p) {
    reel_picture_done(p);
}
#define IMAGE AUTO(reel_image_done) struct reel_image
#define PICTURE AUTO(reel_picture_done) struct reel_picture

/* --- pixels --- */

static struct reel_image raw(const char *encoding, uint32_t width, uint32_t height, const void *data, size_t size) {
    struct reel_image image = {.width = width, .height = height, .data = bytes_of(data, size)};
    snprintf(image.encoding, sizeof image.encoding, "%s", encoding);
    return image;
}
#define RAW(encoding, width, height, ...)                                                                              \
    raw(encoding, width, height, (const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__}))

static void assert_pixels(struct reel_image image, uint32_t want, uint32_t width, uint32_t height, unsigned values,
                          const uint8_t *expected) {
    PIXELS p = {0};
    struct reel_error err = {0};
    if (!pixels_of_image(&image, want, &p, &err)) {
        fail_msg("%s: %s", image.encoding, err.text);
    }
    assert_int_equal(p.width, width);
    assert_int_equal(p.height, height);
    assert_int_equal(p.values, values);
    assert_memory_equal(p.data, expected, (size_t)width * height * values);
}
#define ASSERT_PIXELS(image, want, width, height, values, ...)                                                         \
    assert_pixels(image, want, width, height, values, (const uint8_t[]){__VA_ARGS__})

static void colours(void **state) {
    (void)state;
    ASSERT_PIXELS(RAW("rgb8", 2, 1, 1, 2, 3, 4, 5, 6), 0, 2, 1, 3, 1, 2, 3, 4, 5, 6);
    ASSERT_PIXELS(RAW("bgr8", 2, 1, 1, 2, 3, 4, 5, 6), 0, 2, 1, 3, 3, 2, 1, 6, 5, 4);
    ASSERT_PIXELS(RAW("rgba8", 2, 1, 1, 2, 3, 9, 4, 5, 6, 9), 0, 2, 1, 3, 1, 2, 3, 4, 5, 6);
    ASSERT_PIXELS(RAW("bgra8", 1, 1, 1, 2, 3, 9), 0, 1, 1, 3, 3, 2, 1);
    ASSERT_PIXELS(RAW("yuv422", 2, 1, 128, 50, 128, 200), 0, 2, 1, 3, 50, 50, 50, 200, 200, 200);
    ASSERT_PIXELS(RAW("yuv422_yuy2", 1, 1, 76, 85, 0, 255), 0, 1, 1, 3, 254, 0, 0); /* red; the second of the pair is
                                                                                       not drawn */
}

static void greys(void **state) {
    (void)state;
    ASSERT_PIXELS(RAW("mono8", 2, 2, 1, 2, 3, 4), 0, 2, 2, 1, 1, 2, 3, 4);
    ASSERT_PIXELS(RAW("mono16", 2, 1, 0xff, 0x12, 0, 0x80), 0, 2, 1, 1, 0x12, 0x80);
    struct reel_image turned = RAW("mono16", 2, 1, 0x12, 0xff, 0x80, 0);
    turned.big_endian = true;
    ASSERT_PIXELS(turned, 0, 2, 1, 1, 0x12, 0x80);
}

/* The pixels of a colour, of `width` x `height` of them. */
static void assert_one_colour(const char *pattern, unsigned bits, uint32_t width, uint32_t height, bool big_endian) {
    uint8_t data[2 * 5 * 5], expected[3 * 5 * 5];
    for (uint32_t i = 0; i < width * height; i++) {
        char colour = pattern[i / width % 2 * 2 + i % width % 2];
        uint8_t value = colour == 'r' ? 200 : colour == 'g' ? 100 : 50;
        data[i * bits / 8] = data[i * bits / 8 + bits / 8 - 1] = 77;
        data[i * bits / 8 + (bits == 16 && !big_endian)] = value;
        memcpy(expected + (size_t)3 * i, (const uint8_t[]){200, 100, 50}, 3);
    }
    char encoding[16];
    snprintf(encoding, sizeof encoding, "bayer_%s%u", pattern, bits);
    struct reel_image image = raw(encoding, width, height, data, (size_t)width * height * bits / 8);
    image.big_endian = big_endian;
    assert_pixels(image, 0, width, height, 3, expected);
}

static void mosaics(void **state) {
    (void)state;
    static const char *const patterns[] = {"rggb", "bggr", "gbrg", "grbg"};
    for (unsigned i = 0; i < 4; i++) {
        for (uint32_t side = 2; side <= 5; side++) {
            assert_one_colour(patterns[i], 8, side, 7 - side, false);
            assert_one_colour(patterns[i], 16, 7 - side, side, false);
            assert_one_colour(patterns[i], 16, side, side, true);
        }
    }
    ASSERT_PIXELS(RAW("bayer_rggb8", 3, 3, 10, 20, 30, 40, 50, 60, 70, 80, 90), 0, 3, 3, 3, /* the first row */ 10, 30,
                  50, 20, 20, 50, 30, 40, 50, /* the second */ 40, 40, 50, 50, 50, 50, 60, 60, 50, /* the third */ 70,
                  60, 50, 80, 80, 50, 90, 70, 50);
    ASSERT_PIXELS(RAW("bayer_grbg8", 1, 1, 7), 0, 1, 1, 3, 7, 7, 7);
    ASSERT_PIXELS(RAW("bayer_grbg8", 2, 1, 7, 9), 0, 2, 1, 3, 9, 7, 7, 9, 8, 7);
    struct reel_image padded = RAW("bayer_rggb8", 2, 2, 200, 100, 1, 100, 50);
    padded.step = 3; /* the last row is without */
    ASSERT_PIXELS(padded, 1, 1, 1, 3, 200, 100, 50);
}

/* From the nearest to the farthest; nothing measured is black. */
static void depths(void **state) {
    (void)state;
    ASSERT_PIXELS(RAW("16UC1", 4, 1, 0, 0, 100, 0, 44, 1, 200, 0), 0, 4, 1, 1, 0, 0, 255, 128);
    ASSERT_PIXELS(RAW("16UC1", 2, 1, 5, 0, 5, 0), 0, 2, 1, 1, 0, 0);
    const float metres[] = {1, 3, NAN, 2, INFINITY, 0};
    uint8_t bytes[sizeof metres];
    for (size_t i = 0; i < 6; i++) {
        uint32_t bits;
        memcpy(&bits, &metres[i], 4);
        store_u32le(bytes + 4 * i, bits);
    }
    ASSERT_PIXELS(raw("32FC1", 3, 2, bytes, sizeof bytes), 0, 3, 2, 1, 0, 255, 0, 128, 0, 0);
}

static void rows_with_padding(void **state) {
    (void)state;
    struct reel_image image = RAW("mono8", 2, 2, 1, 2, 99, 3, 4);
    image.step = 3; /* the last row is without */
    ASSERT_PIXELS(image, 0, 2, 2, 1, 1, 2, 3, 4);
}

static void scaled_by_means(void **state) {
    (void)state;
    ASSERT_PIXELS(RAW("mono8", 4, 2, 0, 10, 20, 40, 20, 30, 40, 100), 2, 2, 1, 1, 15, 50);
    ASSERT_PIXELS(RAW("mono8", 3, 3, 0, 0, 9, 0, 9, 9, 9, 9, 9), 1, 1, 1, 1, 6);
    ASSERT_PIXELS(RAW("rgb8", 2, 1, 0, 100, 200, 100, 200, 0), 1, 1, 1, 3, 50, 150, 100);
    ASSERT_PIXELS(RAW("mono8", 2, 1, 1, 2), 5, 2, 1, 1, 1, 2); /* never larger than it is */
    uint8_t tall[1000], grey[100];
    memset(tall, 255, sizeof tall);
    memset(grey, 255, sizeof grey);
    assert_pixels(raw("mono8", 10, 100, tall, sizeof tall), 1, 1, 10, 1, grey);
    assert_pixels(raw("mono8", 1000, 1, tall, sizeof tall), 100, 100, 1, 1, grey);
}

static void assert_refused(struct reel_image image, enum reel_code code, const char *words) {
    PIXELS p = {0};
    struct reel_error err = {0};
    assert_false(pixels_of_image(&image, 0, &p, &err));
    assert_int_equal(err.code, code);
    assert_non_null(strstr(err.text, words));
    assert_null(p.data);
}

static void hostile_images(void **state) {
    (void)state;
    assert_refused(RAW("rgb9", 1, 1, 1, 2, 3), REEL_UNSUPPORTED, "\"rgb9\"");
    assert_refused(RAW("rgb8", 2, 1, 1, 2, 3), REEL_DAMAGED, "3 bytes for 1 rows of 6");
    assert_refused(RAW("mono8", 0, 5, 1), REEL_DAMAGED, "0 x 5");
    assert_refused(RAW("mono8", 16385, 1, 1), REEL_LIMIT, "16384 a side");
    assert_refused(RAW("mono8", 16384, 16384, 1), REEL_LIMIT, "64 million");
    assert_refused(RAW("mono8", UINT32_MAX, UINT32_MAX, 1), REEL_LIMIT, "4294967295 x 4294967295");
    struct reel_image narrow = RAW("mono8", 2, 1, 1, 2), wide = RAW("mono8", 1, 2, 1, 2), odd = RAW("uyvy", 1, 1, 1, 2);
    narrow.step = 1;
    assert_refused(narrow, REEL_DAMAGED, "rows of 1 bytes for 2 pixels");
    wide.step = UINT64_MAX;
    assert_refused(wide, REEL_DAMAGED, "2 bytes for 2 rows of 18446744073709551615");
    assert_refused(odd, REEL_DAMAGED, "2 bytes for 1 rows of 4");
}

/* --- files --- */

static uint8_t slope[64 * 48 * 3];
static struct reel_image gentle(void) {
    for (unsigned i = 0; i < 64 * 48; i++) {
        slope[3 * i] = (uint8_t)(i % 64 * 4);
        slope[3 * i + 1] = (uint8_t)(i / 64 * 5);
        slope[3 * i + 2] = 128;
    }
    return raw("rgb8", 64, 48, slope, sizeof slope);
}
static struct reel_image file_of(const struct reel_picture *p, enum reel_picture_form form) {
    return (struct reel_image){.compressed = true, .form = form, .data = bytes_of(p->data, p->size)};
}
static void make(struct reel_image image, enum reel_picture_form form, uint32_t width, struct reel_picture *out) {
    struct reel_error err = {0};
    if (!reel_picture_make(&image, form, width, out, &err)) {
        fail_msg("%s", err.text);
    }
}
static unsigned worst(const uint8_t *a, const uint8_t *b, size_t n) {
    unsigned most = 0;
    for (size_t i = 0; i < n; i++) {
        unsigned off = (unsigned)abs(a[i] - b[i]);
        most = off > most ? off : most;
    }
    return most;
}

static void files_there_and_back(void **state) {
    (void)state;
    struct reel_error err = {0};
    for (int form = REEL_PICTURE_JPEG; form <= REEL_PICTURE_PNG; form++) {
        PICTURE file = {0}, small = {0};
        PIXELS p = {0}, q = {0};
        make(gentle(), (enum reel_picture_form)form, 0, &file);
        struct reel_image again = file_of(&file, (enum reel_picture_form)form);
        assert_true(pixels_of_file(&again, 0, &p, &err));
        assert_int_equal(p.width, 64);
        assert_int_equal(p.height, 48);
        assert_in_range(worst(p.data, slope, sizeof slope), 0, form == REEL_PICTURE_PNG ? 0 : 12);
        make(again, REEL_PICTURE_PNG, 10, &small);
        assert_int_equal(small.width, 10);
        assert_int_equal(small.height, 8);
        struct reel_image png = file_of(&small, REEL_PICTURE_PNG);
        assert_true(pixels_of_file(&png, 0, &q, &err));
        assert_in_range(q.data[0], 0, 14); /* the mean of the first 6 of 64 columns, 10 */
        assert_in_range(q.data[27], 238, 246);
    }
}

static void grey_images_stay_grey(void **state) {
    (void)state;
    PICTURE jpeg = {0}, png = {0};
    PIXELS p = {0};
    struct reel_error err = {0};
    make(RAW("mono8", 2, 1, 100, 100), REEL_PICTURE_JPEG, 0, &jpeg);
    make(file_of(&jpeg, REEL_PICTURE_JPEG), REEL_PICTURE_PNG, 0, &png);
    struct reel_image again = file_of(&png, REEL_PICTURE_PNG);
    assert_true(pixels_of_file(&again, 0, &p, &err));
    assert_int_equal(p.values, 1);
    assert_in_range(p.data[0], 98, 102);
}

static void hostile_files(void **state) {
    (void)state;
    for (int form = REEL_PICTURE_JPEG; form <= REEL_PICTURE_PNG; form++) {
        PICTURE file = {0};
        make(gentle(), (enum reel_picture_form)form, 0, &file);
        for (size_t cut = 0; cut < file.size; cut += 1 + file.size / 97) {
            AUTO_MEM uint8_t *part = malloc(cut ? cut : 1);
            memcpy(part, file.data, cut);
            struct reel_image image = {
                .compressed = true, .form = (enum reel_picture_form)form, .data = bytes_of(part, cut)};
            PICTURE out = {0};
            struct reel_error err = {0};
            /* the rest of a cut JPEG is grey */
            bool made = reel_picture_make(&image, REEL_PICTURE_JPEG, 16, &out, &err);
            assert_true(made ? out.width == 16 : err.code == REEL_DAMAGED);
        }
        /* sides of 65500 in the header: JPEG's stand after its SOF0, PNG's at 16 */
        size_t at = 16;
        while (form == REEL_PICTURE_JPEG && (file.data[at] != 0xff || file.data[at + 1] != 0xc0)) {
            at++;
        }
        at += form == REEL_PICTURE_JPEG ? 5 : 0;
        memcpy(file.data + at, form == REEL_PICTURE_JPEG ? "\xff\xdc\xff\xdc" : "\x00\x00\xff\xdc", 4);
        struct reel_image image = file_of(&file, (enum reel_picture_form)form);
        PICTURE out = {0};
        struct reel_error err = {0};
        assert_false(reel_picture_make(&image, REEL_PICTURE_JPEG, 1, &out, &err));
        assert_int_equal(err.code, form == REEL_PICTURE_JPEG ? REEL_LIMIT : REEL_DAMAGED); /* of PNG the checksum no
                                                                                              longer holds */
    }
}

/* A progressive JPEG of 4096 x 4096 whose one scan stands there a hundred times over. */
static void many_scans(void **state) {
    (void)state;
    AUTO(tj_done) tjhandle jpeg = tjInitCompress();
    AUTO_MEM uint8_t *pixels = calloc(4096, 4096);
    unsigned long size = 0;
    unsigned char *file = NULL;
    assert_int_equal(
        tjCompress2(jpeg, pixels, 4096, 0, 4096, TJPF_GRAY, &file, &size, TJSAMP_GRAY, 50, TJFLAG_PROGRESSIVE), 0);
    size_t scan = size - 2;
    while (file[scan] != 0xff || file[scan + 1] != 0xda) {
        scan--;
    }
    struct grow bomb = {0};
    grow_put(&bomb, file, scan);
    for (int i = 0; i < 100; i++) {
        grow_put(&bomb, file + scan, size - 2 - scan);
    }
    grow_put(&bomb, "\xff\xd9", 2);
    struct reel_image image = {.compressed = true, .form = REEL_PICTURE_JPEG, .data = bytes_of(bomb.data, bomb.size)},
                      plain = image;
    PICTURE out = {0}, small = {0};
    struct reel_error err = {0};
    assert_false(reel_picture_make(&image, REEL_PICTURE_JPEG, 16, &out, &err));
    assert_int_equal(err.code, REEL_LIMIT);
    assert_non_null(strstr(err.text, "4096 x 4096 pixels in 1"));
    plain.data = bytes_of(file, size);
    make(plain, REEL_PICTURE_JPEG, 16, &small);
    assert_int_equal(small.width, 16);
    free(bomb.data);
    tjFree(file);
}

/* --- messages --- */

static const char ros_image[] =
    "Header header\nuint32 height\nuint32 width\nstring encoding\nuint8 is_bigendian\nuint32 step\nuint8[] data\n"
    "===\nMSG: std_msgs/Header\nuint32 seq\ntime stamp\nstring frame_id\n";
static const char ros_compressed[] =
    "Header header\nstring format\nuint8[] data\n===\nMSG: std_msgs/Header\nuint32 seq\ntime stamp\nstring frame_id\n";

static bool read_message(const char *encoding, const char *schema_encoding, struct reel_bytes schema,
                         struct reel_bytes payload, struct reel_image *out, struct reel_error *err) {
    const struct reel_schema s = {.name = "t/T", .encoding = schema_encoding, .hash = "", .data = schema};
    const struct reel_channel channel = {
        .name = "/t", .type = "t/T", .encoding = encoding, .schemas = &s, .n_schemas = 1};
    *err = (struct reel_error){0};
    AUTO(reel_decoder_free) struct reel_decoder *decoder = reel_decoder_open(&channel, err);
    return decoder && reel_image_read(decoder, payload, out, err);
}
static bool read_ros(const char *definition, const struct grow *payload, struct reel_image *out,
                     struct reel_error *err) {
    return read_message("ros1", "ros1msg", bytes_text(definition), bytes_of(payload->data, payload->size), out, err);
}
static void put_text(struct grow *to, const char *text) {
    grow_u32(to, (uint32_t)strlen(text));
    grow_put(to, text, strlen(text));
}
static void put_header(struct grow *to) {
    grow_u32(to, 7);
    grow_u64(to, 0);
    put_text(to, "camera");
}

static void of_ros(void **state) {
    (void)state;
    struct reel_error err;
    struct grow m = {0};
    IMAGE image = {0}, packed = {0};
    put_header(&m);
    grow_u32(&m, 1); /* height */
    grow_u32(&m, 2);
    put_text(&m, "mono8");
    grow_put(&m, "", 1);
    grow_u32(&m, 2);
    put_text(&m, "\x05\x06");
    assert_true(read_ros(ros_image, &m, &image, &err));
    assert_false(image.compressed);
    ASSERT_PIXELS(image, 0, 2, 1, 1, 5, 6);
    m.size = 0;
    put_header(&m);
    put_text(&m, "rgb8; jpeg compressed bgr8");
    put_text(&m, "\xff\xd8\xff\xe0 and so on");
    assert_true(read_ros(ros_compressed, &m, &packed, &err));
    assert_true(packed.compressed && packed.form == REEL_PICTURE_JPEG && packed.data.size == 14);
    free(m.data);
}

static void depths_of_ros(void **state) {
    (void)state;
    struct reel_error err;
    struct grow m = {0};
    IMAGE image = {0};
    put_header(&m);
    put_text(&m, "16UC1; compressedDepth png");
    put_text(&m, "123456789012\x89PNG\r\n\x1a\n");
    assert_true(read_ros(ros_compressed, &m, &image, &err));
    assert_true(image.form == REEL_PICTURE_PNG && image.data.size == 8);
    m.size = 0;
    put_header(&m);
    put_text(&m, "webp");
    put_text(&m, "RIFFxxxxWEBP");
    assert_false(read_ros(ros_compressed, &m, &image, &err));
    assert_int_equal(err.code, REEL_UNSUPPORTED);
    assert_non_null(strstr(err.text, "\"webp\""));
    m.size = 0;
    put_text(&m, "hello");
    assert_false(read_ros("string data\n", &m, &image, &err));
    assert_non_null(strstr(err.text, "not an image"));
    free(m.data);
}

static bool read_json(const char *text, struct reel_image *out, struct reel_error *err) {
    return read_message("json", "jsonschema", bytes_text("{}"), bytes_text(text), out, err);
}
static void of_json(void **state) {
    (void)state;
    struct reel_error err;
    IMAGE image = {0}, other = {0};
    assert_true(read_json(
        "{\"data\":\"AQID\",\"timestamp\":{\"width\":9},\"width\":1,\"height\":1.0,\"encoding\":\"rgb8\",\"step\":3}",
        &image, &err));
    ASSERT_PIXELS(image, 0, 1, 1, 3, 1, 2, 3);
    assert_false(read_json("{\"data\":\"AQI\",\"width\":1,\"height\":1,\"encoding\":\"rgb8\"}", &other, &err));
    assert_int_equal(err.code, REEL_DAMAGED);
    reel_image_done(&other);
    assert_true(read_json("{\"data\":\"AQID\",\"width\":-1,\"height\":1e300,\"encoding\":\"rgb8\"}", &other, &err));
    assert_refused(other, REEL_LIMIT, "4294967295 x 4294967295");
}

/* foxglove.RawImage: frame_id 7, width 2, height 3, encoding 4, step 5, data 6. */
static void of_protobuf(void **state) {
    (void)state;
    static const struct {
        const char *name;
        unsigned number, type;
    } fields[] = {{"width", 2, 7}, {"height", 3, 7}, {"encoding", 4, 9},
                  {"step", 5, 7},  {"data", 6, 12},  {"frame_id", 7, 9}};
    struct pb m = {0}, file = {0}, set = {0}, payload = {0};
    pb_text(&m, 1, "T");
    for (size_t i = 0; i < 6; i++) {
        struct pb f = {0};
        pb_text(&f, 1, fields[i].name);
        pb_number(&f, 3, fields[i].number);
        pb_number(&f, 4, 1);
        pb_number(&f, 5, fields[i].type);
        pb_message(&m, 2, &f);
    }
    pb_text(&file, 1, "t.proto");
    pb_text(&file, 2, "t");
    pb_message(&file, 4, &m);
    pb_text(&file, 12, "proto3");
    pb_message(&set, 1, &file);
    pb_part(&payload, 6, "\x01\x02\x03", 3);
    pb_text(&payload, 4, "bgr8");
    static const unsigned fixed[][2] = {{2, 1}, {3, 1}, {5, 3}};
    for (size_t i = 0; i < 3; i++) {
        uint8_t value[4];
        store_u32le(value, fixed[i][1]);
        pb_varint(&payload, (uint64_t)fixed[i][0] << 3 | 5);
        pb_raw(&payload, value, 4);
    }
    const struct reel_schema s = {.name = "t.T", .encoding = "protobuf", .hash = "", .data = pb_bytes(&set)};
    const struct reel_channel channel = {
        .name = "/t", .type = "t.T", .encoding = "protobuf", .schemas = &s, .n_schemas = 1};
    struct reel_error err = {0};
    AUTO(reel_decoder_free) struct reel_decoder *decoder = reel_decoder_open(&channel, &err);
    assert_non_null(decoder);
    IMAGE image = {0};
    assert_true(reel_image_read(decoder, pb_bytes(&payload), &image, &err));
    ASSERT_PIXELS(image, 0, 1, 1, 3, 3, 2, 1);
}

/* ---- of a recording */

#define ROW(time, pixels)                                                                                              \
    "{\"topic\":\"/camera\",\"log_time\":" #time                                                                       \
    ",\"data\":{\"width\":2,\"height\":1,\"encoding\":\"mono8\",\"step\":2,"                                           \
    "\"data\":\"" pixels "\"}}\n"
static void thumbnails_of_any_number_of_frames(void **state) {
    (void)state;
    static const char rows[] =
        "{\"$channel\":{\"topic\":\"/camera\",\"type\":\"RawImage\",\"encoding\":\"json\"}}\n" ROW(1000, "AAA=")
            ROW(2000, "////");
    struct reel_error err = {0};
    FILE *f = fopen(REEL_SCRATCH "/camera.ndjson", "w");
    assert_true(f && fwrite(rows, sizeof rows - 1, 1, f) == 1 && fclose(f) == 0);
    AUTO(reel_recording_free)
    struct reel_recording *recording = reel_recording_open(REEL_SCRATCH "/camera.ndjson", NULL, &err);
    assert_non_null(recording);
    static const uint32_t good[] = {1, 10, PICTURE_SIDE_MAX / 2};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        PICTURE picture = {0};
        const struct reel_thumbnail options = {.frames = good[i], .width = 100, .height = 100};
        if (!reel_thumbnail_make(recording, &options, &picture, &err)) {
            fail_msg("%u frames: %s", good[i], err.text);
        }
        assert_int_equal(picture.width, 2 * good[i]);
        assert_int_equal(picture.height, 1);
    }
    static const struct {
        uint32_t frames;
        enum reel_code code;
    } bad[] = {{0, REEL_ARGUMENT},           {PICTURE_SIDE_MAX / 2 + 1, REEL_LIMIT}, {PICTURE_SIDE_MAX + 1, REEL_LIMIT},
               {UINT32_MAX / 2, REEL_LIMIT}, {UINT32_MAX / 2 + 1, REEL_LIMIT},       {UINT32_MAX, REEL_LIMIT}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        PICTURE picture = {0};
        const struct reel_thumbnail options = {.frames = bad[i].frames, .width = 100, .height = 100};
        assert_false(reel_thumbnail_make(recording, &options, &picture, &err));
        assert_int_equal(err.code, bad[i].code);
    }
}

static bool image_counts(void *context) {
    ++*(unsigned *)context;
    return true;
}
static bool image_stops(void *context) {
    return --*(int *)context > 0;
}

/* A PNG of 64 megapixels, which takes half a second to read. */
static void a_large_file_can_be_cancelled(void **state) {
    (void)state;
    enum { SIDE = 8192, LOOKS = 15 };
    PIXELS black = {0}, whole = {0}, part = {0};
    PICTURE file = {0};
    struct reel_error err = {0};
    unsigned looks = 0;
    int left = LOOKS;
    assert_true(pixels_new(SIDE, SIDE, 1, &black, &err));
    memset(black.data, 0, (size_t)SIDE * SIDE);
    assert_true(picture_write(&black, REEL_PICTURE_PNG, &file, &err));
    const struct reel_image image = {
        .compressed = true, .form = REEL_PICTURE_PNG, .data = bytes_of(file.data, file.size)};
    const struct cancel counting = {.goes_on = image_counts, .context = &looks},
                        stopping = {.goes_on = image_stops, .context = &left};
    cancel_set(&counting);
    assert_true(pixels_of_file(&image, 0, &whole, &err));
    assert_int_equal(whole.width, SIDE);
    assert_true(looks >= LOOKS);
    cancel_set(&stopping);
    assert_false(pixels_of_file(&image, 0, &part, &err));
    cancel_set(NULL);
    assert_int_equal(err.code, REEL_CANCELLED);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(colours),
        cmocka_unit_test(greys),
        cmocka_unit_test(mosaics),
        cmocka_unit_test(depths),
        cmocka_unit_test(rows_with_padding),
        cmocka_unit_test(scaled_by_means),
        cmocka_unit_test(hostile_images),
        cmocka_unit_test(files_there_and_back),
        cmocka_unit_test(grey_images_stay_grey),
        cmocka_unit_test(hostile_files),
        cmocka_unit_test(many_scans),
        cmocka_unit_test(a_large_file_can_be_cancelled),
        cmocka_unit_test(of_ros),
        cmocka_unit_test(depths_of_ros),
        cmocka_unit_test(of_json),
        cmocka_unit_test(of_protobuf),
        cmocka_unit_test(thumbnails_of_any_number_of_frames),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
