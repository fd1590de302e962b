/* Joins the state before a cut and the first frame of the cut. If both have a record with the same key, that of the
 * frame is used. */
#include "base/bytes.h"
#include "base/cleanup.h"
#include "base/grow.h"
#include "base/order.h"
#include "formats/carla/container.h"

enum { RECORDS_MAX = 65535 };

static uint64_t carla_join_key_of(enum carla_kind kind, struct reel_bytes record) {
    return load_u32le(record.data) | (carla_facts[kind].key > 4 ? (uint64_t)record.data[4] << 32 : 0);
}

/* Sorted keys of all records; *good false if the records do not end at the end of the packet. */
static uint64_t *keys_of(enum carla_kind kind, const struct carla_layout *layout, struct reel_bytes data, uint16_t *n,
                         bool *good) {
    struct cursor c = cursor_of(data);
    struct reel_bytes record;
    *n = data.size > 0 ? cursor_u16le(&c) : 0;
    uint64_t *keys = malloc((*n ? *n : 1) * sizeof *keys);
    *good = !c.failed;
    for (uint16_t i = 0; keys && i < *n && *good; i++) {
        *good = carla_record(kind, layout, &c, &record);
        keys[i] = *good ? carla_join_key_of(kind, record) : 0;
    }
    *good = *good && cursor_done(&c);
    if (keys && *good && *n > 1) {
        qsort(keys, *n, sizeof *keys, order_u64);
    }
    return keys;
}

bool carla_join(enum carla_kind kind, const struct carla_layout *layout, struct reel_bytes initial,
                struct reel_bytes own, struct reel_bytes *out, bool *joined, struct reel_error *err) {
    *out = bytes_of(NULL, 0);
    *joined = false;
    if (!carla_has_records(kind, layout) || carla_facts[kind].key == 0) {
        return true;
    }
    uint16_t n_own;
    bool good;
    AUTO_MEM uint64_t *keys = keys_of(kind, layout, own, &n_own, &good);
    struct grow data = {0};
    uint32_t total = n_own;
    struct cursor c = cursor_of(initial);
    struct reel_bytes record;
    grow_put(&data, "\0", 2);
    uint16_t n_initial = cursor_u16le(&c);
    for (uint16_t i = 0; keys && good && i < n_initial && (good = carla_record(kind, layout, &c, &record)); i++) {
        uint64_t key = carla_join_key_of(kind, record);
        if (!bsearch(&key, keys, n_own, sizeof key, order_u64)) {
            grow_put(&data, record.data, record.size);
            total++;
        }
    }
    if (keys && good && own.size > 2) {
        grow_put(&data, own.data + 2, own.size - 2);
    }
    if (!keys || data.failed || !good || total > RECORDS_MAX) {
        free(data.data);
        return (keys && !data.failed) || reel_fail_memory(err);
    }
    store_u16le(data.data, (uint16_t)total);
    *out = bytes_of(data.data, data.size);
    *joined = true;
    return true;
}
