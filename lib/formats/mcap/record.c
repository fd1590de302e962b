/* Records MCAP: schemas and channels are written when they are added, messages are gathered to a chunk, which is
 * written with its message indexes at once. See record.h. */
#include "formats/mcap/record.h"
#include "base/bytes.h"
#include "base/cleanup.h"
#include "chunks/codec.h"

#include <libdeflate.h>

enum { CHUNK_ROOM = MCAP_CHUNK_HEAD + 8 }; /* with the name of a compression */

static bool mcap_put_head(struct mcap_recorder *m, struct reel_error *err) {
    uint8_t buffer[128];
    struct reel_sink out = {.hi = sizeof buffer, .buffer = buffer};
    struct reel_bytes library = bytes_text("reel " REEL_VERSION);
    reel_sink_put(&out, MCAP_MAGIC, MCAP_MAGIC_SIZE);
    mcap_put_record(&out, MCAP_HEADER, 4 + 4 + library.size);
    reel_sink_string32(&out, bytes_of("", 0));
    reel_sink_string32(&out, library);
    return recorder_put(&m->base, buffer, (size_t)out.pos, err);
}

static bool recorder_open(struct reel_recorder *r, struct reel_error *err) {
    struct mcap_recorder *m = (struct mcap_recorder *)r;
    m->chunk_bytes = r->options.chunk_bytes ? (size_t)r->options.chunk_bytes : MCAP_CHUNK_BYTES;
    m->schema_records.max = REEL_MODEL_MAX;
    return mcap_codec_named(r->options.compression, &m->codec, err) && mcap_positions_open(&m->positions, 0, err) &&
           (r->options.resume ? mcap_recorder_resume(m, err) && mcap_positions_widen(&m->positions, r->n_channels, err)
                              : mcap_put_head(m, err));
}

static void recorder_close(struct reel_recorder *r) {
    struct mcap_recorder *m = (struct mcap_recorder *)r;
    mcap_positions_close(&m->positions);
    free(m->records.data);
    free(m->packed.data);
    hash_table_free(&m->schemas);
    arena_free(&m->schema_records);
}

/* ---- channels */

bool mcap_recorder_note_schema(struct mcap_recorder *m, struct reel_bytes content, struct reel_error *err) {
    uint8_t *copy = arena_alloc(&m->schema_records, content.size);
    if (!copy) {
        return reel_fail(err, REEL_LIMIT, "the schemas of this recording are more than %d bytes", REEL_MODEL_MAX);
    }
    memcpy(copy, content.data, content.size);
    struct hash_key key = hash_key_bytes(bytes_of(copy + 2, content.size - 2));
    return hash_table_get(&m->schemas, key) || hash_table_set(&m->schemas, key, load_u16le(copy), err);
}

/* Renders the records of one channel, which counts on from those that exist. */
static bool render_channel(const struct mcap_recorder *m, const struct reel_channel *channel, struct grow *schemas,
                           struct grow *channels, uint32_t *n_schemas, struct reel_error *err) {
    const struct reel_stream one = {.channels = &channel, .n_channels = 1};
    AUTO(mcap_model_free)
    struct mcap_model *model =
        mcap_model_new(&one, (struct mcap_first){.schema = m->n_schemas, .channel = m->base.n_channels}, err);
    if (!model) {
        return false;
    }
    struct reel_sink count = {0};
    mcap_put_schemas(model, &count);
    uint64_t schemas_size = count.pos;
    mcap_put_channels(model, &count);
    uint8_t *s = grow_take(schemas, (size_t)schemas_size), *c = grow_take(channels, (size_t)(count.pos - schemas_size));
    if (!s || !c) {
        return reel_fail_memory(err);
    }
    mcap_put_schemas(model, &(struct reel_sink){.hi = schemas->size, .buffer = s});
    mcap_put_channels(model, &(struct reel_sink){.hi = channels->size, .buffer = c});
    *n_schemas = mcap_model_schemas(model);
    return true;
}

/* The id of an equal schema that the file has; 0: none. */
static uint16_t known_schema(const struct mcap_recorder *m, const struct grow *schemas) {
    struct reel_bytes rest = bytes_of(schemas->data + MCAP_RECORD_HEAD + 2, schemas->size - MCAP_RECORD_HEAD - 2);
    return (uint16_t)hash_table_get(&m->schemas, hash_key_bytes(rest));
}

static bool recorder_channel(struct reel_recorder *r, const struct reel_channel *channel, struct reel_error *err) {
    struct mcap_recorder *m = (struct mcap_recorder *)r;
    struct grow schemas = {0}, channels = {0};
    uint32_t n_schemas = 0;
    bool good = mcap_positions_widen(&m->positions, r->n_channels + 1, err) &&
                render_channel(m, channel, &schemas, &channels, &n_schemas, err);
    uint16_t known = good && n_schemas == 1 ? known_schema(m, &schemas) : 0;
    if (good && known) {
        enum { SCHEMA_AT = MCAP_RECORD_HEAD + 2 };
        store_u16le(channels.data + SCHEMA_AT, known);
    } else if (good) {
        for (size_t at = 0; at < schemas.size && good;) {
            size_t size = (size_t)load_u64le(schemas.data + at + 1);
            good = mcap_recorder_note_schema(m, bytes_of(schemas.data + at + MCAP_RECORD_HEAD, size), err);
            at += MCAP_RECORD_HEAD + size;
        }
        m->n_schemas += good ? n_schemas : 0;
        good = good && recorder_put(r, schemas.data, schemas.size, err);
    }
    good = good && recorder_put(r, channels.data, channels.size, err);
    free(schemas.data);
    free(channels.data);
    return good;
}

/* ---- messages */

static bool begin_chunk(struct mcap_recorder *m, struct reel_error *err) {
    if (m->records.capacity > 4 * (m->chunk_bytes + CHUNK_ROOM)) { /* after a huge message */
        free(m->records.data);
        m->records = (struct grow){0};
    }
    mcap_positions_forget(&m->positions);
    m->records.size = 0;
    return grow_take(&m->records, CHUNK_ROOM) || reel_fail_memory(err);
}

/* The chunk's records, compressed if that makes them smaller; both have room for the head in front. */
static struct grow *pack_records(struct mcap_recorder *m, const char **compression, struct reel_error *err) {
    *compression = "";
    if (m->codec == REEL_CODEC_NONE) {
        return &m->records;
    }
    m->packed.size = 0;
    if (!grow_take(&m->packed, CHUNK_ROOM)) {
        reel_fail_memory(err);
        return NULL;
    }
    if (!codec_encode(m->codec, m->records.data + CHUNK_ROOM, m->records.size - CHUNK_ROOM, &m->packed, err)) {
        return NULL;
    }
    if (m->packed.size >= m->records.size) {
        return &m->records;
    }
    *compression = codec_name(m->codec);
    return &m->packed;
}

static bool mcap_put_chunk(struct mcap_recorder *m, struct reel_error *err) {
    const char *compression;
    uint8_t head[CHUNK_ROOM];
    struct reel_sink out = {.hi = sizeof head, .buffer = head};
    uint64_t raw = m->records.size - CHUNK_ROOM, indexes = mcap_positions_size(&m->positions);
    struct grow *g = pack_records(m, &compression, err);
    if (!g) {
        return false;
    }
    uint64_t stored = g->size - CHUNK_ROOM;
    mcap_put_record(&out, MCAP_CHUNK, MCAP_CHUNK_HEAD - MCAP_RECORD_HEAD + strlen(compression) + stored);
    reel_sink_u64le(&out, m->positions.start_ns);
    reel_sink_u64le(&out, m->positions.end_ns);
    reel_sink_u64le(&out, raw);
    reel_sink_u32le(&out, libdeflate_crc32(0, m->records.data + CHUNK_ROOM, (size_t)raw));
    reel_sink_string32(&out, bytes_text(compression));
    reel_sink_u64le(&out, stored);
    uint8_t *index = grow_take(g, (size_t)indexes);
    if (!index) {
        return reel_fail_memory(err);
    }
    mcap_positions_put(&m->positions, &(struct reel_sink){.hi = indexes, .buffer = index});
    uint8_t *from = g->data + CHUNK_ROOM - out.pos;
    memcpy(from, head, (size_t)out.pos);
    return recorder_put(&m->base, from, (size_t)(out.pos + stored + indexes), err);
}

static bool recorder_flush(struct reel_recorder *r, struct reel_error *err) {
    struct mcap_recorder *m = (struct mcap_recorder *)r;
    bool good = m->positions.count == 0 || mcap_put_chunk(m, err);
    return begin_chunk(m, good ? err : NULL) && good;
}

static bool recorder_message(struct reel_recorder *r, const struct reel_record *record, struct reel_error *err) {
    struct mcap_recorder *m = (struct mcap_recorder *)r;
    size_t size = MCAP_MESSAGE_HEAD + record->payload.size;
    bool full = m->positions.count == MCAP_CHUNK_MESSAGES ||
                (m->positions.count > 0 && m->records.size + size > m->chunk_bytes);
    if ((full || m->records.size == 0) && !recorder_flush(r, err)) {
        return false;
    }
    uint8_t *p = grow_take(&m->records, size);
    if (!p) {
        m->records.failed = false;
        return reel_fail_memory(err);
    }
    mcap_positions_add(&m->positions, record->channel, (uint64_t)record->log_time_ns,
                       m->records.size - size - CHUNK_ROOM);
    p[0] = MCAP_MESSAGE;
    store_u64le(p + 1, size - MCAP_RECORD_HEAD);
    store_u16le(p + MCAP_MESSAGE_CHANNEL_AT, mcap_id(record->channel));
    store_u32le(p + MCAP_MESSAGE_SEQUENCE_AT, record->sequence);
    store_u64le(p + MCAP_MESSAGE_TIME_AT, (uint64_t)record->log_time_ns);
    store_u64le(p + MCAP_MESSAGE_PUBLISH_AT,
                (uint64_t)(record->publish_time_ns ? record->publish_time_ns : record->log_time_ns));
    if (record->payload.size > 0) {
        memcpy(p + MCAP_MESSAGE_HEAD, record->payload.data, record->payload.size);
    }
    return true;
}

const struct reel_recorder_ops mcap_recorder = {
    .state_size = sizeof(struct mcap_recorder),
    .open = recorder_open,
    .resumes = true,
    .channel = recorder_channel,
    .message = recorder_message,
    .flush = recorder_flush,
    .finish = mcap_recorder_finish,
    .close = recorder_close,
};
