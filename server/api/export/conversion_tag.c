/* See conversion.h. */
#include "api/digests.h"
#include "api/export/conversion.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text_stream.h"
#include "decode/encoding.h"
#include "values/schema_source.h"

/* Everything the bytes depend on, as text. Its hash is the ETag and the plan's key. */
static void print_inputs(FILE *f, const struct inputs *in) {
    for (uint32_t i = 0; i < in->n; i++) {
        const struct reel_index *index = reel_recording_index(in->recordings[i]);
        const struct reel_format *format = reel_index_info(index)->format;
        fprintf(f, "%s %s/%u", in->items[i].row.content, format->name, format->version);
        if (in->items[i].row.annotations.has_clock) {
            fprintf(f, " clock %d", (int)in->items[i].row.clock);
        }
        if (in->merged) {
            const struct reel_source_option *o = &in->sources[i];
            fprintf(f, " %lld %d %s", (long long)o->shift_ns, o->wall, o->prefix);
        }
        if (schema_sources_lack(index)) {
            fprintf(f, " definitions %u", reel_encodings_version());
        }
        fputc('\n', f);
    }
}

bool conversion_tag(struct conversion *c, uint32_t view_version) {
    const struct reel_selection *s = &c->q.selection;
    char *text = NULL;
    size_t size = 0;
    FILE *f = open_memstream(&text, &size);
    if (!f) {
        return false;
    }
    print_inputs(f, c->in);
    fprintf(f, "%s %s/%u/%u %s\n", c->writer->name, c->writer->variant ? c->writer->variant : "", c->writer->version,
            view_version, c->options.compression);
    fprintf(f, "%lld %lld %lld %llu %lld %d %lld %d %d\n", (long long)c->options.start_ns, (long long)s->start_ns,
            (long long)s->end_ns, (unsigned long long)s->every_n, (long long)s->every_ns, s->last_per_topic,
            (long long)s->lookback_ns, s->state_at_cut, s->sources ? (int)s->prefixing : -1);
    if (s->key_frames) {
        fputs("key frames\n", f);
    }
    if (s->latched) {
        fputs("latched\n", f);
    }
    if (c->rules) {
        fprintf(f, "rules %zu:%s\n", strlen(c->rules->text), c->rules->text);
    }
    if (s->encoding) {
        fprintf(f, "~%s\n", s->encoding);
    }
    for (uint32_t i = 0; i < s->n_topics; i++) {
        fprintf(f, "+%zu:%s\n", strlen(s->topics[i]), s->topics[i]);
    }
    for (uint32_t i = 0; i < s->n_exclude; i++) {
        fprintf(f, "-%zu:%s\n", strlen(s->exclude[i]), s->exclude[i]);
    }
    for (uint32_t i = 0; i < s->n_channels; i++) {
        fprintf(f, "#%u\n", s->channels[i]);
    }
    for (uint32_t i = 0; i < s->n_where; i++) {
        fprintf(f, "?%zu:%s %u\n", strlen(s->where[i]), s->where[i], reel_encodings_version());
    }
    for (uint32_t i = 0; i < s->n_renames; i++) {
        fprintf(f, "=%zu:%s\n", strlen(s->renames[i]), s->renames[i]);
    }
    for (uint32_t i = 0; i < c->options.n_values; i++) {
        const struct reel_write_value *v = &c->options.values[i];
        fprintf(f, "%s %llu %zu:%s\n", v->name, (unsigned long long)v->number, strlen(v->text), v->text);
    }
    if (c->writer->needs & REEL_NAMES_FOLDER) {
        fprintf(f, "folder %s\n", c->options.name);
    }
    if (c->split) {
        fprintf(f, "split %lld %llu %s\n", (long long)c->rule.ns, (unsigned long long)c->rule.bytes, c->target);
        if (c->rule.key[0]) {
            fprintf(f, "key %s\n", c->rule.key);
        }
    }
    if (c->writer->needs & REEL_DECODES) {
        fprintf(f, "decoded %d %u\n", c->options.raw, reel_encodings_version());
        for (uint32_t i = 0; c->options.source_ids && i < c->in->n; i++) {
            fprintf(f, "%s\n", c->options.source_ids[i]);
        }
    }
    if (c->writer->needs & REEL_STREAMED) {
        fprintf(f, "text %d %d %d %d %u\n", (int)c->options.time_format, c->options.raw, c->options.separated,
                c->options.channels, reel_encodings_version());
        for (uint32_t i = 0; i < c->options.n_fields; i++) {
            fprintf(f, ".%s\n", c->options.fields[i]);
        }
    }
    bool good = text_stream_close(f, &text);
    if (good) {
        api_etag(text, c->etag);
    }
    free(text);
    return good;
}
