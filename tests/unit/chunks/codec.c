/* chunks/codec.h: every codec to memory, to a descriptor and measured; cut, flipped, joined, padded, and bombs. */
#include "base/bytes.h"
#include "base/cancel.h"
#include "base/cleanup.h"
#include "chunks/codec_internal.h"

#include <bzlib.h>
#include <fcntl.h>
#include <lz4.h>
#include <lz4frame.h>
#include <lzma.h>
#include <setjmp.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <zlib.h>
#include <zstd.h>

#include <cmocka.h>

enum { RAW_MAX = 5 << 18, ROOM = 4 << 20 }; /* RAW_MAX: more than a block of bzip2, and of lz4 but for its largest */
enum { SHORT = 200 }; /* of what is cut at each byte and flipped at each bit */

static const enum reel_codec all[] = {REEL_CODEC_NONE,  REEL_CODEC_ZLIB, REEL_CODEC_GZIP, REEL_CODEC_DEFLATE,
                                      REEL_CODEC_BZIP2, REEL_CODEC_LZ4,  REEL_CODEC_ZSTD, REEL_CODEC_XZ};
enum { ENCODED = sizeof all / sizeof *all - 1 }; /* nothing is written as xz */
enum { ALL = sizeof all / sizeof *all };

static uint8_t raw[RAW_MAX]; /* half noise, half text: shrinks, but not to nothing */
static uint8_t packed[2 * ROOM];
static uint8_t got[ROOM];

static int make_raw(void **state) {
    (void)state;
    uint64_t seed = 7;
    for (size_t i = 0; i < sizeof raw; i++) {
        seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
        raw[i] = i / 512 % 2 == 0 ? (uint8_t)(seed >> 56) : (uint8_t)("recording of a robot "[i % 21]);
    }
    return 0;
}

static size_t pack_zlib(const uint8_t *data, size_t size, uint8_t *to, int window_bits) {
    z_stream z = {0};
    assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, window_bits, 8, Z_DEFAULT_STRATEGY), Z_OK);
    z.next_in = (Bytef *)(uintptr_t)data;
    z.avail_in = (uInt)size;
    z.next_out = to;
    z.avail_out = ROOM;
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    size_t made = ROOM - z.avail_out;
    deflateEnd(&z);
    return made;
}
static size_t pack_bzip2(const uint8_t *data, size_t size, uint8_t *to) {
    unsigned made = ROOM;
    assert_int_equal(BZ2_bzBuffToBuffCompress((char *)to, &made, (char *)(uintptr_t)data, (unsigned)size, 1, 0, 0),
                     BZ_OK);
    return made;
}
static size_t pack_lz4(const uint8_t *data, size_t size, uint8_t *to) {
    LZ4F_preferences_t how = {.frameInfo = {.contentChecksumFlag = LZ4F_contentChecksumEnabled}};
    size_t made = LZ4F_compressFrame(to, ROOM, data, size, &how);
    assert_false(LZ4F_isError(made));
    return made;
}
static size_t pack_zstd(const uint8_t *data, size_t size, uint8_t *to) {
    ZSTD_CCtx *c = ZSTD_createCCtx();
    ZSTD_CCtx_setParameter(c, ZSTD_c_checksumFlag, 1);
    size_t made = ZSTD_compress2(c, to, ROOM, data, size);
    assert_false(ZSTD_isError(made));
    ZSTD_freeCCtx(c);
    return made;
}
static size_t pack_xz(const uint8_t *data, size_t size, uint8_t *to) {
    size_t made = 0;
    assert_int_equal(lzma_easy_buffer_encode(6, LZMA_CHECK_CRC64, NULL, data, size, to, &made, ROOM), LZMA_OK);
    return made;
}
static size_t pack(enum reel_codec codec, const uint8_t *data, size_t size, uint8_t *to) {
    switch (codec) {
    case REEL_CODEC_NONE:
        memcpy(to, data, size);
        return size;
    case REEL_CODEC_ZLIB:
        return pack_zlib(data, size, to, 15);
    case REEL_CODEC_GZIP:
        return pack_zlib(data, size, to, 31);
    case REEL_CODEC_DEFLATE:
        return pack_zlib(data, size, to, -15);
    case REEL_CODEC_BZIP2:
        return pack_bzip2(data, size, to);
    case REEL_CODEC_LZ4:
        return pack_lz4(data, size, to);
    case REEL_CODEC_ZSTD:
        return pack_zstd(data, size, to);
    case REEL_CODEC_XZ:
        return pack_xz(data, size, to);
    case REEL_CODEC_ROWS:
    case REEL_CODEC_JSON_BYTES:
    case REEL_CODEC_LOGGED:
        break; /* no codecs of all bytes */
    }
    return 0;
}

static struct reel_source *source_of(const uint8_t *data, size_t size) {
    return reel_source_from_memory(bytes_of(data, size), "packed", NULL);
}

static bool codec_decode(enum reel_codec codec, struct reel_source *source, uint64_t offset, uint64_t stored,
                         uint8_t *out, uint64_t size, struct reel_error *err) {
    const struct reel_chunk chunk = {.codec = codec, .offset = offset, .stored = stored, .raw = size};
    return codec_decode_chunk(&chunk, source, out, NULL, err);
}
static bool codec_decode_to_fd(enum reel_codec codec, struct reel_source *source, uint64_t offset, uint64_t stored,
                               int fd, uint64_t size, struct reel_error *err) {
    const struct reel_chunk chunk = {.codec = codec, .offset = offset, .stored = stored, .raw = size};
    return codec_decode_chunk_to_fd(&chunk, source, fd, err);
}

/* All three ways give `size` bytes of `data`. */
static void expect(enum reel_codec codec, struct reel_source *source, uint64_t offset, uint64_t stored,
                   const uint8_t *data, size_t size) {
    struct reel_error err = {0};
    memset(got, 0xee, size + 1);
    if (!codec_decode(codec, source, offset, stored, got, size, &err)) {
        fail_msg("%s", err.text);
    }
    assert_memory_equal(got, data, size);
    assert_int_equal(got[size], 0xee);

    uint64_t measured = 0;
    assert_true(codec_measure(codec, source, offset, stored, size, &measured, &err));
    assert_int_equal(measured, size);

    AUTO_FD int fd = memfd_create("raw", MFD_CLOEXEC);
    assert_true(codec_decode_to_fd(codec, source, offset, stored, fd, size, &err));
    assert_int_equal(lseek(fd, 0, SEEK_END), size);
    assert_int_equal(pread(fd, got, size, 0), size);
    assert_memory_equal(got, data, size);
}

static void refuse(enum reel_codec codec, struct reel_source *source, uint64_t stored, size_t size,
                   enum reel_code code) {
    struct reel_error err = {0};
    if (codec_decode(codec, source, 0, stored, got, size, &err)) {
        fail_msg("%s: %llu bytes decoded to %zu", codec_name(codec), (unsigned long long)stored, size);
    }
    assert_int_equal(err.code, code);
}

static void every_codec_every_size(void **state) {
    (void)state;
    const size_t sizes[] = {0, 1, 1000, (256 << 10) - 1, 256 << 10, (256 << 10) + 1, 512 << 10, RAW_MAX};
    for (size_t c = 0; c < ALL; c++) {
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            memset(packed, 0xaa, 100); /* before and after the data, not read */
            size_t stored = pack(all[c], raw, sizes[i], packed + 100);
            memset(packed + 100 + stored, 0xaa, 100);
            AUTO(reel_source_free) struct reel_source *s = source_of(packed, stored + 200);
            expect(all[c], s, 100, stored, raw, sizes[i]);
        }
    }
}

static void what_is_encoded_decodes_and_is_always_the_same(void **state) {
    (void)state;
    const size_t sizes[] = {0, 1, 1000, 256 << 10, (1 << 20) + 1, RAW_MAX};
    for (size_t c = 0; c < ENCODED; c++) {
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            struct grow once = {0}, again = {0};
            struct reel_error err = {0};
            grow_put(&once, "before", 6); /* what is there stays */
            assert_true(codec_encode(all[c], raw, sizes[i], &once, &err));
            assert_true(codec_encode(all[c], raw, sizes[i], &again, &err));
            assert_int_equal(once.size, again.size + 6);
            assert_memory_equal(once.data, "before", 6);
            assert_true(again.size == 0 || memcmp(once.data + 6, again.data, again.size) == 0);
            AUTO(reel_source_free) struct reel_source *s = source_of(once.data, once.size);
            expect(all[c], s, 6, again.size, raw, sizes[i]);
            free(once.data);
            free(again.data);
        }
    }
}

/* Around the sizes of the codecs' blocks, for what cannot be compressed and for what shrinks to nothing. */
static void the_bound_holds(void **state) {
    (void)state;
    static const size_t sizes[] = {0,     1,     2,     255,    256,    257,    16383,        16384,
                                   16385, 65535, 65536, 131071, 131073, 900001, (1 << 20) + 1};
    static uint8_t noise[(1 << 20) + 1], zeros[(1 << 20) + 1];
    uint64_t seed = 11;
    for (size_t i = 0; i < sizeof noise; i++) {
        seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
        noise[i] = (uint8_t)(seed >> 56);
    }
    for (size_t c = 0; c < ENCODED; c++) {
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            const uint8_t *both[] = {noise, zeros};
            for (size_t k = 0; k < 2; k++) {
                AUTO_STRUCT(grow_done) struct grow out = {0};
                struct reel_error err = {0};
                assert_true(codec_encode(all[c], both[k], sizes[i], &out, &err));
                assert_in_range(out.size, 0, codec_encode_bound(all[c], sizes[i]));
            }
        }
    }
}

/* FLG: independent blocks, a checksum of the content and none of blocks, no content size, no dictionary. BD: blocks of
 * 1 MiB, or less when all is less. */
static void lz4_frames_are_what_ros_reads(void **state) {
    (void)state;
    struct grow out = {0};
    struct reel_error err = {0};
    assert_true(codec_encode(REEL_CODEC_LZ4, raw, RAW_MAX, &out, &err));
    assert_memory_equal(out.data, "\x04\x22\x4d\x18\x64\x60", 6);
    out.size = 0;
    assert_true(codec_encode(REEL_CODEC_LZ4, raw, 5000, &out, &err));
    assert_memory_equal(out.data, "\x04\x22\x4d\x18\x64\x40", 6);
    free(out.data);
}

static void more_or_fewer_bytes_than_stated_is_damage(void **state) {
    (void)state;
    struct reel_error err = {0};
    const size_t sizes[] = {1, 1000, 256 << 10, 700000};
    for (size_t c = 0; c < ALL; c++) {
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            size_t stored = pack(all[c], raw, sizes[i], packed);
            AUTO(reel_source_free) struct reel_source *s = source_of(packed, stored);
            refuse(all[c], s, stored, sizes[i] - 1, REEL_DAMAGED);
            refuse(all[c], s, stored, sizes[i] + 1, REEL_DAMAGED);
            AUTO_FD int fd = memfd_create("raw", MFD_CLOEXEC);
            assert_false(codec_decode_to_fd(all[c], s, 0, stored, fd, sizes[i] - 1, &err));
            assert_non_null(strstr(err.text, "gives more than"));
            assert_false(codec_decode_to_fd(all[c], s, 0, stored, fd, sizes[i] + 1, &err));
            assert_non_null(strstr(err.text, "gives less than"));
            assert_int_equal(err.code, REEL_DAMAGED);
        }
    }
}

static void a_cut_anywhere_is_damage(void **state) {
    (void)state;
    for (size_t c = 0; c < ALL; c++) {
        size_t stored = pack(all[c], raw + 400, SHORT, packed);
        for (size_t cut = 0; cut < stored; cut++) {
            AUTO(reel_source_free) struct reel_source *s = source_of(packed, cut);
            refuse(all[c], s, cut, SHORT, REEL_DAMAGED);
            refuse(all[c], s, stored, SHORT, REEL_DAMAGED); /* and so is a run that exceeds the file */
        }
    }
}

static void flipped_bits_never_give_wrong_bytes_unnoticed(void **state) {
    (void)state;
    for (size_t c = 0; c < ALL; c++) {
        bool checked = all[c] != REEL_CODEC_NONE && all[c] != REEL_CODEC_DEFLATE; /* these two have no checksum */
        size_t stored = pack(all[c], raw + 400, SHORT, packed);
        for (size_t bit = 0; bit < stored * 8; bit++) {
            packed[bit / 8] ^= (uint8_t)(1 << bit % 8);
            AUTO(reel_source_free) struct reel_source *s = source_of(packed, stored);
            struct reel_error err = {0};
            uint64_t measured = 0;
            bool ok = codec_decode(all[c], s, 0, stored, got, SHORT, &err);
            if (ok && checked) {
                assert_memory_equal(got, raw + 400, SHORT);
            }
            if (!ok) {
                assert_true(err.code == REEL_DAMAGED || err.code == REEL_UNSUPPORTED);
            }
            if (codec_measure(all[c], s, 0, stored, 100000, &measured, &err)) {
                assert_true(measured <= 100000);
            }
            packed[bit / 8] ^= (uint8_t)(1 << bit % 8);
        }
    }
}

static void other_data_is_damage(void **state) {
    (void)state;
    for (size_t c = 0; c < ALL; c++) {
        for (size_t other = 0; other < ALL; other++) {
            /* Raw deflate has no magic: whether it notices depends on the bytes. */
            if (c != other && all[c] != REEL_CODEC_NONE && all[c] != REEL_CODEC_DEFLATE) {
                size_t stored = pack(all[other], raw, 5000, packed);
                AUTO(reel_source_free) struct reel_source *s = source_of(packed, stored);
                refuse(all[c], s, stored, 5000, REEL_DAMAGED);
            }
        }
    }
}

static void joined_members_are_one_run(void **state) {
    (void)state;
    const enum reel_codec joinable[] = {REEL_CODEC_GZIP, REEL_CODEC_BZIP2, REEL_CODEC_LZ4, REEL_CODEC_ZSTD,
                                        REEL_CODEC_XZ};
    for (size_t c = 0; c < 4; c++) {
        size_t first = pack(joinable[c], raw, 300000, packed);
        size_t second = first + pack(joinable[c], raw, 0, packed + first);
        size_t third = second + pack(joinable[c], raw + 300000, 1000, packed + second);
        AUTO(reel_source_free) struct reel_source *s = source_of(packed, third);
        expect(joinable[c], s, 0, third, raw, 301000);
        expect(joinable[c], s, 0, second, raw, 300000);
        refuse(joinable[c], s, third, 300000, REEL_DAMAGED);     /* the second one is not padding */
        refuse(joinable[c], s, third - 1, 301000, REEL_DAMAGED); /* nor may it be cut */
    }
}

static void what_follows_the_end(void **state) {
    (void)state;
    static const char *const tails[] = {"\0\0\0\0\0\0\0\0", "\n",          "padding", "\x1f", "BZ",
                                        "\x04\x22\x4d",     "\x28\xb5\x2f"};
    for (size_t t = 0; t < sizeof tails / sizeof *tails; t++) {
        size_t size = t == 0 ? 8 : strlen(tails[t]);
        for (size_t c = 1; c < ALL; c++) {
            size_t stored = pack(all[c], raw, 5000, packed);
            memcpy(packed + stored, tails[t], size);
            AUTO(reel_source_free) struct reel_source *s = source_of(packed, stored + size);
            if (all[c] == REEL_CODEC_ZLIB || all[c] == REEL_CODEC_DEFLATE) {
                refuse(all[c], s, stored + size, 5000, REEL_DAMAGED);
            } else {
                expect(all[c], s, 0, stored + size, raw, 5000);
            }
        }
    }
}

/* A skippable frame in front moves everything after it over the edge of the read buffer, byte by byte. */
static void frames_may_begin_on_any_edge_of_a_read(void **state) {
    (void)state;
    const enum reel_codec framed[] = {REEL_CODEC_LZ4, REEL_CODEC_ZSTD};
    for (size_t c = 0; c < 2; c++) {
        for (uint32_t skip = (256 << 10) - 30; skip < (256 << 10) + 3; skip++) {
            store_u32le(packed, 0x184d2a5b);
            store_u32le(packed + 4, skip);
            memset(packed + 8, 0, skip);
            size_t stored = 8 + skip + pack(framed[c], raw, 700, packed + 8 + skip);
            memcpy(packed + stored, "pad", 3);
            AUTO(reel_source_free) struct reel_source *s = source_of(packed, stored + 3);
            expect(framed[c], s, 0, stored, raw, 700);
            expect(framed[c], s, 0, stored + 3, raw, 700);
        }
    }
}

/* Frames of every kind are decoded at once, into their place. */
static void whole_frames_of_every_kind(void **state) {
    (void)state;
    static const size_t sizes[] = {1, 70000, (256 << 10) + 1, RAW_MAX};
    for (unsigned kind = 0; kind < 64; kind++) {
        const LZ4F_preferences_t how = {
            .frameInfo = {.blockSizeID = LZ4F_max64KB + kind % 4,
                          .blockMode = kind & 4 ? LZ4F_blockLinked : LZ4F_blockIndependent,
                          .contentChecksumFlag = kind & 8 ? LZ4F_contentChecksumEnabled : LZ4F_noContentChecksum,
                          .blockChecksumFlag = kind & 16 ? LZ4F_blockChecksumEnabled : LZ4F_noBlockChecksum,
                          .contentSize = kind & 32 ? 1 : 0}};
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            size_t stored = LZ4F_compressFrame(packed, ROOM, raw, sizes[i], &how);
            assert_false(LZ4F_isError(stored));
            memset(got, 0xee, sizes[i] + 1);
            assert_true(lz4_frame_decode(bytes_of(packed, stored), got, sizes[i]));
            assert_memory_equal(got, raw, sizes[i]);
            assert_int_equal(got[sizes[i]], 0xee);
            assert_false(lz4_frame_decode(bytes_of(packed, stored), got, sizes[i] - 1));
            assert_false(lz4_frame_decode(bytes_of(packed, stored - 1), got, sizes[i]));
            assert_int_equal(got[sizes[i]], 0xee);
            assert_false(lz4_frame_decode(bytes_of(packed, stored), got, sizes[i] + 1));
            AUTO(reel_source_free) struct reel_source *s = source_of(packed, stored);
            expect(REEL_CODEC_LZ4, s, 0, stored, raw, sizes[i]);
        }
    }
}

/* What one decoding leaves in the buffers does no harm to the next, of another size, of another codec or damaged. */
static void buffers_are_used_again(void **state) {
    (void)state;
    static const size_t sizes[] = {700, RAW_MAX, 1, 300000};
    AUTO_STRUCT(codec_buffers_free) struct codec_buffers buffers = {0};
    for (size_t i = 0; i < 3 * ALL; i++) {
        size_t size = sizes[i % 4], stored = pack(all[i % ALL], raw, size, packed);
        const struct reel_chunk chunk = {.codec = all[i % ALL], .stored = stored, .raw = size};
        char path[] = "/tmp/codec-XXXXXX";
        int fd = mkstemp(path);
        assert_true(fd >= 0 && unlink(path) == 0 && write(fd, packed, stored) == (ssize_t)stored);
        struct reel_error err = {0};
        AUTO(reel_source_free) struct reel_source *file = reel_source_from_fd(fd, "packed", &err);
        AUTO(reel_source_free) struct reel_source *cut = source_of(packed, stored);
        packed[stored / 2] ^= 1;
        codec_decode_chunk(&chunk, cut, got, &buffers, &err);
        assert_true(codec_decode_chunk(&chunk, file, got, &buffers, &err));
        assert_memory_equal(got, raw, size);
    }
}

static void bombs_stop_at_the_ceiling(void **state) {
    (void)state;
    static uint8_t zeros[ROOM / 2];
    for (size_t c = 0; c < ALL; c++) {
        struct reel_error err = {0};
        uint64_t measured = 77;
        size_t stored = pack(all[c], zeros, sizeof zeros, packed);
        AUTO(reel_source_free) struct reel_source *s = source_of(packed, stored);
        assert_false(codec_measure(all[c], s, 0, stored, sizeof zeros - 1, &measured, &err));
        assert_int_equal(err.code, REEL_LIMIT);
        assert_false(codec_measure(all[c], s, 0, stored, 0, &measured, &err));
        assert_int_equal(err.code, REEL_LIMIT);
        assert_int_equal(measured, 77);
        assert_true(codec_measure(all[c], s, 0, stored, UINT64_MAX, &measured, &err));
        assert_int_equal(measured, sizeof zeros);
    }
}

static bool count_checks(void *context) {
    ++*(unsigned *)context;
    return true;
}

/* A few KB that become much in one step: the decoder looks between pieces of its output whether it was cancelled. */
static void bombs_can_be_cancelled(void **state) {
    (void)state;
    enum { ZEROS = 33 << 20, STEP_MAX = 16 << 20 };
    const size_t room = LZ4F_compressFrameBound(ZEROS, NULL); /* more than the frame needs, but required */
    AUTO_MEM uint8_t *zeros = calloc(1, ZEROS), *out = malloc(ZEROS), *lz4 = malloc(room);
    assert_true(zeros && out && lz4);
    const size_t lz4_size = LZ4F_compressFrame(lz4, room, zeros, ZEROS, NULL);
    for (size_t c = 1; c < ALL; c++) {
        unsigned checks = 0, least = all[c] == REEL_CODEC_BZIP2 ? ZEROS >> 20 : ZEROS / STEP_MAX;
        struct reel_error err = {0};
        bool is_lz4 = all[c] == REEL_CODEC_LZ4;
        size_t stored = is_lz4 ? lz4_size : pack(all[c], zeros, ZEROS, packed);
        AUTO(reel_source_free) struct reel_source *s = source_of(is_lz4 ? lz4 : packed, stored);
        const struct cancel count = {.goes_on = count_checks, .context = &checks};
        cancel_set(&count);
        bool good = codec_decode(all[c], s, 0, stored, out, ZEROS, &err);
        cancel_set(NULL);
        assert_true(good);
        assert_memory_equal(out, zeros, ZEROS);
        if (checks < least) {
            fail_msg("%s: %u checks, not %u", codec_name(all[c]), checks, least);
        }
    }
}

static void ranges_cannot_wrap(void **state) {
    (void)state;
    AUTO(reel_source_free) struct reel_source *s = source_of(raw, 100);
    const uint64_t outside[][2] = {{0, 101}, {100, 1}, {101, 0}, {UINT64_MAX, 2}, {2, UINT64_MAX}};
    for (size_t i = 0; i < sizeof outside / sizeof *outside; i++) {
        struct reel_error err = {0};
        uint64_t measured = 0;
        assert_false(codec_measure(REEL_CODEC_ZSTD, s, outside[i][0], outside[i][1], 1000, &measured, &err));
        assert_int_equal(err.code, REEL_DAMAGED);
        assert_non_null(strstr(err.text, "exceeds the file"));
    }
}

static bool broken_read(struct reel_source *source, uint64_t offset, void *buffer, size_t size,
                        struct reel_error *err) {
    (void)source;
    if (offset + size > 256 << 10) {
        return reel_fail(err, REEL_IO, "broken");
    }
    memcpy(buffer, packed, size);
    return true;
}

static void failures_of_the_system_are_no_damage(void **state) {
    (void)state;
    const struct reel_source_ops ops = {.read = broken_read};
    for (size_t c = 0; c < ALL; c++) {
        struct reel_error err = {0};
        size_t stored = pack(all[c], raw, RAW_MAX, packed);
        struct reel_source broken = {.ops = &ops, .size = stored, .name = "broken"};
        assert_false(codec_decode(all[c], &broken, 0, stored, got, RAW_MAX, &err));
        assert_int_equal(err.code, REEL_IO);

        AUTO(reel_source_free) struct reel_source *s = source_of(packed, stored);
        AUTO_FD int full = open("/dev/full", O_WRONLY | O_CLOEXEC);
        assert_false(codec_decode_to_fd(all[c], s, 0, stored, full, RAW_MAX, &err));
        assert_int_equal(err.code, REEL_NO_SPACE);
    }
}

static void names(void **state) {
    (void)state;
    assert_string_equal(codec_name(REEL_CODEC_NONE), "none");
    assert_string_equal(codec_name(REEL_CODEC_ZSTD), "zstd");
    assert_string_equal(codec_name((enum reel_codec)99), "unknown");
    struct reel_error err = {0};
    AUTO(reel_source_free) struct reel_source *s = source_of(raw, 100);
    assert_false(codec_decode((enum reel_codec)99, s, 0, 10, got, 10, &err));
    assert_int_equal(err.code, REEL_ARGUMENT);
}

/* What names a result that was compressed must change when a library does. */
static void the_libraries_have_a_version(void **state) {
    (void)state;
    char text[256];
    snprintf(text, sizeof text, "%s %s %d %u", zlibVersion(), BZ2_bzlibVersion(), LZ4_versionNumber(),
             ZSTD_versionNumber());
    assert_int_equal(codec_encode_version(), crc32(0, (const Bytef *)text, (uInt)strlen(text)));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_codec_every_size),
        cmocka_unit_test(what_is_encoded_decodes_and_is_always_the_same),
        cmocka_unit_test(the_bound_holds),
        cmocka_unit_test(lz4_frames_are_what_ros_reads),
        cmocka_unit_test(more_or_fewer_bytes_than_stated_is_damage),
        cmocka_unit_test(a_cut_anywhere_is_damage),
        cmocka_unit_test(flipped_bits_never_give_wrong_bytes_unnoticed),
        cmocka_unit_test(other_data_is_damage),
        cmocka_unit_test(joined_members_are_one_run),
        cmocka_unit_test(what_follows_the_end),
        cmocka_unit_test(frames_may_begin_on_any_edge_of_a_read),
        cmocka_unit_test(whole_frames_of_every_kind),
        cmocka_unit_test(buffers_are_used_again),
        cmocka_unit_test(bombs_stop_at_the_ceiling),
        cmocka_unit_test(bombs_can_be_cancelled),
        cmocka_unit_test(ranges_cannot_wrap),
        cmocka_unit_test(failures_of_the_system_are_no_damage),
        cmocka_unit_test(names),
        cmocka_unit_test(the_libraries_have_a_version),
    };
    return cmocka_run_group_tests(tests, make_raw, NULL);
}
