/* See db3_tables.h. The tables are those of version 4 of rosbag2's schema (layout.h). */
#include "formats/rosbag2/db3_tables.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash_table.h"
#include "formats/ros/assume.h"
#include "formats/ros/write.h"
#include "formats/rosbag2/pages.h"

/* ---- records: varint size of the head, varint types; then the values */

enum { TYPE_INT32 = 4, TYPE_TEXT = 13 /* and twice the size */, VALUES_MAX = 6 };

struct value {
    enum { TEXT, NUMBER, ID } kind; /* an id is the rowid, and NULL in the record */
    struct reel_bytes text;
    uint32_t number;
};
static struct value rosbag2_db3_tables_text_of(const char *text) {
    return (struct value){.text = bytes_text(text ? text : "")};
}

static void rosbag2_put_record(struct reel_sink *out, const struct value *values, size_t n) {
    uint8_t head[1 + VALUES_MAX * DB3_VARINT_MAX], number[4];
    size_t size = 1;
    for (size_t i = 0; i < n; i++) {
        uint64_t type = values[i].kind == TEXT     ? TYPE_TEXT + 2 * (uint64_t)values[i].text.size
                        : values[i].kind == NUMBER ? TYPE_INT32
                                                   : 0;
        size += db3_varint(head + size, type);
    }
    head[0] = (uint8_t)size;
    reel_sink_put(out, head, size);
    for (size_t i = 0; i < n; i++) {
        db3_u32(number, values[i].number);
        reel_sink_put_bytes(out, values[i].kind == TEXT
                                     ? values[i].text
                                     : bytes_of(number, values[i].kind == NUMBER ? sizeof number : 0));
    }
}

static uint64_t record_size(const struct value *values, size_t n) {
    struct reel_sink count = {0};
    rosbag2_put_record(&count, values, n);
    return count.pos;
}

/* A row into a leaf that has room for it. */
static void rosbag2_add_row(struct db3_leaf *leaf, uint64_t rowid, uint64_t record, const struct value *values,
                            size_t n) {
    size_t size = db3_cell_size(record, rowid);
    uint8_t *cell = db3_leaf_add(leaf, size);
    struct reel_sink out = {.pos = db3_put_cell_head(cell, record, rowid), .hi = size, .buffer = cell};
    rosbag2_put_record(&out, values, n);
}

enum { SCHEMA_VERSION = 4 };

/* ---- page 1 */

static const struct {
    const char *type, *name, *table, *sql;
} schema[DB3_TABLES] = {
    [DB3_SCHEMA] = {"table", "schema", "schema",
                    "CREATE TABLE schema(schema_version INTEGER PRIMARY KEY,ros_distro TEXT NOT NULL)"},
    [DB3_METADATA] =
        {"table", "metadata", "metadata",
         "CREATE TABLE metadata(id INTEGER PRIMARY KEY,metadata_version INTEGER NOT NULL,metadata TEXT NOT NULL)"},
    [DB3_TOPICS] = {"table", "topics", "topics",
                    "CREATE TABLE topics(id INTEGER PRIMARY KEY,name TEXT NOT NULL,type TEXT NOT "
                    "NULL,serialization_format TEXT NOT NULL,"
                    "offered_qos_profiles TEXT NOT NULL,type_description_hash TEXT NOT NULL)"},
    [DB3_MESSAGES] = {"table", "messages", "messages",
                      "CREATE TABLE messages(id INTEGER PRIMARY KEY,topic_id INTEGER NOT NULL,timestamp INTEGER NOT "
                      "NULL,data BLOB NOT NULL)"},
    [DB3_DEFINITIONS] =
        {"table", "message_definitions", "message_definitions",
         "CREATE TABLE message_definitions(id INTEGER PRIMARY KEY,topic_type TEXT NOT NULL,encoding TEXT NOT NULL,"
         "encoded_message_definition TEXT NOT NULL,type_description_hash TEXT NOT NULL)"},
    [DB3_TIMES] = {"index", "timestamp_idx", "messages", "CREATE INDEX timestamp_idx ON messages(timestamp ASC)"},
};

static void rosbag2_put_header(uint64_t pages, struct reel_sink *out) {
    enum { WRITER = 3040001, FORMAT = 4, UTF8 = 1 };
    uint8_t h[DB3_HEADER] = SQLITE_MAGIC;
    db3_u16(h + SQLITE_PAGE_SIZE_AT, DB3_PAGE);
    h[SQLITE_READ_VERSION_AT - 1] = h[SQLITE_READ_VERSION_AT] = 1;
    h[21] = 64; /* fixed fractions */
    h[22] = h[23] = 32;
    db3_u32(h + SQLITE_CHANGES_AT, 1);
    db3_u32(h + SQLITE_PAGES_AT, pages);
    db3_u32(h + 40, 1); /* changes of the schema */
    db3_u32(h + 44, FORMAT);
    db3_u32(h + 56, UTF8);
    db3_u32(h + SQLITE_PAGES_GOOD_AT, 1);
    db3_u32(h + 96, WRITER);
    reel_sink_put(out, h, sizeof h);
}

void db3_put_first_page(const struct db3_roots *roots, struct reel_sink *out) {
    struct db3_leaf leaf;
    uint64_t rowid = 0;
    db3_leaf_clear(&leaf);
    leaf.room = DB3_PAGE - DB3_HEADER;
    for (size_t i = 0; i < DB3_TABLES; i++) {
        const struct value row[] = {rosbag2_db3_tables_text_of(schema[i].type),
                                    rosbag2_db3_tables_text_of(schema[i].name),
                                    rosbag2_db3_tables_text_of(schema[i].table),
                                    {.kind = NUMBER, .number = (uint32_t)db3_number(roots->of[i])},
                                    rosbag2_db3_tables_text_of(schema[i].sql)};
        if (roots->of[i] > 0) {
            rosbag2_add_row(&leaf, ++rowid, record_size(row, 5), row, 5);
        }
    }
    rosbag2_put_header(db3_number(roots->pages), out);
    db3_leaf_put(&leaf, ROSBAG2_PAGE_LEAF, out);
}

/* ---- the small tables, one after the other */

struct leaf_place {
    uint64_t page, last; /* its number, and the last rowid in it */
};
struct tables {
    const struct reel_stream *stream;
    struct reel_sink *out;
    uint64_t page; /* number of the next one */
    /* the table: */
    struct db3_leaf leaf;
    struct leaf_place *places;
    size_t n_places, cap_places;
    uint64_t rows;
    struct grow record; /* one that overflows */
};

static bool leaf_ends(struct tables *t, uint64_t pages, struct reel_error *err) {
    if (!GROW_ARRAY(t->places, t->n_places, t->cap_places)) {
        return reel_fail_memory(err);
    }
    t->places[t->n_places++] = (struct leaf_place){.page = t->page, .last = t->rows};
    t->page += pages;
    return true;
}

static bool rosbag2_db3_tables_put_leaf(struct tables *t, struct reel_error *err) {
    db3_put_unused(t->page, t->out);
    db3_leaf_put(&t->leaf, ROSBAG2_PAGE_LEAF, t->out);
    db3_leaf_clear(&t->leaf);
    return leaf_ends(t, 1, err);
}

static bool put_spilled(struct tables *t, uint64_t size, const struct value *values, size_t n, struct reel_error *err) {
    t->record.size = 0;
    uint8_t *record = grow_take(&t->record, size);
    if (!record) {
        return reel_fail_memory(err);
    }
    struct reel_sink whole = {.hi = size, .buffer = record};
    rosbag2_put_record(&whole, values, n);
    struct db3_spill spill = db3_spill(size, t->page);
    db3_put_unused(t->page, t->out);
    db3_spill_begin(&spill, t->rows, t->out);
    for (uint64_t run; (run = db3_spill_next(&spill, t->out)) > 0; record += run) {
        reel_sink_put(t->out, record, run);
    }
    return leaf_ends(t, 1 + spill.pages, err);
}

static bool rosbag2_put_row(struct tables *t, const struct value *values, size_t n, struct reel_error *err) {
    uint64_t record = record_size(values, n);
    bool spills = record > DB3_LOCAL_MAX;
    if (t->leaf.cells > 0 && (spills || !db3_leaf_fits(&t->leaf, db3_cell_size(record, t->rows + 1))) &&
        !rosbag2_db3_tables_put_leaf(t, err)) {
        return false;
    }
    t->rows++;
    if (spills) {
        return put_spilled(t, record, values, n, err);
    }
    rosbag2_add_row(&t->leaf, t->rows, record, values, n);
    return true;
}

static uint64_t page_of(void *context, uint64_t leaf) {
    return ((const struct tables *)context)->places[leaf].page;
}
static size_t rosbag2_key_of(void *context, uint64_t leaf, uint8_t *out) {
    return db3_varint(out, ((const struct tables *)context)->places[leaf].last);
}

/* Ends the table: its last leaf, and the pages above the leaves. */
static bool end_table(struct tables *t, uint64_t *root, struct reel_error *err) {
    if ((t->leaf.cells > 0 || t->n_places == 0) && !rosbag2_db3_tables_put_leaf(t, err)) {
        return false;
    }
    const struct db3_tree tree = {.leaves = t->n_places,
                                  .children = DB3_TABLE_CHILDREN,
                                  .type = ROSBAG2_PAGE_INNER,
                                  .first = t->page,
                                  .first_leaf = t->places[0].page,
                                  .page = page_of,
                                  .key = rosbag2_key_of,
                                  .context = t};
    uint64_t inner = db3_inner_pages(&tree);
    *root = db3_root(&tree);
    for (uint64_t i = 0; i < inner; i++) {
        db3_put_inner(&tree, i, t->out);
    }
    t->page += inner;
    t->n_places = 0;
    t->rows = 0;
    return true;
}

static bool rosbag2_db3_tables_put_topics(struct tables *t, struct reel_error *err) {
    for (uint32_t i = 0; i < t->stream->n_channels; i++) {
        const struct reel_channel *c = t->stream->channels[i];
        const struct value row[] = {{.kind = ID},
                                    rosbag2_db3_tables_text_of(c->name),
                                    rosbag2_db3_tables_text_of(c->type),
                                    rosbag2_db3_tables_text_of(c->encoding),
                                    rosbag2_db3_tables_text_of(ros_metadata_of(c, "offered_qos_profiles")),
                                    rosbag2_db3_tables_text_of(ros_metadata_of(c, "topic_type_hash"))};
        if (!rosbag2_put_row(t, row, 6, err)) {
            return false;
        }
    }
    return true;
}

/* The definition of each type once. */
static bool put_definitions(struct tables *t, struct arena *arena, struct hash_table *seen, struct reel_error *err) {
    for (uint32_t i = 0; i < t->stream->n_channels; i++) {
        const struct reel_channel *c = t->stream->channels[i];
        const struct reel_schema *own = reel_channel_schema(c);
        const struct hash_key key = hash_key_bytes(bytes_text(c->type));
        struct reel_bytes assumed;
        if (!own || hash_table_get(seen, key)) {
            continue;
        }
        if (!ros_assumed_text(arena, c, &assumed, err)) {
            return false;
        }
        if (own->data.size == 0 && assumed.size == 0) {
            continue;
        }
        const struct value row[] = {{.kind = ID},
                                    rosbag2_db3_tables_text_of(c->type),
                                    rosbag2_db3_tables_text_of(assumed.size > 0 ? "ros2msg" : own->encoding),
                                    {.text = assumed.size > 0 ? assumed : own->data},
                                    rosbag2_db3_tables_text_of(ros_metadata_of(c, "topic_type_hash"))};
        if (!hash_table_set(seen, key, 1, err) || !rosbag2_put_row(t, row, 5, err)) {
            return false;
        }
    }
    return true;
}

bool db3_put_tables(const struct reel_stream *stream, uint64_t first, struct db3_roots *roots, struct reel_sink *out,
                    struct reel_error *err) {
    struct tables t = {.stream = stream, .out = out, .page = first};
    struct hash_table seen = {0};
    struct arena arena = {0};
    const struct value version[] = {{.kind = ID}, rosbag2_db3_tables_text_of("unknown")};
    db3_leaf_clear(&t.leaf);
    t.rows = SCHEMA_VERSION - 1; /* the row's id is the version */
    bool good = rosbag2_put_row(&t, version, 2, err) && end_table(&t, &roots->of[DB3_SCHEMA], err) &&
                end_table(&t, &roots->of[DB3_METADATA], err) && rosbag2_db3_tables_put_topics(&t, err) &&
                end_table(&t, &roots->of[DB3_TOPICS], err) && put_definitions(&t, &arena, &seen, err) &&
                end_table(&t, &roots->of[DB3_DEFINITIONS], err);
    roots->pages = t.page - 1;
    hash_table_free(&seen);
    arena_free(&arena);
    free(t.places);
    free(t.record.data);
    return good;
}
