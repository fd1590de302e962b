/* The records of a ZIP archive whose members are stored, for writers (convert/writer.h) that know sizes and CRCs before
 * they emit a byte. */
#ifndef REEL_SYNTAX_ZIP_WRITE_H
#define REEL_SYNTAX_ZIP_WRITE_H

#include "base/sink.h"

/* A hashing sink keeps one checksum over all it was given; a member's is made of the runs between other records. */
struct zip_crc {
    uint64_t pos;
    uint32_t crc;
};
struct zip_crc zip_crc_begin(const struct reel_sink *out);
/* Adds the bytes emitted since `begin` to the member's CRC and size. */
void zip_crc_join(const struct reel_sink *out, const struct zip_crc *begin, uint32_t *crc, uint64_t *size);

/* `wide`: the sizes are in a ZIP64 extra field, whatever their value. */
void zip_put_local(struct reel_sink *out, const char *name, uint32_t crc, uint64_t size, bool wide);
void zip_put_central(struct reel_sink *out, const char *name, uint32_t crc, uint64_t size, uint64_t header_at,
                     bool wide_local);
/* The end of the directory, which began at `directory_at` and has `count` entries. */
void zip_put_end(struct reel_sink *out, uint64_t directory_at, uint64_t count);

#endif
