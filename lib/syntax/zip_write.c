/* See zip_write.h. */
#include "syntax/zip_write.h"

#include <zlib.h>

#include "syntax/zip.h"

struct zip_crc zip_crc_begin(const struct reel_sink *out) {
    return (struct zip_crc){.pos = out->pos, .crc = out->crc};
}

void zip_crc_join(const struct reel_sink *out, const struct zip_crc *begin, uint32_t *crc, uint64_t *size) {
    uint64_t length = out->pos - begin->pos;
    uint32_t of_run = out->crc ^ (uint32_t)crc32_combine(begin->crc, 0, (z_off_t)length);
    *crc = (uint32_t)crc32_combine(*crc, of_run, (z_off_t)length);
    *size += length;
}

static uint16_t name_flags(const char *name) {
    for (const char *p = name; *p; p++) {
        if ((uint8_t)*p >= 0x80) {
            return ZIP_FLAG_UTF8;
        }
    }
    return 0;
}

void zip_put_local(struct reel_sink *out, const char *name, uint32_t crc, uint64_t size, bool wide) {
    reel_sink_u32le(out, ZIP_LOCAL_MAGIC);
    reel_sink_u16le(out, wide ? ZIP_VERSION_64 : ZIP_VERSION);
    reel_sink_u16le(out, name_flags(name));
    reel_sink_u16le(out, ZIP_STORED);
    reel_sink_u16le(out, 0);
    reel_sink_u16le(out, ZIP_DATE_1980);
    reel_sink_u32le(out, crc);
    reel_sink_u32le(out, wide ? ZIP_IN_ZIP64 : (uint32_t)size);
    reel_sink_u32le(out, wide ? ZIP_IN_ZIP64 : (uint32_t)size);
    reel_sink_u16le(out, (uint16_t)strlen(name));
    reel_sink_u16le(out, wide ? ZIP64_EXTRA_SIZE : 0);
    reel_sink_put_bytes(out, bytes_text(name));
    if (wide) {
        reel_sink_u16le(out, ZIP_ID_ZIP64);
        reel_sink_u16le(out, ZIP64_EXTRA_SIZE - 4);
        reel_sink_u64le(out, size);
        reel_sink_u64le(out, size);
    }
}

void zip_put_central(struct reel_sink *out, const char *name, uint32_t crc, uint64_t size, uint64_t header_at,
                     bool wide_local) {
    bool wide_size = size > ZIP_PLAIN_MAX, wide_at = header_at > ZIP_PLAIN_MAX;
    uint16_t version = wide_local || wide_size || wide_at ? ZIP_VERSION_64 : ZIP_VERSION;
    uint16_t fields = (uint16_t)((wide_size ? 16 : 0) + (wide_at ? 8 : 0));
    reel_sink_u32le(out, ZIP_CENTRAL_MAGIC);
    reel_sink_u16le(out, (uint16_t)(ZIP_MADE_BY_UNIX << 8 | version));
    reel_sink_u16le(out, version);
    reel_sink_u16le(out, name_flags(name));
    reel_sink_u16le(out, ZIP_STORED);
    reel_sink_u16le(out, 0);
    reel_sink_u16le(out, ZIP_DATE_1980);
    reel_sink_u32le(out, crc);
    reel_sink_u32le(out, wide_size ? ZIP_IN_ZIP64 : (uint32_t)size);
    reel_sink_u32le(out, wide_size ? ZIP_IN_ZIP64 : (uint32_t)size);
    reel_sink_u16le(out, (uint16_t)strlen(name));
    reel_sink_u16le(out, fields > 0 ? fields + 4 : 0);
    reel_sink_u16le(out, 0); /* comment */
    reel_sink_u16le(out, 0); /* disk */
    reel_sink_u16le(out, 0); /* internal attributes */
    reel_sink_u32le(out, ZIP_ATTRIBUTES);
    reel_sink_u32le(out, wide_at ? ZIP_IN_ZIP64 : (uint32_t)header_at);
    reel_sink_put_bytes(out, bytes_text(name));
    if (fields > 0) {
        reel_sink_u16le(out, ZIP_ID_ZIP64);
        reel_sink_u16le(out, fields);
    }
    if (wide_size) {
        reel_sink_u64le(out, size);
        reel_sink_u64le(out, size);
    }
    if (wide_at) {
        reel_sink_u64le(out, header_at);
    }
}

void zip_put_end(struct reel_sink *out, uint64_t directory_at, uint64_t count) {
    uint64_t size = out->pos - directory_at, end64_at = out->pos;
    bool wide = count >= UINT16_MAX || directory_at > ZIP_PLAIN_MAX || size > ZIP_PLAIN_MAX;
    if (wide) {
        reel_sink_u32le(out, ZIP_END64_MAGIC);
        reel_sink_u64le(out, ZIP_END64_SIZE - 12);
        reel_sink_u16le(out, ZIP_VERSION_64);
        reel_sink_u16le(out, ZIP_VERSION_64);
        reel_sink_u64le(out, 0); /* disks */
        reel_sink_u64le(out, count);
        reel_sink_u64le(out, count);
        reel_sink_u64le(out, size);
        reel_sink_u64le(out, directory_at);
        reel_sink_u32le(out, ZIP_LOCATOR_MAGIC);
        reel_sink_u32le(out, 0);
        reel_sink_u64le(out, end64_at);
        reel_sink_u32le(out, 1);
    }
    uint16_t short_count = count < UINT16_MAX ? (uint16_t)count : UINT16_MAX;
    reel_sink_u32le(out, ZIP_END_MAGIC);
    reel_sink_u32le(out, 0); /* disks */
    reel_sink_u16le(out, short_count);
    reel_sink_u16le(out, short_count);
    reel_sink_u32le(out, size < ZIP_IN_ZIP64 ? (uint32_t)size : ZIP_IN_ZIP64);
    reel_sink_u32le(out, directory_at < ZIP_IN_ZIP64 ? (uint32_t)directory_at : ZIP_IN_ZIP64);
    reel_sink_u16le(out, 0);
}
