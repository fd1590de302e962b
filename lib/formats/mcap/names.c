/* Schemas and channels by id. A definition in the data section applies from its position on; one in the summary only
 * applies to ids that the data section does not define. An id that is redefined begins another channel, so that no
 * message changes its topic. */
#include "base/bytes.h"
#include "base/cleanup.h"
#include "formats/mcap/read.h"

#include <stdio.h>
#include <stdlib.h>

bool mcap_no_room(const struct mcap *m, struct reel_error *err) {
    if (m->arena.no_memory) {
        return reel_fail_memory(err);
    }
    return reel_fail(err, REEL_LIMIT, "names and definitions of one recording exceed %d bytes", REEL_MODEL_MAX);
}

static struct reel_bytes mcap_keep(struct mcap *m, struct reel_bytes b) {
    return bytes_of(arena_copy(&m->arena, b.data, b.size), b.size);
}

/* ---- records ---- */

/* The bytes of the record's fields, without unknown bytes after them. */
static struct reel_bytes consumed(struct reel_bytes content, const struct cursor *c) {
    return bytes_of(content.data, (size_t)(c->at - content.data));
}

static bool mcap_read_schema(struct reel_bytes content, struct mcap_schema_def *out, struct reel_error *err) {
    struct cursor c = cursor_of(content);
    *out = (struct mcap_schema_def){.id = cursor_u16le(&c)};
    out->name = cursor_string32(&c);
    out->encoding = cursor_string32(&c);
    out->data = cursor_string32(&c);
    out->content = consumed(content, &c);
    if (c.failed || out->name.size > REEL_TEXT_MAX || out->encoding.size > REEL_TEXT_MAX ||
        out->data.size > REEL_SCHEMA_MAX) {
        return reel_fail(err, REEL_DAMAGED, "a schema whose fields do not fit");
    }
    return out->id != 0 || reel_fail(err, REEL_DAMAGED, "a schema with id 0, which stands for none");
}

static bool mcap_read_channel(struct reel_bytes content, struct mcap_channel_def *out, struct reel_error *err) {
    struct cursor c = cursor_of(content);
    *out = (struct mcap_channel_def){.model = MCAP_NO_MODEL};
    out->id = cursor_u16le(&c);
    out->schema_id = cursor_u16le(&c);
    out->topic = cursor_string32(&c);
    out->encoding = cursor_string32(&c);
    out->metadata = cursor_string32(&c);
    out->content = consumed(content, &c);
    if (c.failed || out->topic.size > REEL_TEXT_MAX || out->encoding.size > REEL_TEXT_MAX) {
        return reel_fail(err, REEL_DAMAGED, "a channel whose fields do not fit");
    }
    return true;
}

/* The same field in the kept copy of the record's bytes. */
static struct reel_bytes moved(struct reel_bytes field, struct reel_bytes from, struct reel_bytes to) {
    return field.size == 0 ? bytes_of("", 0) : bytes_of(to.data + (field.data - from.data), field.size);
}

static struct mcap_schema_def *keep_schema(struct mcap *m, const struct mcap_schema_def *def, struct reel_error *err) {
    struct mcap_schema_def *kept = arena_copy(&m->arena, def, sizeof *def);
    struct reel_bytes content = mcap_keep(m, def->content);
    if (!kept || !content.data) {
        mcap_no_room(m, err);
        return NULL;
    }
    kept->name = moved(def->name, def->content, content);
    kept->encoding = moved(def->encoding, def->content, content);
    kept->data = moved(def->data, def->content, content);
    kept->content = content;
    return kept;
}

/* Appends a map's entries, sorted. Writers emit maps from hash tables, so a copy may have its entries in another order.
 */
static bool put_sorted(struct grow *out, struct reel_bytes map, struct reel_error *err) {
    AUTO_MEM struct reel_bytes *entries = NULL;
    size_t n = 0, room = 0;
    for (struct cursor c = cursor_of(map); !cursor_done(&c); n++) {
        if (!GROW_ARRAY(entries, n, room)) {
            return reel_fail_memory(err);
        }
        const uint8_t *from = c.at;
        cursor_string32(&c);
        cursor_string32(&c);
        entries[n] = bytes_of(from, (size_t)(c.at - from));
    }
    if (n > 1) {
        qsort(entries, n, sizeof *entries, bytes_compare_items);
    }
    for (size_t i = 0; i < n; i++) {
        grow_put(out, entries[i].data, entries[i].size);
    }
    return true;
}

/* What equal channels have in common besides their schema, in m->names->scratch. */
static bool mcap_key_of(struct mcap *m, const struct mcap_channel_def *def, struct reel_bytes *out,
                        struct reel_error *err) {
    struct grow *g = &m->names->scratch;
    g->size = 0;
    grow_u32(g, (uint32_t)def->topic.size);
    grow_put(g, def->topic.data, def->topic.size);
    grow_u32(g, (uint32_t)def->encoding.size);
    grow_put(g, def->encoding.data, def->encoding.size);
    if (!put_sorted(g, def->metadata, err)) {
        return false;
    }
    *out = bytes_of(g->data, g->size);
    return !g->failed || reel_fail_memory(err);
}

static struct mcap_channel_def *keep_channel(struct mcap *m, const struct mcap_channel_def *def,
                                             struct reel_error *err) {
    struct mcap_channel_def *kept = arena_copy(&m->arena, def, sizeof *def);
    struct reel_bytes content = mcap_keep(m, def->content), key;
    if (!mcap_key_of(m, def, &key, err)) {
        return NULL;
    }
    key = mcap_keep(m, key);
    if (!kept || !content.data || !key.data) {
        mcap_no_room(m, err);
        return NULL;
    }
    kept->topic = moved(def->topic, def->content, content);
    kept->encoding = moved(def->encoding, def->content, content);
    kept->metadata = moved(def->metadata, def->content, content);
    kept->content = content;
    kept->key = key;
    return kept;
}

static bool mcap_names_same_schema(const struct mcap_schema_def *a, const struct mcap_schema_def *b) {
    return a && bytes_equal(a->content, b->content);
}

/* Sets *same: the definition in force for an id is the one of the record read now. */
static bool compare_channels(struct mcap *m, const struct mcap_channel_def *now, const struct mcap_channel_def *def,
                             bool *same, struct reel_error *err) {
    struct reel_bytes key;
    if (!now || bytes_equal(now->content, def->content)) {
        *same = now != NULL;
        return true;
    }
    if (!mcap_key_of(m, def, &key, err)) {
        return false;
    }
    *same = now->schema_id == def->schema_id && bytes_equal(now->key, key);
    return true;
}

/* ---- into the model ---- */

/* The place for what is defined under an id; NULL: no memory. */
static struct mcap_id *mcap_define_id(struct mcap *m, uint16_t id, struct reel_error *err) {
    struct mcap_id **page = &m->names->pages[id / MCAP_PAGE_IDS];
    if (!*page && !(*page = calloc(MCAP_PAGE_IDS, sizeof **page))) {
        reel_fail_memory(err);
        return NULL;
    }
    return &(*page)[id % MCAP_PAGE_IDS];
}

/* The schema in force, or else that of the summary. */
static const struct mcap_schema_def *schema_of(struct mcap *m, uint16_t id) {
    struct mcap_id *of = mcap_defined(m->names, id);
    if (!of->schema && of->summary_schema) {
        of->schema = of->summary_schema;
        m->names->n_schemas++;
    }
    return of->schema;
}

/* The schema's bytes after its id. */
static struct reel_bytes schema_bytes(const struct mcap_channel_def *def) {
    return def->schema ? bytes_of(def->schema->content.data + 2, def->schema->content.size - 2) : bytes_of(NULL, 0);
}

/* Finds a channel of an earlier part equal to `def`, so that it continues here. Otherwise enters `def` as a new
 * channel. */
static bool mcap_enter(struct mcap *m, struct mcap_channel_def *def, struct reel_error *err) {
    struct mcap_names *n = m->names;
    struct reel_bytes schema = schema_bytes(def);
    struct hash_key key = {.number = hash_bytes(m->seed, schema), .bytes = def->key};
    struct mcap_channel_def *first = (void *)hash_table_get(&n->by_key, key), *last = NULL;
    def->part = m->part;
    for (struct mcap_channel_def *other = first; other; other = other->next_equal) {
        if (other->part != m->part && bytes_equal(schema_bytes(other), schema)) {
            other->part = m->part;
            def->model = other->model;
            return true;
        }
        last = other;
    }
    if (last) {
        last->next_equal = def;
    } else if (!def->unknown && !hash_table_set(&n->by_key, key, (uintptr_t)def, err)) {
        return false;
    }
    struct reel_channel model;
    *n->end = def;
    n->end = &def->next;
    return mcap_channel_model(m, def, &model, err) && reel_scan_channel(m->scan, &model, &def->model, err);
}

static bool update(struct mcap *m, const struct mcap_channel_def *def, struct reel_error *err) {
    struct reel_channel model;
    return mcap_channel_model(m, def, &model, err) && reel_scan_channel_update(m->scan, def->model, &model, err);
}

/* Puts the definition in force. */
static bool adopt(struct mcap *m, struct mcap_channel_def *def, struct reel_error *err) {
    struct mcap_id *of = mcap_define_id(m, def->id, err);
    def->schema = def->schema_id ? schema_of(m, def->schema_id) : NULL;
    if (!of || !mcap_enter(m, def, err)) {
        return false;
    }
    m->names->n_channels += of->channel == NULL;
    of->channel = def;
    of->model = def->model + 1;
    return true;
}

/* ---- definitions ---- */

static bool may_redefine(struct mcap *m, const char *what, uint16_t id, uint64_t at) {
    if (m->names->redefined >= MCAP_REDEFINED_MAX) {
        return false;
    }
    bool last = ++m->names->redefined == MCAP_REDEFINED_MAX;
    reel_scan_finding(m->scan, REEL_WARNING, m->part, at, 0, "%s %u is defined again at %llu, and not as before%s",
                      what, id, (unsigned long long)at, last ? "; such positions are ignored from here on" : "");
    return true;
}

bool mcap_define_schema(struct mcap *m, struct reel_bytes content, uint64_t at, struct reel_error *err) {
    struct mcap_schema_def def;
    struct mcap_id *of = mcap_read_schema(content, &def, err) ? mcap_define_id(m, def.id, err) : NULL;
    if (!of) {
        return false;
    }
    struct mcap_schema_def *now = of->schema, *summary = of->summary_schema;
    if (mcap_names_same_schema(now, &def) || (now && !may_redefine(m, "schema", def.id, at))) {
        return true;
    }
    struct mcap_schema_def *kept = mcap_names_same_schema(summary, &def) ? summary : keep_schema(m, &def, err);
    m->names->n_schemas += kept && !now;
    of->schema = kept ? kept : now;
    return kept != NULL;
}

/* Defines a channel after its first messages: the placeholder channel becomes the defined one. */
static bool define_late(struct mcap *m, struct mcap_channel_def *now, const struct mcap_channel_def *def, uint64_t at,
                        struct reel_error *err) {
    struct mcap_channel_def *kept = keep_channel(m, def, err);
    if (!kept) {
        return false;
    }
    now->content = kept->content;
    now->key = kept->key;
    now->topic = kept->topic;
    now->encoding = kept->encoding;
    now->metadata = kept->metadata;
    now->schema_id = kept->schema_id;
    now->schema = now->schema_id ? schema_of(m, now->schema_id) : NULL;
    now->unknown = false;
    reel_scan_finding(m->scan, REEL_WARNING, m->part, at, 0,
                      "channel %u is defined at %llu, after its first message at %llu", now->id, (unsigned long long)at,
                      (unsigned long long)now->at);
    return update(m, now, err);
}

bool mcap_define_channel(struct mcap *m, struct reel_bytes content, uint64_t at, struct reel_error *err) {
    struct mcap_channel_def def;
    if (!mcap_read_channel(content, &def, err)) {
        return false;
    }
    def.at = at;
    struct mcap_channel_def *now = mcap_defined(m->names, def.id)->channel,
                            *summary = mcap_defined(m->names, def.id)->summary_channel;
    if (now && now->unknown) {
        return define_late(m, now, &def, at, err);
    }
    bool same;
    if (!compare_channels(m, now, &def, &same, err)) {
        return false;
    }
    if (same || (now && !may_redefine(m, "channel", def.id, at))) {
        return true;
    }
    bool copy = !now && summary && bytes_equal(summary->content, def.content);
    struct mcap_channel_def *kept = copy ? summary : keep_channel(m, &def, err);
    return kept && adopt(m, kept, err);
}

static bool note_schema(struct mcap *m, struct reel_bytes content, struct reel_error *err) {
    struct mcap_schema_def def;
    struct mcap_id *of = mcap_read_schema(content, &def, err) ? mcap_define_id(m, def.id, err) : NULL;
    return of && (of->summary_schema || (of->summary_schema = keep_schema(m, &def, err)) != NULL);
}

static bool note_channel(struct mcap *m, struct reel_bytes content, uint64_t at, struct reel_error *err) {
    struct mcap_names *n = m->names;
    struct mcap_channel_def def;
    struct mcap_id *of = mcap_read_channel(content, &def, err) ? mcap_define_id(m, def.id, err) : NULL;
    if (!of || of->summary_channel) {
        return of != NULL;
    }
    def.at = at;
    struct mcap_channel_def *kept = keep_channel(m, &def, err);
    if (kept) {
        of->summary_channel = *n->noted_end = kept;
        n->noted_end = &kept->next_noted;
    }
    return kept != NULL;
}

bool mcap_note_summary(struct mcap *m, uint8_t op, struct reel_bytes content, uint64_t at, struct reel_error *err) {
    return op == MCAP_SCHEMA ? note_schema(m, content, err) : note_channel(m, content, at, err);
}

bool mcap_channel_for(struct mcap *m, uint16_t id, uint64_t at, uint32_t *model, struct reel_error *err) {
    const struct mcap_id *of = mcap_defined(m->names, id);
    if (of->model == 0 && of->summary_channel) {
        if (!adopt(m, of->summary_channel, err)) {
            return false;
        }
    } else if (of->model == 0) {
        char name[24];
        snprintf(name, sizeof name, "(channel %u)", id);
        struct mcap_channel_def *def = arena_alloc(&m->arena, sizeof *def);
        const char *topic = arena_text(&m->arena, name);
        if (!def || !topic) {
            return mcap_no_room(m, err);
        }
        *def = (struct mcap_channel_def){
            .id = id, .unknown = true, .at = at, .topic = bytes_text(topic), .encoding = bytes_of("", 0)};
        if (!adopt(m, def, err)) {
            return false;
        }
    }
    *model = mcap_model_of_id(m->names, id);
    return true;
}

/* ---- parts ---- */

void mcap_names_begin(struct mcap *m) {
    struct mcap_names *n = m->names;
    n->part_begin = n->end;
    n->noted = NULL;
    n->noted_end = &n->noted;
    for (uint32_t i = 0; i < MCAP_IDS / MCAP_PAGE_IDS; i++) {
        if (n->pages[i]) {
            memset(n->pages[i], 0, MCAP_PAGE_IDS * sizeof *n->pages[i]);
        }
    }
    n->redefined = n->n_schemas = n->n_channels = 0;
}

static bool end_channel(struct mcap *m, struct mcap_channel_def *def, struct reel_error *err) {
    if (def->unknown) {
        return reel_scan_finding(
            m->scan, REEL_LOSS, m->part, def->at, 0,
            "channel %u: no record says what it is; its %llu messages are kept without topic and type", def->id,
            (unsigned long long)mcap_defined(m->names, def->id)->messages);
    }
    if (def->schema_id == 0 || def->schema) {
        return true;
    }
    def->schema = schema_of(m, def->schema_id);
    if (def->schema) {
        return update(m, def, err);
    }
    return reel_scan_finding(m->scan, REEL_WARNING, m->part, def->at, 0, "channel %u: its schema %u is missing",
                             def->id, def->schema_id);
}

bool mcap_names_end(struct mcap *m, struct reel_error *err) {
    struct mcap_names *n = m->names;
    for (struct mcap_channel_def *def = n->noted; def; def = def->next_noted) {
        if (!mcap_defined(n, def->id)->channel && !adopt(m, def, err)) {
            return false;
        }
    }
    for (struct mcap_channel_def *def = *n->part_begin; def; def = def->next) {
        if (!end_channel(m, def, err)) {
            return false;
        }
    }
    return true;
}

bool mcap_names_of_summary(struct mcap *m, struct reel_error *err) {
    for (uint32_t id = 0; id < MCAP_IDS; id += m->names->pages[id / MCAP_PAGE_IDS] ? 1 : MCAP_PAGE_IDS) {
        schema_of(m, (uint16_t)id);
    }
    for (const struct mcap_channel_def *def = m->names->noted; def; def = def->next_noted) {
        if (def->schema_id != 0 && !mcap_defined(m->names, def->schema_id)->schema) {
            return reel_fail(err, REEL_DAMAGED, "channel %u: its schema %u is not in the summary", def->id,
                             def->schema_id);
        }
    }
    return mcap_names_end(m, err);
}

void mcap_names_free(struct mcap_names *names) {
    if (names) {
        for (uint32_t i = 0; i < MCAP_IDS / MCAP_PAGE_IDS; i++) {
            free(names->pages[i]);
        }
        hash_table_free(&names->by_key);
        free(names->scratch.data);
        free(names);
    }
}
