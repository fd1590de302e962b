/* Upgrades of a catalog with data: nothing is lost when a table is replaced, a step fails or the process is killed, and
 * tables of another history are refused. The migrations beyond those of sql/ are this test's own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "catalog/db_engine.h"
#include "catalog/maintenance.h"
#include "catalog/move.h"
#include "makers/catalog_fixture.h"
#include "makers/notes_fixture.h"

enum { LISTED_MAX = 32 };
static struct sql_text listed[LISTED_MAX];
static char kept_file[300], said[2000];
static const char *kill_at; /* the process ends when this is reported */

static void listen(void *context, const char *line) {
    (void)context;
    if (kill_at && strstr(line, kill_at)) {
        kill(getpid(), SIGKILL);
    }
    snprintf(said + strlen(said), sizeof said - strlen(said), "%s\n", line);
}

/* The released migrations and these. */
static struct db *open_with(const struct sql_text *more, size_t n) {
    struct db *db = db_open(DB_FILE, &err);
    assert_non_null(db);
    memcpy(listed, sql_migrations, sql_migrations_count * sizeof *listed);
    memcpy(listed + sql_migrations_count, more, n * sizeof *listed);
    db->migrations = listed;
    db->n_migrations = sql_migrations_count + n;
    return db;
}

static bool upgrade(const struct sql_text *more, size_t n) {
    struct db *db = open_with(more, n);
    said[0] = '\0';
    err = (struct reel_error){0};
    bool good = db_migrate(db, &(struct db_upgrade){.allowed = true, .report = listen}, &err);
    db_close(db);
    return good;
}

/* ---- what a catalog contains */

static char *one_text(sqlite3 *raw, const char *sql) {
    sqlite3_stmt *s;
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    assert_int_equal(sqlite3_prepare_v2(raw, sql, -1, &s, NULL), SQLITE_OK);
    while (sqlite3_step(s) == SQLITE_ROW) {
        for (int i = 0; i < sqlite3_column_count(s); i++) {
            const char *cell = (const char *)sqlite3_column_text(s, i);
            fprintf(out, "%s%c", cell ? cell : "(null)", i + 1 < sqlite3_column_count(s) ? '|' : '\n');
        }
    }
    assert_int_equal(sqlite3_finalize(s), SQLITE_OK);
    fclose(out);
    return text;
}

/* Every row of every table but the checksums. */
static char *content_of(const char *file) {
    sqlite3 *raw;
    assert_int_equal(sqlite3_open(file, &raw), SQLITE_OK);
    AUTO_MEM char *tables = one_text(raw, "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT IN "
                                          "('maintenance', 'upgraded', 'second') ORDER BY 1");
    char *all = strdup("");
    for (char *name = strtok(tables, "\n"); name; name = strtok(NULL, "\n")) {
        char sql[200];
        snprintf(sql, sizeof sql, "SELECT * FROM \"%s\"", name);
        if (strcmp(name, "sqlite_sequence") == 0) {
            snprintf(sql, sizeof sql, "SELECT name, seq FROM sqlite_sequence ORDER BY 1");
        }
        AUTO_MEM char *rows = one_text(raw, sql);
        char *more = malloc(strlen(all) + strlen(rows) + strlen(name) + 3);
        assert_non_null(more);
        sprintf(more, "%s%s:\n%s", all, name, rows);
        free(all);
        all = more;
    }
    sqlite3_close(raw);
    return all;
}

static void execute(const char *sql) {
    sqlite3 *raw = open_raw();
    assert_int_equal(sqlite3_exec(raw, sql, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(raw);
}

static int fill(void **state) {
    assert_int_equal(set_up(state), 0);
    for (unsigned v = 1; v < 40; v++) {
        snprintf(kept_file, sizeof kept_file, "%s.version-%u", DB_FILE, v);
        remove(kept_file);
    }
    snprintf(kept_file, sizeof kept_file, "%s.version-%zu", DB_FILE, sql_migrations_count);
    put_many();
    char id[RECORDING_ID_TEXT];
    assert_true(put("lab", "annotated", '8', false, id));
    assert_true(set_tag(id, "robot", "r2") && set_tag(id, "weather", "rain"));
    for (unsigned i = 0; i < 3; i++) {
        struct catalog_note note = {.text = strdup("seen"), .author = strdup("ann")};
        struct catalog_event e = {
            .start_ns = i, .end_ns = i + 5, .title = strdup("fall"), .author = strdup("bob"), .tags = strdup("")};
        assert_true(catalog_note_add(c, id, &note, &err) && catalog_event_add(c, id, &e, &err));
        catalog_note_done(&note);
        catalog_event_done(&e);
    }
    assert_true(put("lab", "deleted", '9', false, id)); /* its row must not be used again */
    assert_true(catalog_purge_at(c, id, CATALOG_ANY_VERSION, &err));
    catalog_close(c);
    c = NULL;
    kill_at = NULL;
    return 0;
}

static int done(void **state) {
    (void)state;
    return 0;
}

/* ---- a move */

static void a_move_takes_every_table(void **state) {
    (void)state;
    static const char moved_file[] = REEL_SCRATCH "/moved.db";
    struct catalog_moved moved;
    remove(moved_file);
    execute(
        "INSERT INTO fetches (recording, agent, author, asked_ns, problem) VALUES (1, zeroblob(16), 'ann', 5, 'gone')");
    if (!catalog_move(DB_FILE, moved_file, NULL, &moved, &err)) {
        fail_msg("%s", err.text);
    }
    /* event_widths comes with the schema, and the full-text indexes are two tables each */
    assert_int_equal(moved.tables, number("SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE "
                                          "'sqlite_%' AND name NOT LIKE '%search_%' AND name <> 'event_widths'"));
    sqlite3 *from = open_raw(), *to;
    assert_int_equal(sqlite3_open(moved_file, &to), SQLITE_OK);
    static const char *const compared[] = {"SELECT * FROM fetches",
                                           "SELECT name, seq FROM sqlite_sequence WHERE seq > 0 ORDER BY 1"};
    for (size_t i = 0; i < sizeof compared / sizeof *compared; i++) {
        AUTO_MEM char *before = one_text(from, compared[i]), *after = one_text(to, compared[i]);
        assert_string_equal(after, before);
    }
    sqlite3_close(from);
    sqlite3_close(to);
}

/* ---- a table that is replaced */

static const char replace_after[] =
    "UPDATE sqlite_sequence SET seq = (SELECT seq FROM sqlite_sequence WHERE name = 'recordings') WHERE name = "
    "'recordings_new';\n"
    "DROP TABLE recordings;\nALTER TABLE recordings_new RENAME TO recordings;\n";

/* The migration that widens CHECK (state BETWEEN 0 AND 6), written out of the tables as they are. malloc'd. */
static char *replacement(void) {
    sqlite3 *raw = open_raw();
    AUTO_MEM char *table = one_text(raw, "SELECT replace(replace(sql, 'CREATE TABLE recordings', 'CREATE TABLE "
                                         "recordings_new'), 'BETWEEN 0 AND 6', 'BETWEEN 0 AND 7') || ';' FROM "
                                         "sqlite_schema WHERE name = 'recordings'");
    AUTO_MEM char *columns =
        one_text(raw, "SELECT group_concat(name) FROM pragma_table_xinfo('recordings') WHERE hidden = 0");
    AUTO_MEM char *rest = one_text(raw, "SELECT sql || ';' FROM sqlite_schema WHERE tbl_name = 'recordings' AND type "
                                        "<> 'table' AND sql IS NOT NULL");
    sqlite3_close(raw);
    char *text = NULL;
    assert_true(asprintf(&text, "%sINSERT INTO recordings_new (%s) SELECT %s FROM recordings;\n%s%s", table, columns,
                         columns, replace_after, rest) > 0);
    assert_non_null(strstr(text, "BETWEEN 0 AND 7"));
    return text;
}

static void a_table_is_replaced_and_nothing_is_lost(void **state) {
    (void)state;
    AUTO_MEM char *text = replacement(), *before = content_of(DB_FILE);
    assert_true(number("SELECT count(*) FROM parts") > 30 && number("SELECT count(*) FROM recording_tags") > 0 &&
                number("SELECT count(*) FROM notes") > 0 && number("SELECT count(*) FROM events") > 0);
    AUTO_MEM char *old = content_of(DB_FILE);
    if (!upgrade(&(struct sql_text){"9001_states", text}, 1)) {
        fail_msg("%s", err.text);
    }
    AUTO_MEM char *after = content_of(DB_FILE), *kept = content_of(kept_file);
    assert_string_equal(after, before);
    assert_string_equal(kept, old);
    sqlite3 *raw;
    assert_int_equal(sqlite3_open(kept_file, &raw), SQLITE_OK);
    AUTO_MEM char *mark = one_text(raw, "SELECT count(*) FROM maintenance WHERE key = 'copied'");
    assert_string_equal(mark, "1\n"); /* a server that runs on it deletes no file */
    sqlite3_close(raw);
    assert_int_equal(number("PRAGMA user_version"), sql_migrations_count + 1);
    assert_int_equal(number("SELECT count(*) FROM pragma_foreign_key_check"), 0);
    assert_non_null(strstr(said, "upgrading the catalog from version"));
    assert_non_null(strstr(said, "migration 9001_states"));
    assert_non_null(strstr(said, kept_file));
    execute("PRAGMA foreign_keys = ON; UPDATE recordings SET state = 7 WHERE row = 1");
    execute("PRAGMA foreign_keys = ON; DELETE FROM recordings WHERE row = 1"); /* keys and triggers work as before */
    assert_int_equal(number("SELECT count(*) FROM parts WHERE recording = 1"), 0);
    assert_int_equal(number("SELECT count(*) FROM sums WHERE state = 7"), 0);
    assert_true(upgrade(&(struct sql_text){"9001_states", text}, 1)); /* nothing is left to do */
    assert_string_equal(said, "");
}

static void foreign_keys_are_enforced_afterwards(void **state) {
    (void)state;
    static const struct sql_text more[] = {{"9001_one", "CREATE TABLE upgraded (id INTEGER PRIMARY KEY) STRICT;"}};
    struct db *db = open_with(more, 1);
    assert_true(db_migrate(db, &(struct db_upgrade){.allowed = true, .report = listen}, &err));
    struct db_handle *h = db_write(db, &err);
    assert_false(db->engine->script(h, "INSERT INTO parts VALUES (999999, 0, zeroblob(32), 1, 'x')", &err));
    assert_non_null(strstr(err.text, "FOREIGN KEY"));
    db_end(h);
    db_close(db);
}

/* ---- steps that fail */

static void a_step_that_fails_changes_nothing_and_the_one_before_stays(void **state) {
    (void)state;
    static const struct sql_text more[] = {
        {"9001_one", "CREATE TABLE upgraded (id INTEGER PRIMARY KEY) STRICT;"},
        {"9002_two", "CREATE TABLE second (id INTEGER PRIMARY KEY) STRICT; DELETE FROM notes; SELECT nothing;"}};
    AUTO_MEM char *before = content_of(DB_FILE);
    assert_false(upgrade(more, 2));
    assert_non_null(strstr(err.text, "migration 9002_two: "));
    AUTO_MEM char *after = content_of(DB_FILE);
    assert_string_equal(after, before);
    assert_int_equal(number("PRAGMA user_version"), sql_migrations_count + 1);
    assert_int_equal(number("SELECT count(*) FROM sqlite_schema WHERE name = 'second'"), 0);
    struct sql_text repaired[] = {more[0], {"9002_two", "CREATE TABLE second (id INTEGER PRIMARY KEY) STRICT;"}};
    assert_true(upgrade(repaired, 2));
    assert_null(strstr(said, "9001_one"));
    assert_int_equal(number("PRAGMA user_version"), sql_migrations_count + 2);
}

static void rows_that_would_refer_to_nothing_are_refused(void **state) {
    (void)state;
    static const struct sql_text more[] = {{"9001_one", "DELETE FROM recordings WHERE row = 1;"}};
    AUTO_MEM char *before = content_of(DB_FILE);
    assert_false(upgrade(more, 1));
    assert_non_null(strstr(err.text, "refer to rows that recordings lacks"));
    AUTO_MEM char *after = content_of(DB_FILE);
    assert_string_equal(after, before);
}

/* ---- kill -9 */

static void die(sqlite3_context *context, int n, sqlite3_value **values) {
    (void)context, (void)n, (void)values;
    kill(getpid(), SIGKILL);
}

static int add_die(sqlite3 *sqlite, const char **problem, const struct sqlite3_api_routines *api) {
    (void)problem, (void)api;
    return sqlite3_create_function(sqlite, "die", 0, SQLITE_UTF8, NULL, die, NULL, NULL);
}

/* An upgrade in a process of its own, which does not survive it. */
static void upgrade_killed(const struct sql_text *more, size_t n, const char *at) {
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        sqlite3_auto_extension((void (*)(void))(void *)add_die);
        kill_at = at;
        upgrade(more, n);
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

static void an_upgrade_that_was_killed_continues(void **state) {
    (void)state;
    AUTO_MEM char *text = replacement(), *dying = NULL, *before = content_of(DB_FILE);
    assert_true(asprintf(&dying, "%sSELECT die();", text) > 0);
    const struct sql_text one = {"9001_one", "CREATE TABLE upgraded (id INTEGER PRIMARY KEY) STRICT;"};
    const struct sql_text broken[] = {one, {"9002_states", dying}}, good[] = {one, {"9002_states", text}};
    upgrade_killed(good, 2, "upgrading the catalog");
    assert_int_equal(number("PRAGMA user_version"), sql_migrations_count);
    upgrade_killed(good, 2, "migration 9001_one"); /* the copy is made */
    assert_int_equal(number("PRAGMA user_version"), sql_migrations_count);
    upgrade_killed(good, 2, "migration 9002_states"); /* between the steps */
    assert_int_equal(number("PRAGMA user_version"), sql_migrations_count + 1);
    upgrade_killed(broken, 2, NULL); /* within one, when all is done but the commit */
    assert_int_equal(number("PRAGMA user_version"), sql_migrations_count + 1);
    AUTO_MEM char *between = content_of(DB_FILE);
    assert_string_equal(between, before);
    assert_true(upgrade(good, 2));
    assert_int_equal(number("PRAGMA user_version"), sql_migrations_count + 2);
    AUTO_MEM char *after = content_of(DB_FILE), *kept = content_of(kept_file);
    assert_string_equal(after, before);
    assert_string_equal(kept, before);
}

/* ---- copies */

static void copies_of_the_last_three_versions_are_kept(void **state) {
    (void)state;
    struct sql_text more[5];
    char path[300];
    for (size_t i = 0; i < 5; i++) {
        more[i] = (struct sql_text){"9001_one", "CREATE TABLE IF NOT EXISTS upgraded (id INTEGER PRIMARY KEY) STRICT;"};
        assert_true(upgrade(more, i + 1));
    }
    for (size_t i = 0; i < 5; i++) {
        snprintf(path, sizeof path, "%s.version-%zu", DB_FILE, sql_migrations_count + i);
        assert_int_equal(access(path, F_OK) == 0, i >= 2);
    }
}

static void without_a_copy_nothing_is_upgraded(void **state) {
    (void)state;
    char path[310];
    snprintf(path, sizeof path, "%s/x", kept_file);
    mkdir(kept_file, 0755); /* a folder cannot be replaced by a file */
    mkdir(path, 0755);
    static const struct sql_text more[] = {{"9001_one", "CREATE TABLE upgraded (id INTEGER PRIMARY KEY) STRICT;"}};
    assert_false(upgrade(more, 1));
    assert_non_null(strstr(err.text, "the catalog was not upgraded"));
    assert_int_equal(number("PRAGMA user_version"), sql_migrations_count);
    rmdir(path);
    rmdir(kept_file);
}

/* ---- tables of others */

static void refused(const char *text) {
    struct catalog *opened = catalog_open_upgrading(DB_FILE, &err);
    assert_null(opened);
    assert_int_equal(err.code, strstr(text, "newer") ? REEL_UNSUPPORTED : REEL_CATALOG);
    assert_non_null(strstr(err.text, text));
    assert_null(catalog_open_readonly(DB_FILE, &err));
    assert_non_null(strstr(err.text, text));
}

static void an_older_program_refuses_a_newer_catalog(void **state) {
    (void)state;
    static const struct sql_text more[] = {{"9001_one", "CREATE TABLE upgraded (id INTEGER PRIMARY KEY) STRICT;"}};
    assert_true(upgrade(more, 1));
    refused("was made by a newer program");
}

static void an_older_catalog_is_upgraded_only_where_that_is_meant(void **state) {
    (void)state;
    static const struct sql_text more[] = {{"9001_one", "CREATE TABLE upgraded (id INTEGER PRIMARY KEY) STRICT;"}};
    struct db *db = open_with(more, 1);
    uint64_t version, newest;
    assert_false(db_migrate(db, &(struct db_upgrade){.report = listen}, &err));
    assert_non_null(strstr(err.text, "reel upgrade"));
    assert_false(db_is_current(db, &err));
    assert_true(db_versions(db, &version, &newest, &err));
    assert_int_equal(version, sql_migrations_count);
    assert_int_equal(newest, sql_migrations_count + 1);
    db_close(db);
    assert_int_equal(number("PRAGMA user_version"), sql_migrations_count);
}

static void tables_that_somebody_changed_are_refused(void **state) {
    (void)state;
    execute("DROP TABLE saved");
    refused("the tables of the catalog are not those of version");
    assert_non_null(strstr(err.text, "reel fsck --rebuild"));
}

static void the_same_number_of_another_history_is_refused(void **state) {
    (void)state;
    execute("UPDATE maintenance SET value = replace(value, substr(value, 1, 8), '00000000') WHERE key = 'migrations'");
    refused("the tables of the catalog are not those of version");
}

static void a_catalog_without_checksums_is_compared(void **state) {
    (void)state;
    execute("DELETE FROM maintenance WHERE key IN ('migrations', 'schema')");
    c = catalog_open_readonly(DB_FILE, &err);
    assert_non_null(c);
    catalog_close(c);
    c = catalog_open(DB_FILE, &err);
    assert_non_null(c);
    catalog_close(c);
    assert_int_equal(number("SELECT count(*) FROM maintenance WHERE key IN ('migrations', 'schema')"), 2);
    execute("DELETE FROM maintenance; ALTER TABLE saved RENAME COLUMN author TO writer");
    refused("the tables of the catalog are not those of version");
    execute("DROP TABLE maintenance"); /* as in a version of long ago */
    refused("the tables of the catalog are not those of version");
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, fill, done)
    const struct CMUnitTest tests[] = {
        TEST(a_move_takes_every_table),
        TEST(a_table_is_replaced_and_nothing_is_lost),
        TEST(foreign_keys_are_enforced_afterwards),
        TEST(a_step_that_fails_changes_nothing_and_the_one_before_stays),
        TEST(rows_that_would_refer_to_nothing_are_refused),
        TEST(an_upgrade_that_was_killed_continues),
        TEST(copies_of_the_last_three_versions_are_kept),
        TEST(without_a_copy_nothing_is_upgraded),
        TEST(an_older_program_refuses_a_newer_catalog),
        TEST(an_older_catalog_is_upgraded_only_where_that_is_meant),
        TEST(tables_that_somebody_changed_are_refused),
        TEST(the_same_number_of_another_history_is_refused),
        TEST(a_catalog_without_checksums_is_compared),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
