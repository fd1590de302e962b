/* The statements of a list. Only words of this file, names of columns and numbers become SQL; users' texts are bound.
 */
#include <string.h>

#include "base/text_stream.h"
#include "catalog/list.h"

static const char widths[] =
    "{ints '[1000000000,16000000000,256000000000,4096000000000,65536000000000,1048576000000000,9223372036854775807]'}";

static const struct condition *at(const struct list_query *query, uint32_t i) {
    return &query->conditions[i];
}

/* ---- tests of the row r; "+" keeps SQLite from another index than the one that drives. For an EXISTS PostgreSQL may
 * read the whole other table into a hash table, for a value it reads the rows of one recording. */

/* The rows of `search` or `label_search` that have a text; `value`: 'm', or 'c' for those that may have it. */
static void put_matches(FILE *out, const struct list_query *query, const char *table, char value, uint32_t i) {
    if (query->postgres) {
        fprintf(out, "SELECT row FROM %s WHERE text LIKE :%c%u", table, value, i);
    } else {
        fprintf(out, "SELECT rowid AS row FROM %s WHERE %s MATCH :%c%u", table, table, value, i);
    }
}

static void put_labels(FILE *out, const struct list_query *query, uint32_t i, bool text) {
    fputs("(SELECT k.label_set FROM label_set_labels AS k WHERE k.label ", out);
    if (text) {
        fputs("IN (", out);
        put_matches(out, query, "label_search", 'm', i);
        fputs(")", out);
    } else {
        fprintf(out, "{in ints :t%u}", i);
    }
    fputs(")", out);
}

/* What annotates recordings with labels: a table, and its column that says which. */
static const struct annotated {
    enum label_kind kind;
    const char *table, *column;
} annotated[] = {{KIND_TAG, "recording_tags", "value"}, {KIND_TITLE, "event_titles", "label"}};

/* The values or labels of a table that have a text. */
static void put_annotated(FILE *out, const struct list_query *query, const struct annotated *a, uint32_t i) {
    fputs(a->kind == KIND_TAG ? "SELECT v.id FROM tag_values AS v WHERE v.label IN (" : "", out);
    put_matches(out, query, "label_search", 'm', i);
    fputs(a->kind == KIND_TAG ? ")" : "", out);
}

/* IS TRUE: else PostgreSQL would join the values anew for each recording, instead of keeping them in a hash table. */
static void put_annotated_test(FILE *out, const struct list_query *query, const struct annotated *a, uint32_t i) {
    fprintf(out,
            query->postgres ? " OR (SELECT count(*) FROM %s AS t WHERE t.recording = r.row AND (t.%s IN ("
                            : " OR EXISTS (SELECT 1 FROM %s AS t WHERE t.recording = r.row AND +t.%s IN (",
            a->table, a->column);
    put_annotated(out, query, a, i);
    fputs(query->postgres ? ")) IS TRUE) > 0" : "))", out);
}

static void put_annotated_rows(FILE *out, const struct list_query *query, const struct annotated *a, uint32_t i) {
    fprintf(out, " UNION ALL SELECT recording AS row FROM %s INDEXED BY %s_%s WHERE %s %s(", a->table, a->table,
            a->column, a->column, query->postgres ? "= ANY (ARRAY" : "IN ");
    put_annotated(out, query, a, i);
    fputs(query->postgres ? "))" : ")", out);
}

static const char *const label_columns[] = {"channel_labels", "metadata_labels"};

static bool has_column(const struct condition *c, size_t k) {
    return c->kinds & (k == 0 ? KINDS_OF_CHANNELS : 1 << KIND_META);
}

static const char *array_of(const struct condition *c) {
    return strcmp(c->column, "state") == 0 || strcmp(c->column, "damaged") == 0 ? "ints" : "texts";
}

void list_sql_put_leaf(FILE *out, const struct list_query *query, uint32_t i) {
    const struct condition *c = at(query, i);
    switch (c->kind) {
    case CONDITION_SET:
        fprintf(out, "+r.%s {in %s :t%u}", c->column, array_of(c), i);
        break;
    case CONDITION_RANGE:
        fprintf(out, "+r.%s BETWEEN :a%u AND :b%u", c->column, i, i);
        break;
    case CONDITION_SPAN:
        fprintf(out, "(+r.width_ns IS NOT NULL AND +r.calendar_start_ns < :b%u AND +r.calendar_end_ns >= :a%u)", i, i);
        break;
    case CONDITION_LABELS:
        fprintf(out, "+r.%s IN ", c->column);
        put_labels(out, query, i, false);
        break;
    case CONDITION_TAGS:
        fputs(query->postgres ? "((SELECT count(*)" : "EXISTS (SELECT 1", out);
        fprintf(out, " FROM recording_tags AS t WHERE t.recording = r.row AND +t.%s {in ints :t%u})%s", c->column, i,
                query->postgres ? " > 0)" : "");
        break;
    default:
        fprintf(out,
                query->postgres ? "((SELECT strpos(s.text, :t%u) > 0 FROM search AS s WHERE s.row = r.row)"
                                : "(search_has(:t%u, r.name, r.collection)",
                i);
        for (size_t k = 0; k < 2; k++) {
            if (has_column(c, k)) {
                fprintf(out, " OR +r.%s IN ", label_columns[k]);
                put_labels(out, query, i, true);
            }
            if (c->kinds & 1u << annotated[k].kind) {
                put_annotated_test(out, query, &annotated[k], i);
            }
        }
        fputc(')', out);
    }
}

/* Whether the trash is among what it finds. */
static bool has_trash(const struct list_query *query, uint32_t i) {
    const struct condition *c = at(query, i);
    bool any = !c->negated && c->has_trash;
    for (uint32_t k = c->negated ? 0 : c->first; k; k = at(query, k)->next) {
        any = any || has_trash(query, k);
    }
    return any;
}

/* `skipped`: a condition that holds already; 0: none. With `shown`, alternatives that do not ask for the trash do not
 * find it. */
static void put_test(FILE *out, const struct list_query *query, uint32_t i, uint32_t skipped, bool shown) {
    const struct condition *c = at(query, i);
    bool hides = shown && !has_trash(query, i);
    fputs(hides ? "(r.state <> 4 AND " : "", out);
    fputs(c->negated ? "(" : "", out);
    if (i == skipped && i > 0) {
        fputs("TRUE", out);
    } else if (c->kind == CONDITION_ALL || c->kind == CONDITION_ANY) {
        const char *between = c->kind == CONDITION_ALL ? " AND " : " OR ";
        fputs(c->first ? "(" : c->kind == CONDITION_ALL ? "TRUE" : "FALSE", out);
        for (uint32_t k = c->first; k; k = at(query, k)->next) {
            bool pass = shown && !hides && (c->kind == CONDITION_ANY || has_trash(query, k));
            put_test(out, query, k, skipped, pass && !c->negated);
            fputs(at(query, k)->next ? between : ")", out);
        }
    } else {
        list_sql_put_leaf(out, query, i);
    }
    fputs(c->negated ? ") IS NOT TRUE" : "", out);
    fputs(hides ? ")" : "", out);
}

/* ---- rows of a condition, from its index, as SELECT … AS row */

static const char *list_sql_index_of(const char *column) {
    return strcmp(column, "group_name") == 0 ? "group" : column;
}

void list_sql_put_text_rows(FILE *out, const struct list_query *query, char value, uint32_t i) {
    const struct condition *c = at(query, i);
    put_matches(out, query, "search", value, i);
    for (size_t k = 0; k < 2; k++) {
        if (has_column(c, k)) {
            fprintf(out, " UNION ALL SELECT row FROM recordings INDEXED BY recordings_by_%s WHERE %s IN ",
                    label_columns[k], label_columns[k]);
            put_labels(out, query, i, true);
        }
        if (c->kinds & 1u << annotated[k].kind) {
            put_annotated_rows(out, query, &annotated[k], i);
        }
    }
}

/* One range of the index for each class of width. PostgreSQL would look for them in another way, but for the OFFSET 0.
 */
static void put_span_rows(FILE *out, const struct list_query *query, uint32_t i) {
    fprintf(out,
            query->postgres
                ? "SELECT s.row FROM %s AS width CROSS JOIN LATERAL (SELECT r.row FROM recordings AS r WHERE "
                  "r.width_ns = width.value "
                  "AND r.calendar_start_ns > max(:a%u, -9223372036854775807 + width.value) - width.value AND "
                  "r.calendar_start_ns < :b%u AND r.calendar_end_ns >= :a%u AND r.state <> 4 OFFSET 0) AS s ON TRUE"
                : "SELECT s.row FROM %s AS width CROSS JOIN recordings AS s INDEXED BY recordings_spans ON s.width_ns "
                  "= width.value "
                  "AND s.calendar_start_ns > max(:a%u, -9223372036854775807 + width.value) - width.value "
                  "WHERE s.calendar_start_ns < :b%u AND s.calendar_end_ns >= :a%u AND s.state <> 4",
            widths, i, i, i);
}

void list_sql_put_rows(FILE *out, const struct list_query *query, uint32_t i) {
    const struct condition *c = at(query, i);
    switch (c->kind) {
    case CONDITION_ALL:
        list_sql_put_rows(out, query, list_driver(query, i));
        break;
    case CONDITION_ANY:
        fputs(c->first ? "" : "SELECT 0 AS row WHERE FALSE", out);
        for (uint32_t k = c->first; k; k = at(query, k)->next) {
            list_sql_put_rows(out, query, k);
            fputs(at(query, k)->next ? " UNION ALL " : "", out);
        }
        break;
    case CONDITION_SET:
        fprintf(out, "SELECT row FROM recordings INDEXED BY recordings_by_%s WHERE %s {in %s :t%u}%s",
                list_sql_index_of(c->column), c->column, array_of(c), i,
                strcmp(c->column, "group_name") == 0 ? " AND group_name <> ''" : "");
        break;
    case CONDITION_RANGE:
        fprintf(out,
                "SELECT row FROM recordings INDEXED BY recordings_by_%s WHERE %s BETWEEN :a%u AND :b%u AND state <> 4",
                c->column, c->column, i, i);
        break;
    case CONDITION_SPAN:
        put_span_rows(out, query, i);
        break;
    case CONDITION_LABELS:
        fprintf(out, "SELECT row FROM recordings INDEXED BY recordings_by_%s WHERE %s IN ", c->column, c->column);
        put_labels(out, query, i, false);
        break;
    case CONDITION_TAGS:
        fprintf(out, "SELECT recording AS row FROM recording_tags INDEXED BY recording_tags_%s WHERE %s {in ints :t%u}",
                c->column, c->column, i);
        break;
    default:
        list_sql_put_text_rows(out, query, 'm', i);
    }
}

/* ---- statements */

static bool by_row(const struct list_plan *plan) {
    return strcmp(plan->column, "row") == 0;
}

static void put_order(FILE *out, const struct list_plan *plan) {
    const char *order = plan->descending ? "DESC" : "ASC";
    if (by_row(plan)) {
        fprintf(out, " ORDER BY r.row %s", order);
    } else {
        fprintf(out, " ORDER BY r.%s %s, r.row %s", plan->column, order, order);
    }
}

/* What comes behind :key, :row in the order of the sort; `sign` "+" when no index is to be used for that. */
static void put_behind(FILE *out, const struct list_plan *plan, const char *sign) {
    char after = plan->descending ? '<' : '>';
    if (by_row(plan)) {
        fprintf(out, " AND %sr.row %c :row", sign, after);
    } else {
        fprintf(out, " AND (%sr.%s, %sr.row) %c (:key, :row)", sign, plan->column, sign, after);
    }
}

static void put_edge(FILE *out, const struct list_plan *plan) {
    char before = plan->descending ? '>' : '<';
    if (plan->bounded && by_row(plan)) {
        fprintf(out, " AND r.row %c= :edge_row", before);
    } else if (plan->bounded) {
        fprintf(out, " AND (r.%s, r.row) %c= (:edge_key, :edge_row)", plan->column, before);
    }
}

static void put_walk(FILE *out, const struct list_query *query, const struct list_plan *plan) {
    if (query->has_trash) { /* the trash is in no index of a sort, but in the order of rows */
        fputs(" FROM recordings AS r NOT INDEXED WHERE TRUE", out);
    } else {
        fprintf(out, " FROM recordings AS r INDEXED BY recordings_by_%s WHERE r.state <> 4", plan->column);
    }
    if (!plan->counting) {
        put_behind(out, plan, "");
        put_edge(out, plan);
    }
    fputs(" AND ", out);
    put_test(out, query, 0, 0, query->has_trash);
}

/* The rows of the driver, of which a window is in the order of rows. */
static void put_driver(FILE *out, const struct list_query *query, const struct list_plan *plan) {
    fputs(plan->window ? "SELECT row FROM (" : "", out);
    list_sql_put_rows(out, query, plan->driver);
    if (plan->window) {
        fprintf(out, "%s) AS found WHERE row %c :row ORDER BY row %s LIMIT :window", query->postgres ? " OFFSET 0" : "",
                plan->descending ? '<' : '>', plan->descending ? "DESC" : "ASC");
    }
}

static void put_gather(FILE *out, const struct list_query *query, const struct list_plan *plan) {
    enum condition_kind kind = at(query, plan->driver)->kind;
    bool exact = kind != CONDITION_ALL && kind != CONDITION_ANY;                         /* all its rows match it */
    const char *how = query->has_trash ? "NOT INDEXED" : "INDEXED BY recordings_by_row"; /* that index tells what is not
                                                                                            in the trash */
    bool inner = query->postgres && !plan->counting;
    if (inner) { /* PostgreSQL would walk at times: OFFSET 0 keeps the order out of this query */
        fprintf(out, " FROM (SELECT r.row%s%s", by_row(plan) ? "" : ", r.", by_row(plan) ? "" : plan->column);
    }
    if (query->postgres) { /* numbers of an array are found by their index, each once */
        fputs(" FROM recordings AS r WHERE r.row = ANY (ARRAY(", out);
        put_driver(out, query, plan);
        fputs("))", out);
    } else if (plan->counting) {
        fputs(" FROM (", out);
        put_driver(out, query, plan);
        fprintf(out, ") AS found CROSS JOIN recordings AS r %s ON r.row = found.row WHERE TRUE", how);
    } else {
        fprintf(out, " FROM recordings AS r %s WHERE r.row IN (", by_row(plan) ? how : "NOT INDEXED");
        put_driver(out, query, plan);
        fputc(')', out);
    }
    if (!plan->counting) {
        put_behind(out, plan, "+");
    }
    fputs(query->has_trash ? "" : " AND r.state <> 4", out);
    fputs(" AND ", out);
    put_test(out, query, 0, exact ? plan->driver : 0, query->has_trash);
    fputs(inner ? " OFFSET 0) AS r" : "", out);
}

char *list_sql(const struct list_query *query, const struct list_plan *plan) {
    char *sql = NULL;
    size_t size;
    FILE *out = open_memstream(&sql, &size);
    if (!out) {
        return NULL;
    }
    if (plan->counting) {
        fputs(plan->way == LIST_GATHER && !query->postgres ? "SELECT DISTINCT r.row" : "SELECT r.row", out);
        fputs(plan->spans ? ", r.calendar_start_ns, r.calendar_end_ns" : "", out);
    } else {
        fprintf(out, "SELECT r.row, r.%s", plan->column);
    }
    if (plan->way == LIST_WALK) {
        put_walk(out, query, plan);
    } else {
        put_gather(out, query, plan);
    }
    if (!plan->counting) {
        put_order(out, plan);
    }
    fputs(" LIMIT :limit OFFSET :offset", out);
    return text_stream_close(out, &sql) ? sql : NULL;
}

char *list_sql_edge(const struct list_plan *plan) {
    char *sql = NULL;
    size_t size;
    FILE *out = open_memstream(&sql, &size);
    if (!out) {
        return NULL;
    }
    fprintf(out, "SELECT r.row, r.%s FROM recordings AS r INDEXED BY recordings_by_%s WHERE r.state <> 4", plan->column,
            plan->column);
    put_behind(out, plan, "");
    put_edge(out, plan);
    put_order(out, plan);
    fputs(" LIMIT 1 OFFSET :window", out);
    return text_stream_close(out, &sql) ? sql : NULL;
}

char *list_sql_sample(const struct list_query *query) {
    char *sql = NULL;
    size_t size;
    FILE *out = open_memstream(&sql, &size);
    if (!out) {
        return NULL;
    }
    fputs("SELECT count(*) FILTER (WHERE ", out);
    put_test(out, query, 0, 0, query->has_trash);
    fputs("), count(*) FROM {ints :rows} AS sampled CROSS JOIN recordings AS r NOT INDEXED ON r.row = sampled.value",
          out);
    return text_stream_close(out, &sql) ? sql : NULL;
}

static bool is_summed(const struct condition *c) {
    return c->kind == CONDITION_SET && (strcmp(c->column, "collection") == 0 || strcmp(c->column, "format") == 0 ||
                                        strcmp(c->column, "state") == 0);
}

bool list_is_kept(const struct condition *c) {
    return is_summed(c) || c->kind == CONDITION_TAGS || c->kind == CONDITION_LABELS;
}

char *list_sql_count(const struct list_query *query, uint32_t i) {
    const struct condition *c = at(query, i);
    char *sql = NULL;
    size_t size;
    FILE *out = open_memstream(&sql, &size);
    if (!out) {
        return NULL;
    }
    if (is_summed(c)) { /* few rows */
        fprintf(out,
                "SELECT coalesce(sum(recordings), 0) FROM (SELECT recordings FROM sums WHERE %s {in %s :t%u} "
                "LIMIT :limit) AS found",
                c->column, array_of(c), i);
    } else if (c->kind == CONDITION_TAGS) {
        fprintf(out, "SELECT coalesce(sum(recordings), 0) FROM tag_%ss WHERE id {in ints :t%u}", c->column, i);
    } else if (c->kind == CONDITION_LABELS) {
        fputs("SELECT coalesce(sum(recordings), 0) FROM (SELECT recordings FROM label_sets WHERE id IN ", out);
        put_labels(out, query, i, false);
        fputs(" LIMIT :limit) AS found", out);
    } else {
        fputs("SELECT count(*) FROM (SELECT 1 FROM (", out);
        list_sql_put_rows(out, query, i);
        fputs(") AS found LIMIT :limit) AS found", out);
    }
    return text_stream_close(out, &sql) ? sql : NULL;
}

/* ---- values */

void list_bind(struct db_statement *s, const struct list_query *query) {
    for (uint32_t i = 1; i < query->n; i++) {
        const struct condition *c = at(query, i);
        char name[16];
        if (c->text) {
            snprintf(name, sizeof name, ":t%u", i);
            db_set_text(s, name, c->text);
        }
        if (c->match) {
            snprintf(name, sizeof name, ":m%u", i);
            db_set_text(s, name, c->match);
        }
        if (c->maybe) {
            snprintf(name, sizeof name, ":c%u", i);
            db_set_text(s, name, c->maybe);
        }
        snprintf(name, sizeof name, ":a%u", i);
        db_set_int(s, name, c->min);
        snprintf(name, sizeof name, ":b%u", i);
        db_set_int(s, name, c->max);
    }
}
