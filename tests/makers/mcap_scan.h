/* Scans made MCAP files into opened recordings. For tests with cmocka. */
#ifndef TESTS_MCAP_SCAN_H
#define TESTS_MCAP_SCAN_H

#define BAG_FORMAT &reel_format_mcap
#include "base/bytes.h"
#include "makers/bag_scan.h"
#include "makers/mcap_maker.h"

#include <stdio.h>

__attribute__((unused)) static const char *const compressions[] = {"", "lz4", "zstd"};
#define ALL_PAYLOADS "one|{\"n\":1}|two|{\"n\":2}|three|{\"n\":3}|"

static inline const struct reel_pairs *metadata_of(const struct reel_recording *r) {
    return reel_index_metadata(reel_recording_index(r));
}
static inline const struct reel_attachment *attachments_of(const struct reel_recording *r, size_t *count) {
    return reel_index_attachments(reel_recording_index(r), count);
}
static inline void assert_pair(struct reel_pairs pairs, size_t i, const char *key, const char *value) {
    assert_true(i < pairs.count);
    assert_string_equal(pairs.items[i].key, key);
    assert_string_equal(pairs.items[i].value, value);
}

/* Scans what is made and frees it with the recording's end. */
static inline struct reel_recording *scanned(struct maker *m) {
    struct reel_error err = {0};
    struct reel_recording *r = bag_try(bytes_of(m->data, m->size), &err);
    if (!r) {
        fail_msg("%s", err.text);
    }
    return r;
}
static inline void done(struct reel_recording *r, struct maker *m) {
    reel_recording_free(r);
    free(m->data);
    *m = (struct maker){0};
}

#endif
