/* Reports what a TIDE log cannot hold as it is, before one is written. */
#include "base/cleanup.h"
#include "base/order.h"
#include "formats/tide/write.h"

/* True when reading the channel's TIDE fields would restore the channel. */
static bool is_native(const struct reel_channel *c, bool is_new) {
    struct arena arena = {.max = REEL_MODEL_MAX};
    struct tide_fields fields;
    struct tide_types types;
    struct reel_channel back;
    bool relative, native = tide_channel_fields(&arena, is_new, c, &fields, &types) &&
                            tide_channel_model(&arena, is_new, &fields, &types, &back, &relative) &&
                            tide_channel_same(c, &back);
    arena_free(&arena);
    return native;
}

static bool tide_accepts(const struct reel_channel *c, bool is_new, struct reel_loss *loss) {
    uint64_t definitions = 0, texts = strlen(c->name) + strlen(c->type);
    for (uint32_t i = 0; i < c->n_schemas; i++) {
        definitions += c->schemas[i].data.size;
    }
    for (size_t i = 0; i < c->metadata.count; i++) {
        texts += strlen(c->metadata.items[i].key) + strlen(c->metadata.items[i].value);
    }
    if (definitions > REEL_SCHEMA_MAX || texts > REEL_SCHEMA_MAX / 2) { /* escaping can make a text six times as long */
        reel_loss_add(loss, REEL_REFUSES, c,
                      "its definitions and metadata of %llu bytes are too large for a CHAN block",
                      (unsigned long long)(definitions + texts));
        return false;
    }
    if (is_native(c, is_new)) {
        return true;
    }
    reel_loss_add(loss, REEL_CHANGES, c,
                  is_new
                      ? "type, encoding and metadata of this channel are stored as JSON in its source config"
                      : "encoding, schema names and metadata of this channel are stored as JSON in its source config");
    if (is_new && c->n_schemas > 0) {
        reel_loss_add(loss, REEL_CHANGES, c,
                      "its types are identified by a SHA-1 of their content, not by the hash that TIDE's RD 8 defines");
    }
    if (strlen(c->name) > TIDE_NAME_MAX) {
        reel_loss_add(loss, REEL_CHANGES, c,
                      "its name is longer than %d bytes: TIDE's name field holds only the beginning", TIDE_NAME_MAX);
    }
    return true;
}

bool tide_accepts_old(const struct reel_channel *c, struct reel_loss *loss) {
    return tide_accepts(c, false, loss);
}
bool tide_accepts_new(const struct reel_channel *c, struct reel_loss *loss) {
    return tide_accepts(c, true, loss);
}

static void report_shared_names(const struct reel_stream *stream, struct reel_loss *loss) {
    AUTO_MEM const char **names = malloc(((size_t)stream->n_channels + 1) * sizeof(const char *));
    uint32_t shared = 0;
    for (uint32_t i = 0; names && i < stream->n_channels; i++) {
        names[i] = stream->channels[i]->name;
    }
    if (names) {
        qsort(names, stream->n_channels, sizeof(const char *), order_texts);
    }
    for (uint32_t i = 1; names && i < stream->n_channels; i++) {
        shared += strcmp(names[i - 1], names[i]) == 0;
    }
    if (shared > 0) {
        reel_loss_add(
            loss, REEL_CHANGES, NULL,
            "%u channels have the name of another channel: a number is appended, because names must be unique", shared);
    }
}

/* The metadata of an MCAP file is in named records; a log has a single list of values. */
static void report_records(const struct reel_index *index, struct reel_loss *loss) {
    const struct reel_pairs *pairs = reel_index_metadata(index);
    size_t named = 0;
    for (size_t i = 0; i < pairs->count; i++) {
        const char *colon = strchr(pairs->items[i].key, ':');
        named += colon && colon > pairs->items[i].key;
    }
    if (named > 0 && reel_index_info(index)->format->metadata_records) {
        reel_loss_add(loss, REEL_CHANGES, NULL, "%zu values of metadata records are renamed to RECORD:key, in one list",
                      named);
    }
}

static bool tide_accepts_all(const struct reel_stream *stream, bool is_new, struct reel_loss *loss) {
    bool relative = false;
    for (uint32_t i = 0; i < stream->n_sources; i++) {
        const struct reel_index *index = reel_recording_index(reel_reader_recording(stream->readers[i]));
        size_t attachments = 0, pairs = reel_index_metadata(index)->count;
        const struct reel_attachment *all = reel_index_attachments(index, &attachments);
        for (size_t n = attachments, k = 0; k < n && is_new; k++) {
            attachments -= tide_is_kept_type(&all[k]);
        }
        if (attachments > 0) {
            reel_loss_add(loss, REEL_LOSES, NULL, "%zu attachments", attachments);
        }
        if (pairs > 0 && !is_new) {
            reel_loss_add(loss, REEL_LOSES, NULL, "%zu metadata values of the recording (TIDE 2.0 can store them)",
                          pairs);
        }
        if (is_new) {
            report_records(index, loss);
        }
        if (reel_index_info(index)->format->describe) {
            reel_loss_add(loss, REEL_LOSES, NULL, "sequence numbers and publish times");
        }
        relative |= stream->clocks[i] == REEL_CLOCK_RELATIVE;
    }
    if (relative) {
        reel_loss_add(
            loss, REEL_CHANGES, NULL,
            "times are relative to the start of the recording: other TIDE readers show them as dates in 1970");
    }
    if (stream->n_sources > 1) {
        reel_loss_add(loss, REEL_CHANGES, NULL, "%u recordings become one", stream->n_sources);
    }
    report_shared_names(stream, loss);
    return true;
}

bool tide_accepts_all_old(const struct reel_stream *stream, struct reel_loss *loss) {
    return tide_accepts_all(stream, false, loss);
}
bool tide_accepts_all_new(const struct reel_stream *stream, struct reel_loss *loss) {
    return tide_accepts_all(stream, true, loss);
}
