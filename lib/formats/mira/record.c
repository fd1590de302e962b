/* Records MIRA tapes, a block at a time, with each channel's info before its first message. Until the tape is closed
 * its header names no infos, and these have no links. The rows of the index tables wait in a temporary file. */
#include "record/record.h"
#include "base/bytes.h"
#include "base/cleanup.h"
#include "base/glob.h"
#include "base/hash_table.h"
#include "base/limits.h"
#include "chunks/codec.h"
#include "formats/mira/write.h"
#include "index/pack_model.h"

#include <stdio.h>
#include <stdlib.h>

enum { BLOCK_PREFIX = MIRA_FIELD_HEAD + MIRA_BLOCK_HEAD, ROW = 4 + MIRA_INDEX_ENTRY };

struct channel {
    struct mira_out out;
    uint64_t info_at; /* in the file; 0: not there yet */
    bool pending;     /* in the block that is gathered */
    bool plain;       /* never compressed */
    struct mira_info_links links;
    uint64_t messages;
};
struct pending { /* a message of the block that is gathered */
    uint32_t channel, stored;
    uint64_t at; /* in the block */
    int64_t time;
};

struct recorder {
    struct reel_recorder base;
    struct arena arena;
    struct channel *channels;
    size_t cap_channels;
    struct hash_table names;
    struct grow block, packed; /* block: with room for its head */
    struct pending *pending;
    size_t n_pending, cap_pending;
    uint32_t blocks;
    int64_t start_ns;
    bool zlib, started;
    uint64_t block_max, compress_from;
    const char **compressed; /* globs of the topics that are compressed; … */
    uint32_t n_compressed;   /* … 0: all are */
    FILE *spool;
};

static bool mira_put_head(struct recorder *t, uint64_t first_info, struct reel_error *err) {
    uint8_t head[MIRA_HEADER];
    struct reel_sink out = {.hi = sizeof head, .buffer = head};
    mira_put_tape_head(&out, &(struct mira_tape_head){.version = MIRA_VERSION_DEFAULT,
                                                      .start_ns = t->start_ns,
                                                      .blocks = first_info > 0 ? t->blocks : 0,
                                                      .first_info = first_info});
    return t->base.pos == 0 ? recorder_put(&t->base, head, sizeof head, err)
                            : recorder_patch(&t->base, 0, head, sizeof head, err);
}

static bool read_settings(struct recorder *t, struct reel_error *err) {
    const struct reel_recorder *r = &t->base;
    const char *glob;
    t->block_max = r->options.chunk_bytes ? r->options.chunk_bytes : recorder_setting_u64(r, "block_size");
    t->compress_from = recorder_setting_u64(r, "compress_from");
    t->compressed = arena_alloc(&t->arena, (r->settings.n + 1) * sizeof *t->compressed);
    while (t->compressed && (glob = recorder_setting_text(r, "compress_topic", t->n_compressed)) != NULL) {
        if (!(t->compressed[t->n_compressed++] = arena_text(&t->arena, glob))) {
            return arena_fail(&t->arena, err);
        }
    }
    return t->compressed || arena_fail(&t->arena, err);
}

static bool tape_open(struct reel_recorder *r, struct reel_error *err) {
    struct recorder *t = (struct recorder *)r;
    const char *compression = r->options.compression ? r->options.compression : "";
    t->zlib = strcmp(compression, "zlib") == 0;
    t->arena.max = REEL_MODEL_MAX;
    if (!t->zlib && compression[0] && strcmp(compression, "none") != 0) {
        return reel_fail(err, REEL_UNSUPPORTED, "MIRA tapes support compression zlib and none, not \"%s\"",
                         compression);
    }
    return read_settings(t, err) && (t->spool = recorder_spool(err)) && mira_put_head(t, 0, err);
}

static void tape_close(struct reel_recorder *r) {
    struct recorder *t = (struct recorder *)r;
    arena_free(&t->arena);
    free(t->channels);
    hash_table_free(&t->names);
    free(t->block.data);
    free(t->packed.data);
    free(t->pending);
    if (t->spool) {
        fclose(t->spool);
    }
}

/* ---- channels */

/* Names are unique in a tape: a second channel of a name gets a number behind it, and keeps its own name in its meta
 * data. */
static const char *free_name(struct recorder *t, const char *name, struct reel_error *err) {
    const char *chosen = name;
    char numbered[512];
    for (unsigned i = 2; hash_table_get(&t->names, hash_key_bytes(bytes_text(chosen))); i++) {
        snprintf(numbered, sizeof numbered, "%.480s_%u", name, i);
        chosen = numbered;
    }
    const char *kept = arena_text(&t->arena, chosen);
    if (!kept) {
        arena_fail(&t->arena, err);
        return NULL;
    }
    return hash_table_set(&t->names, hash_key_bytes(bytes_text(kept)), 1, err) ? kept : NULL;
}

static bool tape_channel(struct reel_recorder *r, const struct reel_channel *channel, struct reel_error *err) {
    struct recorder *t = (struct recorder *)r;
    struct reel_channel *own = arena_alloc(&t->arena, sizeof *own);
    if (!own || !pack_model_copy_channel(&t->arena, channel, own)) {
        return arena_fail(&t->arena, err);
    }
    const char *name = free_name(t, own->name, err);
    if (!name || !GROW_ARRAY(t->channels, r->n_channels, t->cap_channels)) {
        return name && reel_fail_memory(err);
    }
    struct channel *c = &t->channels[r->n_channels];
    *c = (struct channel){.plain = t->n_compressed > 0};
    for (uint32_t i = 0; i < t->n_compressed; i++) {
        c->plain = c->plain && !reel_topic_match(t->compressed[i], own->name);
    }
    return mira_out_channel(&t->arena, own, name, &c->out, err);
}

/* The channel's info, at the end of `to`. */
static bool put_info(struct grow *to, const struct channel *c, struct reel_error *err) {
    size_t size = (size_t)mira_info_size(&c->out);
    uint8_t *p = grow_take(to, size);
    if (p) {
        mira_put_info_field(&(struct reel_sink){.hi = size, .buffer = p}, &c->out, &c->links);
    }
    return p || reel_fail_memory(err);
}

/* ---- blocks */

static void put_block_head(struct recorder *t) {
    int64_t first = t->pending[0].time, last = first;
    for (size_t i = 0; i < t->n_pending; i++) {
        first = t->pending[i].time < first ? t->pending[i].time : first;
        last = t->pending[i].time > last ? t->pending[i].time : last;
    }
    struct reel_sink out = {.hi = BLOCK_PREFIX, .buffer = t->block.data};
    reel_sink_u8(&out, MIRA_BLOCK);
    reel_sink_u32le(&out, MIRA_BLOCK_HEAD);
    reel_sink_u32le(&out, (uint32_t)t->n_pending);
    reel_sink_u32le(&out, (uint32_t)(t->block.size - BLOCK_PREFIX));
    reel_sink_u64le(&out, (uint64_t)first);
    reel_sink_u64le(&out, (uint64_t)last);
}

/* Counts what is in the file now. */
static bool count_block(struct recorder *t, uint64_t block_at, struct reel_error *err) {
    for (size_t i = 0; i < t->n_pending; i++) {
        const struct pending *p = &t->pending[i];
        struct channel *c = &t->channels[p->channel];
        c->links.first = c->messages == 0 || p->time < c->links.first ? p->time : c->links.first;
        c->links.last = c->messages == 0 || p->time > c->links.last ? p->time : c->links.last;
        c->links.stored += p->stored;
        c->messages++;
        uint8_t row[ROW];
        store_u32le(row, p->channel);
        store_u64le(row + 4, block_at);
        store_u64le(row + 12, p->at);
        store_u64le(row + 20, (uint64_t)p->time);
        if (fwrite(row, sizeof row, 1, t->spool) != 1) {
            return reel_fail_errno(err, "could not write a temporary file");
        }
    }
    return true;
}

static bool tape_flush(struct reel_recorder *r, struct reel_error *err) {
    struct recorder *t = (struct recorder *)r;
    if (t->n_pending == 0) {
        return true;
    }
    uint64_t block_at = r->pos;
    put_block_head(t);
    bool good = (t->blocks > 0 || mira_put_head(t, 0, err)) && recorder_put(r, t->block.data, t->block.size, err);
    for (uint32_t c = 0; c < r->n_channels; c++) {
        struct channel *channel = &t->channels[c];
        channel->info_at = !channel->pending ? channel->info_at : good ? block_at + channel->info_at : 0;
        channel->pending = false;
    }
    t->blocks += good;
    good = good && count_block(t, block_at, err);
    t->n_pending = 0;
    t->block.size = 0;
    return good;
}

static bool begin_block(struct recorder *t, int64_t time_ns, struct reel_error *err) {
    if (!t->started) { /* times of a simulation have no date, and count from 0 */
        t->started = true;
        t->start_ns = time_ns >= MIRA_WALL_MIN_NS && time_ns < MIRA_WALL_MAX_NS ? time_ns : 0;
    }
    return t->block.size > 0 || grow_take(&t->block, BLOCK_PREFIX) || reel_fail_memory(err);
}

/* ---- messages */

static bool mira_record_put_message(struct recorder *t, const struct reel_record *record, const struct reel_bytes *data,
                                    struct reel_error *err) {
    const struct mira_out *c = &t->channels[record->channel].out;
    bool packed = data->size < record->payload.size;
    size_t size = MIRA_FIELD_HEAD + MIRA_MESSAGE_FIXED + c->name.size + c->frame.size + (packed ? 4 : 0) + data->size;
    if (!GROW_ARRAY(t->pending, t->n_pending, t->cap_pending)) {
        return reel_fail_memory(err);
    }
    uint64_t at = t->block.size;
    uint8_t *p = grow_take(&t->block, size);
    if (!p) {
        t->block.failed = false;
        return reel_fail_memory(err);
    }
    int64_t time = record->log_time_ns - t->start_ns;
    struct reel_sink out = {.hi = size, .buffer = p};
    reel_sink_u8(&out, MIRA_MESSAGE);
    reel_sink_u32le(&out, (uint32_t)(size - MIRA_FIELD_HEAD));
    reel_sink_u64le(&out, (uint64_t)time);
    reel_sink_string32(&out, c->name);
    reel_sink_string32(&out, c->frame);
    reel_sink_u32le(&out, record->sequence);
    reel_sink_u32le(&out, (uint32_t)data->size);
    reel_sink_u8(&out, packed);
    if (packed) {
        reel_sink_u32le(&out, (uint32_t)record->payload.size);
    }
    reel_sink_put_bytes(&out, *data);
    t->pending[t->n_pending++] =
        (struct pending){.channel = record->channel, .stored = (uint32_t)data->size, .at = at, .time = time};
    return true;
}

static bool tape_message(struct reel_recorder *r, const struct reel_record *record, struct reel_error *err) {
    struct recorder *t = (struct recorder *)r;
    struct channel *c = &t->channels[record->channel];
    struct reel_bytes data = record->payload;
    if (t->zlib && !c->plain && data.size >= t->compress_from && data.size <= REEL_CHUNK_MEMORY_MAX) {
        t->packed.size = 0;
        if (!codec_encode(REEL_CODEC_ZLIB, record->payload.data, record->payload.size, &t->packed, err)) {
            return false;
        }
        data = t->packed.size < data.size ? bytes_of(t->packed.data, t->packed.size) : data;
    }
    uint64_t added = data.size + mira_info_size(&c->out) + MIRA_MESSAGE_FIXED;
    if (t->n_pending > 0 && t->block.size + added > t->block_max && !tape_flush(r, err)) {
        return false;
    }
    if (!begin_block(t, record->log_time_ns, err)) {
        return false;
    }
    if (c->info_at == 0) {
        uint64_t at = t->block.size;
        if (!put_info(&t->block, c, err)) {
            return false;
        }
        c->info_at = at;
        c->pending = true;
    }
    return mira_record_put_message(t, record, &data, err);
}

/* ---- the end */

static bool mira_record_put_table_head(struct reel_recorder *r, size_t key, struct reel_error *err) {
    struct channel *c = &((struct recorder *)r)->channels[key];
    uint8_t head[MIRA_FIELD_HEAD + 4];
    c->links.index = r->pos;
    head[0] = MIRA_INDEX;
    store_u32le(head + 1, (uint32_t)(4 + c->messages * MIRA_INDEX_ENTRY));
    store_u32le(head + 5, (uint32_t)c->messages);
    return c->messages <= (UINT32_MAX - 4) / MIRA_INDEX_ENTRY
               ? recorder_put(r, head, sizeof head, err)
               : reel_fail(err, REEL_UNSUPPORTED, "%.*s has more messages than an index of a tape holds",
                           (int)c->out.name.size, (const char *)c->out.name.data);
}

/* Infos of channels without messages, and the links of all. */
static bool link_infos(struct recorder *t, struct reel_error *err) {
    struct reel_recorder *r = &t->base;
    uint64_t next = 0;
    for (uint32_t c = 0; c < r->n_channels; c++) {
        if (t->channels[c].info_at == 0) {
            t->block.size = 0;
            t->channels[c].info_at = r->pos;
            if (!put_info(&t->block, &t->channels[c], err) || !recorder_put(r, t->block.data, t->block.size, err)) {
                return false;
            }
        }
    }
    for (uint32_t c = r->n_channels; c-- > 0;) {
        struct channel *channel = &t->channels[c];
        channel->links.next = next;
        t->block.size = 0;
        if (!put_info(&t->block, channel, err) ||
            !recorder_patch(r, channel->info_at, t->block.data, t->block.size, err)) {
            return false;
        }
        next = channel->info_at;
    }
    return mira_put_head(t, next, err);
}

static bool tape_finish(struct reel_recorder *r, struct reel_error *err) {
    struct recorder *t = (struct recorder *)r;
    AUTO_MEM uint64_t *counts = calloc((size_t)r->n_channels + 1, sizeof *counts);
    if (!counts) {
        return reel_fail_memory(err);
    }
    for (uint32_t c = 0; c < r->n_channels; c++) {
        counts[c] = t->channels[c].messages;
    }
    const struct recorder_tables index = {.spool = t->spool,
                                          .row_size = MIRA_INDEX_ENTRY,
                                          .n_keys = r->n_channels,
                                          .counts = counts,
                                          .head = mira_record_put_table_head};
    return recorder_put_tables(r, &index, err) && link_infos(t, err);
}

const struct reel_recorder_ops mira_recorder = {
    .state_size = sizeof(struct recorder),
    .settings = true,
    .open = tape_open,
    .channel = tape_channel,
    .message = tape_message,
    .flush = tape_flush,
    .finish = tape_finish,
    .close = tape_close,
};
