/* The channels of a TIDE file as a table, from the index alone; contents of TYPE blocks are in the channel's metadata
 * (formats/tide/model.c). */
#include "formats/tide/report.h"

#include <stdio.h>

#include "base/bytes.h"
#include "formats/tide/rsb_names.h"
#include "reel/time.h"
#include "syntax/json_out.h"

enum { COLUMNS = 14 };
static const char *const columns[COLUMNS] = {"id",       "name",   "scope",         "type",     "wire_schema",
                                             "encoding", "source", "source_config", "messages", "payload_bytes",
                                             "start",    "end",    "rate_hz",       "types"};

static const char *metadata_of(const struct reel_channel *c, const char *key) {
    for (size_t i = 0; i < c->metadata.count; i++) {
        if (strcmp(c->metadata.items[i].key, key) == 0) {
            return c->metadata.items[i].value;
        }
    }
    return NULL;
}

static struct reel_cell text_or_null(const char *text) {
    return text && *text ? reel_cell_text(bytes_text(text)) : (struct reel_cell){.kind = REEL_CELL_NULL};
}

static struct reel_cell number_or_null(const char *text) {
    return text ? reel_cell_integer(strtoll(text, NULL, 10)) : (struct reel_cell){.kind = REEL_CELL_NULL};
}

/* --- types --- */

static void tide_report_channels_put_member(struct grow *out, const char *name, const char *text) {
    grow_put(out, ",", out->data && out->data[out->size - 1] != '{');
    json_put_string(out, bytes_text(name));
    grow_put(out, ":", 1);
    text &&*text ? json_put_string(out, bytes_text(text)) : grow_put(out, "null", 4);
}

/* All values of a repeatable key (one per value), or the words of one value. */
static void tide_put_list(struct grow *out, const struct reel_channel *c, const char *name, const char *key) {
    bool any = false;
    grow_put(out, ",", 1);
    json_put_string(out, bytes_text(name));
    grow_put(out, ":[", 2);
    for (size_t i = 0; i < c->metadata.count; i++) {
        const char *at = c->metadata.items[i].value;
        while (strcmp(c->metadata.items[i].key, key) == 0 && *at) {
            size_t n = strcmp(name, "needs") == 0 ? strcspn(at, " ") : strlen(at);
            grow_put(out, ",", any);
            json_put_string(out, bytes_of(at, n));
            any = true;
            at += n + (at[n] == ' ');
        }
    }
    grow_put(out, "]", 1);
}

static void put_types(struct grow *out, const struct reel_channel *c) {
    char key[64];
    grow_put(out, "[", 1);
    for (uint32_t i = 0; i < c->n_schemas; i++) {
        const struct reel_schema *s = &c->schemas[i];
        grow_put(out, ",", i > 0);
        grow_put(out, "{", 1);
        tide_report_channels_put_member(out, "name", s->name);
        tide_report_channels_put_member(out, "syntax", s->encoding);
        snprintf(key, sizeof key, "tide.schema.%u.version", i);
        tide_report_channels_put_member(out, "version", metadata_of(c, key));
        tide_report_channels_put_member(out, "hash", s->hash);
        snprintf(key, sizeof key, "tide.schema.%u.source", i);
        tide_put_list(out, c, "sources", key);
        snprintf(key, sizeof key, "tide.schema.%u.needs", i);
        tide_put_list(out, c, "needs", key);
        grow_put(out, "}", 1);
    }
    grow_put(out, "]", 1);
}

/* --- rows --- */

static struct reel_cell time_cell(bool any, int64_t ns, enum reel_clock clock, char out[REEL_TIME_TEXT]) {
    if (!any) {
        return (struct reel_cell){.kind = REEL_CELL_NULL};
    }
    size_t n = clock == REEL_CLOCK_RELATIVE ? reel_time_seconds(ns, out) : reel_time_rfc3339(ns, out);
    return reel_cell_text(bytes_of(out, n));
}

static bool tide_put_channel(const struct reel_index *index, const struct reel_channel *c, struct grow *types,
                             const struct reel_table *to) {
    const struct reel_channel_stats *s = reel_index_stats(index, c->id);
    enum reel_clock clock = reel_index_info(index)->clock;
    const char *scope = metadata_of(c, "rsb.scope");
    char first[REEL_TIME_TEXT], last[REEL_TIME_TEXT];
    double seconds = (double)((uint64_t)s->last_ns - (uint64_t)s->first_ns) / 1e9;
    types->size = 0;
    put_types(types, c);
    const struct reel_cell cells[COLUMNS] = {
        number_or_null(metadata_of(c, "tide.id")),
        reel_cell_text(bytes_text(c->name)),
        text_or_null(scope ? scope : c->name),
        text_or_null(c->type),
        text_or_null(metadata_of(c, "rsb.wire_schema")),
        text_or_null(c->encoding),
        text_or_null(metadata_of(c, "tide.source")),
        text_or_null(metadata_of(c, "tide.source_config")),
        reel_cell_integer((int64_t)s->count),
        reel_cell_integer((int64_t)s->bytes),
        time_cell(s->count > 0, s->first_ns, clock, first),
        time_cell(s->count > 0, s->last_ns, clock, last),
        s->count > 1 && seconds > 0 ? reel_cell_real((double)(s->count - 1) / seconds)
                                    : (struct reel_cell){.kind = REEL_CELL_NULL},
        reel_cell_json(bytes_of(types->data, types->size)),
    };
    return !types->failed && to->row(to->context, cells, COLUMNS);
}

bool reel_tide_channels(const struct reel_index *index, const struct reel_table *to, struct reel_error *err) {
    const struct reel_index_info *info = reel_index_info(index);
    if (!reel_format_keeps(info->format, TIDE_CONTRACT)) {
        return reel_fail(err, REEL_UNSUPPORTED, "this is no TIDE file but a %s", info->format->title);
    }
    struct grow types = {0};
    bool good = to->columns(to->context, columns, COLUMNS);
    for (uint32_t i = 0; i < info->n_channels && good; i++) {
        good = tide_put_channel(index, reel_index_channel(index, i), &types, to);
    }
    good = good && to->end(to->context);
    bool failed = types.failed;
    free(types.data);
    return failed ? reel_fail_memory(err) : good || reel_fail(err, REEL_CANCELLED, "stopped by the receiver");
}
