/* Reads the small tables of a database: version, topics with their definitions, metadata. Each table is read once.
 * Equal topics of several databases become one channel. */
#include <search.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/bytes.h"
#include "base/cleanup.h"
#include "base/grow.h"
#include "formats/ros/text.h"
#include "formats/rosbag2/container.h"

enum { PLACEHOLDERS_MAX = 1000 }; /* most channels for topic ids that the table lacks */

struct definition { /* a row of message_definitions */
    const char *type, *encoding;
    int64_t rowid;
};
struct definitions {
    struct definition *items;
    size_t count, capacity;
};
static void definitions_free(struct definitions *d) {
    free(d->items);
}

void rosbag2_finding(const struct rosbag2_base *b, enum reel_severity severity, const char *text, ...) {
    char line[512];
    va_list arguments;
    va_start(arguments, text);
    vsnprintf(line, sizeof line, text, arguments);
    va_end(arguments);
    const struct reel_location *p = &b->file->location;
    bool one = b->s->files.count == 1;
    reel_scan_finding(b->s->scan, severity, p->part, p->offset, 0, "%s%s%s", one ? "" : b->file->name, one ? "" : ": ",
                      line);
}

/* A text of the current row as UTF-8, in the scan's arena. NULL with err. */
static const char *rosbag2_topics_text_of(struct rosbag2_base *b, sqlite3_stmt *statement, int column,
                                          struct reel_error *err) {
    struct reel_bytes raw;
    if (!rosbag2_column(&b->db, statement, column, &raw, err)) {
        return NULL;
    }
    if (raw.size > REEL_TEXT_MAX) {
        reel_fail(err, REEL_LIMIT, "a text of %zu bytes, at most %d are taken", raw.size, REEL_TEXT_MAX);
        return NULL;
    }
    const char *text = arena_utf8(&b->s->arena, raw);
    if (!text) {
        arena_fail(&b->s->arena, err);
    }
    return text;
}

/* Steps a statement over a small table; damage ends the loop with a finding. */
static bool rosbag2_step(struct rosbag2_base *b, sqlite3_stmt *statement, const char *table, bool *row,
                         struct reel_error *err) {
    int rc = sqlite3_step(statement);
    *row = rc == SQLITE_ROW;
    if (rc == SQLITE_ROW || rc == SQLITE_DONE) {
        return true;
    }
    if (!rosbag2_is_damage(rc) || b->db.view.failure.code != REEL_OK) {
        return rosbag2_fail(&b->db, rc, table, err);
    }
    rosbag2_finding(b, REEL_LOSS, "table %s cannot be read to its end: %s", table, sqlite3_errmsg(b->db.sqlite));
    return true;
}

/* --- definitions --- */

static int compare_definitions(const void *a, const void *b) {
    const struct definition *x = a, *y = b;
    int order = strcmp(x->type, y->type);
    return order ? order : (x->rowid > y->rowid) - (x->rowid < y->rowid);
}

static bool list_definitions(struct rosbag2_base *b, struct definitions *out, struct reel_error *err) {
    bool there;
    if (!rosbag2_has_table(&b->db, "message_definitions", &there, err)) {
        return false;
    }
    if (!there) {
        return true;
    }
    AUTO(statement)
    sqlite3_stmt *rows = rosbag2_prepare(&b->db, "SELECT rowid, topic_type, encoding FROM message_definitions", err);
    for (bool row = true; rows && row;) {
        if (!rosbag2_step(b, rows, "message_definitions", &row, err)) {
            return false;
        }
        if (!row) {
            break;
        }
        if (out->count >= REEL_CHANNELS_MAX) {
            return reel_fail(err, REEL_LIMIT, "more than %d message definitions", REEL_CHANNELS_MAX);
        }
        struct definition d = {.rowid = sqlite3_column_int64(rows, 0)};
        if (!(d.type = rosbag2_topics_text_of(b, rows, 1, err)) ||
            !(d.encoding = rosbag2_topics_text_of(b, rows, 2, err))) {
            return false;
        }
        if (!GROW_ARRAY(out->items, out->count, out->capacity)) {
            return reel_fail_memory(err);
        }
        out->items[out->count++] = d;
    }
    if (out->count > 0) {
        qsort(out->items, out->count, sizeof *out->items, compare_definitions);
    }
    return rows != NULL;
}

static const struct definition *find_type(const struct definitions *all, const char *type) {
    size_t low = 0, high = all->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (strcmp(all->items[middle].type, type) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < all->count && strcmp(all->items[low].type, type) == 0 ? &all->items[low] : NULL;
}

/* Finds the definition of a type. rosbag2 stores service events PKG/srv/NAME_Event under the definition of the service
 * PKG/srv/NAME, in databases as in MCAP files. */
static const struct definition *find_definition(const struct definitions *all, const char *type) {
    const struct definition *found = find_type(all, type);
    char interface[ROS_NAME_ROOM];
    return !found && ros_interface_name(type, interface) ? find_type(all, interface) : found;
}

/* The text of a definition, valid until `one` is stepped; empty when it cannot be read. */
static bool definition_text(struct rosbag2_base *b, sqlite3_stmt *one, const struct definition *d,
                            struct reel_bytes *out, struct reel_error *err) {
    bool row;
    *out = bytes_of("", 0);
    sqlite3_reset(one);
    sqlite3_bind_int64(one, 1, d->rowid);
    return rosbag2_step(b, one, "message_definitions", &row, err) && (!row || rosbag2_column(&b->db, one, 0, out, err));
}

/* --- channels --- */

static int compare_channels(const void *a, const void *b) {
    const struct rosbag2_channel *x = a, *y = b;
    int order = strcmp(x->name, y->name);
    order = order ? order : strcmp(x->type, y->type);
    return order ? order : strcmp(x->encoding, y->encoding);
}

/* The channel of this name, type and encoding. *is_new: it was just created, and its id is not set yet. */
static struct rosbag2_channel *intern(struct rosbag2_scan *s, const char *name, const char *type, const char *encoding,
                                      bool *is_new, struct reel_error *err) {
    struct rosbag2_channel key = {.name = name, .type = type, .encoding = encoding};
    struct rosbag2_channel **found = tfind(&key, &s->channels, compare_channels);
    *is_new = found == NULL;
    if (found) {
        return *found;
    }
    struct rosbag2_channel *c = arena_copy(&s->arena, &key, sizeof key);
    if (!c) {
        arena_fail(&s->arena, err);
        return NULL;
    }
    if (!GROW_ARRAY(s->list, s->n_list, s->cap_list) || !tsearch(c, &s->channels, compare_channels)) {
        reel_fail_memory(err);
        return NULL;
    }
    s->list[s->n_list++] = c;
    return c;
}

/* Durability "transient local": late subscribers still get the last messages. metadata.yaml before 2024 has the number,
 * later versions the name. */
static bool is_latched(const char *qos) {
    for (const char *p = qos; (p = strstr(p, "durability:")) != NULL; p++) {
        const char *value = p + strlen("durability:");
        value += strspn(value, " ");
        if (strncmp(value, "transient_local", 15) == 0 ||
            (value[0] == '1' && (value[1] == '\n' || value[1] == '\r' || value[1] == '\0'))) {
            return true;
        }
    }
    return false;
}

struct topic_row {
    int64_t id;
    const char *name, *type, *encoding, *qos, *hash;
    struct reel_bytes definition;
    const char *definition_encoding;
};

static bool rosbag2_add_channel(struct rosbag2_base *b, const struct topic_row *t, struct rosbag2_channel **out,
                                struct reel_error *err) {
    bool is_new;
    struct rosbag2_channel *c = *out = intern(b->s, t->name, t->type, t->encoding, &is_new, err);
    if (!c || !is_new) {
        return c != NULL;
    }
    bool defined = t->definition.size > 0; /* the encoding of services whose types are all built in is "unknown" */
    const struct reel_schema schema = {.name = t->type,
                                       .encoding = defined ? t->definition_encoding : "",
                                       .hash = "",
                                       .data = defined ? t->definition : bytes_of("", 0)};
    struct reel_pair pairs[2];
    size_t n = 0;
    if (t->qos[0] != '\0') { /* the keys are those of rosbag2's own MCAP files */
        pairs[n++] = (struct reel_pair){.key = "offered_qos_profiles", .value = t->qos};
    }
    if (t->hash[0] != '\0') {
        pairs[n++] = (struct reel_pair){.key = "topic_type_hash", .value = t->hash};
    }
    const struct reel_channel channel = {.name = t->name,
                                         .type = t->type,
                                         .encoding = t->encoding,
                                         .schemas = &schema,
                                         .n_schemas = 1,
                                         .metadata = {.items = pairs, .count = n},
                                         .latched = is_latched(t->qos)};
    return reel_scan_channel(b->s->scan, &channel, &c->id, err);
}

static bool add_topic(struct rosbag2_base *b, int64_t id, struct rosbag2_channel *channel, struct reel_error *err) {
    if (!GROW_ARRAY(b->topics, b->n_topics, b->cap_topics)) {
        return reel_fail_memory(err);
    }
    b->topics[b->n_topics++] = (struct rosbag2_topic){.id = id, .channel = channel};
    return true;
}

static const struct rosbag2_meta_topic *meta_topic(const struct rosbag2_scan *s, const char *name, const char *type) {
    enum { SEARCHED_MAX = 1000 }; /* bound on the work for a QoS profile */
    for (size_t i = 0; i < s->meta.n_topics && i < SEARCHED_MAX; i++) {
        const struct rosbag2_meta_topic *t = &s->meta.topics[i];
        if (t->name && strcmp(t->name, name) == 0 && (!t->type || strcmp(t->type, type) == 0)) {
            return t;
        }
    }
    return NULL;
}

static bool read_topic(struct rosbag2_base *b, sqlite3_stmt *rows, struct topic_row *t, struct reel_error *err) {
    t->id = sqlite3_column_int64(rows, 0);
    if (!(t->name = rosbag2_topics_text_of(b, rows, 1, err)) || !(t->type = rosbag2_topics_text_of(b, rows, 2, err)) ||
        !(t->encoding = rosbag2_topics_text_of(b, rows, 3, err)) ||
        !(t->qos = rosbag2_topics_text_of(b, rows, 4, err)) || !(t->hash = rosbag2_topics_text_of(b, rows, 5, err))) {
        return false;
    }
    const struct rosbag2_meta_topic *meta = t->qos[0] == '\0' ? meta_topic(b->s, t->name, t->type) : NULL;
    t->qos = meta && meta->qos ? meta->qos : t->qos;
    t->encoding = t->encoding[0] ? t->encoding : ROSBAG2_ENCODING;
    return true;
}

static int compare_topics(const void *a, const void *b) {
    int64_t x = ((const struct rosbag2_topic *)a)->id, y = ((const struct rosbag2_topic *)b)->id;
    return (x > y) - (x < y);
}

static bool walk_topics(struct rosbag2_base *b, const struct definitions *all, struct reel_error *err) {
    char sql[192];
    snprintf(sql, sizeof sql, "SELECT id, name, type, serialization_format, %s, %s FROM topics",
             rosbag2_has_column(&b->db, "topics", "offered_qos_profiles") ? "offered_qos_profiles" : "NULL",
             rosbag2_has_column(&b->db, "topics", "type_description_hash") ? "type_description_hash" : "NULL");
    AUTO(statement) sqlite3_stmt *rows = rosbag2_prepare(&b->db, sql, err);
    AUTO(statement)
    sqlite3_stmt *one =
        all->count > 0 ? rosbag2_prepare(
                             &b->db, "SELECT encoded_message_definition FROM message_definitions WHERE rowid = ?1", err)
                       : NULL;
    if (!rows || (all->count > 0 && !one)) {
        return false;
    }
    for (bool row = true;;) {
        struct topic_row t = {.definition_encoding = ""};
        struct rosbag2_channel *channel;
        if (!rosbag2_step(b, rows, "topics", &row, err)) {
            return false;
        }
        if (!row) {
            break;
        }
        if (b->n_topics >= REEL_CHANNELS_MAX) {
            return reel_fail(err, REEL_LIMIT, "more than %d topics", REEL_CHANNELS_MAX);
        }
        if (!read_topic(b, rows, &t, err)) {
            return reel_error_at(err, "table topics");
        }
        const struct definition *d = find_definition(all, t.type);
        t.definition_encoding = d ? d->encoding : "";
        if ((d && !definition_text(b, one, d, &t.definition, err)) || !rosbag2_add_channel(b, &t, &channel, err) ||
            !add_topic(b, t.id, channel, err)) {
            return false;
        }
    }
    if (b->n_topics > 0) {
        qsort(b->topics, b->n_topics, sizeof *b->topics, compare_topics);
    }
    return true;
}

/* Creates a channel for a topic id that the table lacks, and inserts it in the order of ids. */
static bool add_placeholder(struct rosbag2_base *b, int64_t id, size_t index, struct rosbag2_channel **out,
                            struct reel_error *err) {
    char name[64];
    snprintf(name, sizeof name, "topic_id_%lld", (long long)id);
    struct topic_row t = {.name = arena_text(&b->s->arena, name),
                          .type = "",
                          .encoding = ROSBAG2_ENCODING,
                          .qos = "",
                          .hash = "",
                          .definition_encoding = ""};
    if (!t.name) {
        return arena_fail(&b->s->arena, err);
    }
    if (!rosbag2_add_channel(b, &t, out, err) || !add_topic(b, id, *out, err)) {
        return false;
    }
    struct rosbag2_topic added = b->topics[b->n_topics - 1];
    memmove(&b->topics[index + 1], &b->topics[index], (b->n_topics - 1 - index) * sizeof *b->topics);
    b->topics[index] = added;
    b->n_placeholders++;
    rosbag2_finding(b, REEL_LOSS, "messages refer to topic id %lld, which the table topics does not have: kept as %s",
                    (long long)id, name);
    return true;
}

bool rosbag2_channel_of(struct rosbag2_base *b, int64_t topic_id, struct rosbag2_channel **out,
                        struct reel_error *err) {
    size_t low = 0, high = b->n_topics;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (b->topics[middle].id < topic_id) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    *out = low < b->n_topics && b->topics[low].id == topic_id ? b->topics[low].channel : NULL;
    return *out || b->n_placeholders >= PLACEHOLDERS_MAX || add_placeholder(b, topic_id, low, out, err);
}

/* --- all of it --- */

static bool read_version(struct rosbag2_base *b, struct reel_error *err) {
    bool topics, messages, schema;
    if (!rosbag2_has_table(&b->db, "topics", &topics, err) || !rosbag2_has_table(&b->db, "messages", &messages, err) ||
        !rosbag2_has_table(&b->db, "schema", &schema, err)) {
        return false;
    }
    if (!topics || !messages || !rosbag2_has_column(&b->db, "messages", "topic_id")) {
        return reel_fail(err, REEL_NOT_MINE,
                         "%s: an SQLite database without the tables topics and messages: no rosbag2", b->file->name);
    }
    b->version = rosbag2_has_column(&b->db, "topics", "offered_qos_profiles") ? 2 : 1;
    if (!schema) {
        return true;
    }
    AUTO(statement) sqlite3_stmt *rows = rosbag2_prepare(&b->db, "SELECT schema_version, ros_distro FROM schema", err);
    bool row;
    if (!rows || !rosbag2_step(b, rows, "schema", &row, err)) {
        return false;
    }
    if (row) {
        int version = sqlite3_column_int(rows, 0);
        b->version = version >= 1 && version <= 1000 ? version : b->version;
        const char *distro = rosbag2_topics_text_of(b, rows, 1, err);
        b->s->distro = b->s->distro && b->s->distro[0] ? b->s->distro : distro;
        return distro != NULL;
    }
    return true;
}

bool rosbag2_read_topics(struct rosbag2_base *b, struct reel_error *err) {
    AUTO_STRUCT(definitions_free) struct definitions all = {0};
    if (!read_version(b, err) || !list_definitions(b, &all, err)) {
        return false;
    }
    if (b->version > 4) {
        rosbag2_finding(b, REEL_NOTE, "schema version %d is newer than what is known here (4)", b->version);
    }
    return walk_topics(b, &all, err);
}

bool rosbag2_read_metadata(struct rosbag2_base *b, struct reel_error *err) {
    bool there, row;
    if (b->s->meta.present) {
        return true;
    }
    if (!rosbag2_has_table(&b->db, "metadata", &there, err)) {
        return false;
    }
    if (!there) {
        return true;
    }
    AUTO(statement)
    sqlite3_stmt *rows = rosbag2_prepare(&b->db, "SELECT metadata FROM metadata ORDER BY rowid DESC", err);
    struct reel_bytes yaml;
    if (!rows || !rosbag2_step(b, rows, "metadata", &row, err)) {
        return false;
    }
    struct reel_error why = {0};
    if (!row || !rosbag2_column(&b->db, rows, 0, &yaml, &why) || yaml.size == 0 ||
        rosbag2_meta_read(&b->s->meta, &b->s->arena, yaml, &why)) {
        return true;
    }
    if (why.code == REEL_NO_MEMORY) {
        return reel_error_pass(err, &why);
    }
    rosbag2_finding(b, REEL_WARNING, "the table metadata holds no metadata that can be read: %s", why.text);
    return true;
}
