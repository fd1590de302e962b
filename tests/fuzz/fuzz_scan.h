/* One fuzz run of a format: read the bytes' summary, scan them into a pack, open it, read every message. Whatever the
 * bytes are, nothing may crash, leak or hang; what scan() accepted must be readable. */
#ifndef TESTS_FUZZ_SCAN_H
#define TESTS_FUZZ_SCAN_H

#include "base/bytes.h"
#include "base/cleanup.h"
#include "base/hash_table.h"
#include "exact.h"
#include "index/scan.h"
#include "stream/stream.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static inline void fuzz_expect(bool good, const char *what, const struct reel_error *err) {
    if (!good) {
        fprintf(stderr, "%s: %s\n", what, err->text);
        abort();
    }
}

/* Of many things to do with one input libFuzzer does one in `of`, which ones its bytes decide: it runs so many times
 * more inputs. A replay of the corpus does all. */
#ifdef REEL_FUZZ
enum { FUZZ_ONE = true };
#else
enum { FUZZ_ONE = false };
#endif
struct fuzz_turns {
    uint64_t next;
};
static inline struct fuzz_turns fuzz_turns_of(struct reel_bytes data) {
    return (struct fuzz_turns){hash_bytes(0, data) >> 32};
}
static inline bool fuzz_turn(struct fuzz_turns *turns, unsigned of) {
    return !FUZZ_ONE || turns->next++ % of == 0;
}

/* Payloads are read when they are not of absurd size: a few bytes of a compressed file may promise gigabytes. */
static inline void fuzz_read_all(struct reel_recording *recording) {
    enum { PAYLOAD_MAX = 1 << 20, MESSAGES_MAX = 20000 };
    struct reel_error err = {0};
    AUTO(reel_stream_free) struct reel_stream *stream = reel_stream_open(&recording, 1, &selection_all, &err);
    fuzz_expect(stream != NULL, "open the stream", &err);
    struct reel_message m;
    int64_t last = INT64_MIN;
    for (unsigned i = 0; i < MESSAGES_MAX && stream_next(stream, &m, &err) == REEL_STEP_MESSAGE; i++) {
        struct reel_description description;
        struct reel_bytes payload;
        fuzz_expect(m.time_ns >= last && m.channel < stream->n_channels, "messages in order of time", &err);
        last = m.time_ns;
        if (m.size <= PAYLOAD_MAX) {
            bool read = reel_stream_payload(stream, &m, &payload, &err); /* a chunk that does not decode is an error */
            fuzz_expect(!read || payload.size == m.size, "a payload of the size that was scanned", &err);
        }
        stream_describe(stream, &m, &description, &err);
    }
}

/* Packs and what chunks are unpacked to, which would be written to a disk. */
__attribute__((constructor)) static inline void fuzz_in_memory(void) {
    if (access("/dev/shm", W_OK) == 0) {
        setenv("TMPDIR", "/dev/shm", 0);
    }
}

/* Scans the bytes and opens the recording; format NULL: the one that the bytes are recognised as. NULL: refused, with a
 * reason. */
static inline struct reel_recording *fuzz_open(struct reel_bytes data, const struct reel_format *format) {
    struct reel_error err = {0};
    struct reel_source *source = reel_source_from_memory(data, "fuzzed", &err);
    fuzz_expect(source != NULL, "make the source", &err);
    struct reel_index *index = reel_scan_index(&source, 1, format, NULL, false, NULL, NULL, &err);
    if (!index) {
        fuzz_expect(err.code != REEL_OK && err.text[0] != '\0', "a failed scan says why", &err);
        reel_source_free(source);
        return NULL;
    }
    const struct reel_recording_options options = {0};
    struct reel_recording *recording = reel_recording_from_index(index, &source, 1, &options, &err);
    fuzz_expect(recording != NULL, "open the recording", &err);
    return recording;
}

/* With the first bytes of the source, in memory of their own size. */
static inline void fuzz_probe(const struct reel_format *format, struct reel_source *source, struct reel_bytes bytes) {
    AUTO_EXACT struct reel_bytes head = exact_copy(bytes_of(bytes.data, bytes.size < 65536 ? bytes.size : 65536));
    format->probe(head, source, NULL);
}

static inline void fuzz_summary(struct reel_bytes data, const struct reel_format *format) {
    struct reel_error err = {0};
    AUTO(reel_source_free) struct reel_source *source = reel_source_from_memory(data, "fuzzed", &err);
    fuzz_expect(source != NULL, "make the source", &err);
    fuzz_probe(format, source, data);
    fuzz_probe(format, source, bytes_of(data.data, data.size / 2));
    if (format->summary) {
        AUTO(reel_index_free)
        struct reel_index *summary = reel_scan_index(&source, 1, format, NULL, true, NULL, NULL, &err);
        fuzz_expect(!summary || reel_index_info(summary)->is_summary, "it is a summary", &err);
    }
}

static inline int fuzz_scan(const uint8_t *data, size_t size, const struct reel_format *format) {
    struct fuzz_turns turns = fuzz_turns_of(bytes_of(data, size));
    if (fuzz_turn(&turns, 2)) {
        fuzz_summary(bytes_of(data, size), format);
    }
    if (!fuzz_turn(&turns, 2)) {
        return 0;
    }
    AUTO(reel_recording_free) struct reel_recording *recording = fuzz_open(bytes_of(data, size), format);
    if (recording) {
        fuzz_read_all(recording);
    }
    return 0;
}

#endif
