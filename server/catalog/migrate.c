/* Creating and upgrading the tables. Each migration is one transaction, which also records the new version: an upgrade
 * that is interrupted continues where it was at the next start.
 *
 * Two checksums are recorded in the table maintenance: 'migrations', of the texts of all migrations that were applied,
 * and 'schema', of the tables that they made. The first differs where the same number means other tables, the second
 * where somebody has changed them. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/digest.h"
#include "catalog/db_engine.h"

/* The lock that the servers of one PostgreSQL take to upgrade: the number after that of begin_writing (postgres.c). */
enum { UPGRADE_LOCK = 1382376813, UPGRADE_POLL_MS = 500 };
static const int64_t UPGRADE_WAIT_NS = INT64_C(600000000000);

static const char ADVICE[] = "run the program that made it, or rebuild it with reel fsck --rebuild";

struct tables {
    uint64_t version;
    bool recorded; /* their checksums are */
};

/* ---- checksums */

/* The size of the literal or quoted name at `p`; 1 where there is none. */
static size_t quoted_size(const char *p) {
    if (*p != '\'' && *p != '"') {
        return 1;
    }
    const char *end = strchr(p + 1, *p);
    return end ? (size_t)(end - p) + 1 : strlen(p);
}

/* Without comments, and any white space as one space: to edit those changes no table. */
static void add_normalised(struct digest *d, const char *sql) {
    bool space = false;
    for (const char *p = sql; *p;) {
        if (p[0] == '-' && p[1] == '-') {
            p += strcspn(p, "\n");
        } else if (strchr(" \t\r\n", *p)) {
            space = p++ != sql;
        } else {
            size_t n = quoted_size(p);
            digest_add(d, " ", space);
            digest_add(d, p, n);
            space = false;
            p += n;
        }
    }
    digest_add(d, "\n", 1);
}

static void migrations_sum(const struct db *db, uint64_t version, char out[SHA256_HEX]) {
    struct digest d;
    digest_start(&d, DIGEST_SHA256);
    for (uint64_t i = 0; i < version; i++) {
        add_normalised(&d, db->migrations[i].text);
    }
    digest_end_hex(&d, out);
}

static bool schema_sum(struct db_handle *h, char out[SHA256_HEX], struct reel_error *err) {
    AUTO(db_done) struct db_statement *s = db_compose(h, h->db->engine->schema, err);
    enum db_step step = DB_FAILED;
    struct digest d;
    digest_start(&d, DIGEST_SHA256);
    while (s && (step = db_next(s, err)) == DB_ROW) {
        add_normalised(&d, db_text(s, 0));
    }
    digest_end_hex(&d, out);
    return step == DB_END;
}

static bool write_sum(struct db_handle *h, const char *key, const char *value, struct reel_error *err) {
    AUTO(db_done) struct db_statement *s = db_statement(h, "maintenance_set", err);
    if (!s) {
        return false;
    }
    db_set_text(s, ":key", key);
    db_set_text(s, ":value", value);
    return db_run(s, err);
}

bool db_record(struct db_handle *h, uint64_t version, struct reel_error *err) {
    char migrations[SHA256_HEX], schema[SHA256_HEX];
    migrations_sum(h->db, version, migrations);
    return schema_sum(h, schema, err) && write_sum(h, "migrations", migrations, err) &&
           write_sum(h, "schema", schema, err) && h->db->engine->set_tables(h, version, err);
}

/* ---- checking */

/* "" where none is recorded, and where an unreleased version has no table for it. */
static bool read_sum(struct db_handle *h, const char *key, char out[SHA256_HEX], struct reel_error *err) {
    struct reel_error why = {0};
    AUTO(db_done) struct db_statement *s = db_statement(h, "maintenance_get", &why);
    out[0] = '\0';
    if (s) {
        db_set_text(s, ":key", key);
        if (db_next(s, &why) == DB_ROW) {
            snprintf(out, SHA256_HEX, "%s", db_text(s, 0));
        }
    }
    return why.code == REEL_OK || why.code == REEL_IO || reel_error_pass(err, &why);
}

static bool run_scripts(struct db_handle *h, uint64_t version, struct reel_error *err) {
    for (uint64_t i = 0; i < version; i++) {
        const struct sql_text *m = &h->db->migrations[i];
        if (!h->db->engine->script(h, m->text, err)) {
            return reel_error_at(err, "migration %s", m->name);
        }
    }
    return true;
}

bool db_create(struct db_handle *h, struct reel_error *err) {
    return run_scripts(h, h->db->n_migrations, err);
}

/* Of the tables that the migrations make, which are created once more and rolled back. */
static bool expected_sum(struct db *db, uint64_t version, char out[SHA256_HEX], struct reel_error *err) {
    AUTO(db_close) struct db *memory = db->engine->scratch ? NULL : db_open(":memory:", err);
    if (!db->engine->scratch && !memory) {
        return false;
    }
    if (memory) {
        memory->migrations = db->migrations;
    }
    AUTO(db_end) struct db_handle *h = db_write(memory ? memory : db, err);
    return h && (memory || db->engine->script(h, db->engine->scratch, err)) && run_scripts(h, version, err) &&
           schema_sum(h, out, err);
}

static bool refuse_tables(const struct db *db, uint64_t version, struct reel_error *err) {
    return reel_fail(err, REEL_CATALOG,
                     "the tables of the catalog are not those of version %llu (%s) of this program: an unreleased "
                     "version made them, or somebody has changed them; %s",
                     (unsigned long long)version, db->migrations[version - 1].name, ADVICE);
}

/* A catalog without checksums was made before 1.0.0; its tables are compared with those that the migrations make. */
static bool check_sums(struct db_handle *h, struct tables *t, struct reel_error *err) {
    char migrations[SHA256_HEX], schema[SHA256_HEX], expected[SHA256_HEX], found[SHA256_HEX];
    if (!read_sum(h, "migrations", migrations, err) || !read_sum(h, "schema", schema, err)) {
        return false;
    }
    t->recorded = migrations[0] && schema[0];
    migrations_sum(h->db, t->version, expected);
    if (t->recorded && strcmp(migrations, expected) != 0) {
        return refuse_tables(h->db, t->version, err);
    }
    if (!t->recorded && h->db->readonly && h->db->engine->scratch) {
        return true; /* the start of a server compares them */
    }
    if (!t->recorded && !expected_sum(h->db, t->version, schema, err)) {
        return false;
    }
    return schema_sum(h, found, err) && (strcmp(found, schema) == 0 || refuse_tables(h->db, t->version, err));
}

static bool read_version(struct db_handle *h, uint64_t *version, struct reel_error *err) {
    const struct db *db = h->db;
    return db->engine->tables(h, version, err) &&
           (*version <= db->n_migrations ||
            reel_fail(err, REEL_UNSUPPORTED,
                      "the catalog has version %llu and was made by a newer program; this one supports versions up to "
                      "%zu: start the newer program, or restore the catalog of before the upgrade",
                      (unsigned long long)*version, db->n_migrations));
}

bool db_check_version(struct db *db, struct reel_error *err) {
    uint64_t version;
    AUTO(db_end) struct db_handle *h = db_read(db, err);
    return h && read_version(h, &version, err);
}

static bool read_tables(struct db *db, struct tables *t, struct reel_error *err) {
    *t = (struct tables){.recorded = true};
    AUTO(db_end) struct db_handle *h = db_read(db, err);
    return h && read_version(h, &t->version, err) && (t->version == 0 || check_sums(h, t, err));
}

static bool refuse_older(const struct db *db, const struct tables *t, struct reel_error *err) {
    return reel_fail(err, REEL_UNSUPPORTED,
                     "the catalog has version %llu, this program uses version %zu: starting the server upgrades it, or "
                     "reel upgrade",
                     (unsigned long long)t->version, db->n_migrations);
}

bool db_versions(struct db *db, uint64_t *version, uint64_t *newest, struct reel_error *err) {
    struct tables t;
    bool good = read_tables(db, &t, err);
    *version = t.version;
    *newest = db->n_migrations;
    return good;
}

bool db_is_current(struct db *db, struct reel_error *err) {
    struct tables t;
    return read_tables(db, &t, err) && (t.version == db->n_migrations || refuse_older(db, &t, err));
}

/* ---- upgrading */

__attribute__((format(printf, 2, 3))) static void report(const struct db_upgrade *u, const char *format, ...) {
    char line[PATH_MAX + 200];
    va_list values;
    va_start(values, format);
    vsnprintf(line, sizeof line, format, values);
    va_end(values);
    if (u->report) {
        u->report(u->context, line);
    }
}

/* With foreign keys off, a migration that replaces a table could leave rows that refer to nothing. */
static bool check_references(struct db_handle *h, struct reel_error *err) {
    if (db_is_postgres(h)) {
        return true;
    }
    AUTO(db_done)
    struct db_statement *s = db_compose(h, "SELECT \"table\", parent FROM pragma_foreign_key_check LIMIT 1", err);
    enum db_step step = s ? db_next(s, err) : DB_FAILED;
    return step == DB_END || (step == DB_ROW && reel_fail(err, REEL_CATALOG, "rows of %s refer to rows that %s lacks",
                                                          db_text(s, 0), db_text(s, 1)));
}

/* One migration, unless another process has applied it meanwhile. */
static bool run_step(struct db *db, uint64_t i, struct reel_error *err) {
    const struct sql_text *m = &db->migrations[i];
    uint64_t version;
    AUTO(db_end) struct db_handle *h = db_write(db, err);
    if (!h || !db->engine->tables(h, &version, err)) {
        return false;
    }
    if (version > i) {
        return true;
    }
    return (db_patient(h, err) && db->engine->script(h, m->text, err) && check_references(h, err) &&
            db_record(h, i + 1, err) && db_commit(h, err)) ||
           reel_error_at(err, "migration %s", m->name);
}

static bool record_only(struct db *db, uint64_t version, struct reel_error *err) {
    AUTO(db_end) struct db_handle *h = db_write(db, err);
    return h && db_record(h, version, err) && db_commit(h, err);
}

static bool keep_old(struct db *db, uint64_t version, const struct db_upgrade *u, struct reel_error *err) {
    char path[PATH_MAX];
    report(u, "upgrading the catalog from version %llu to %zu", (unsigned long long)version, db->n_migrations);
    if (!db->engine->keep) {
        report(u, "PostgreSQL keeps no copy of the older catalog: only a backup made before leads back");
        return true;
    }
    if (!db->engine->keep(db, version, path, err)) {
        return reel_error_at(err, "the catalog was not upgraded, as it could not be copied before");
    }
    report(u, "the catalog of version %llu is kept as %s", (unsigned long long)version, path);
    return true;
}

static bool run_steps(struct db *db, uint64_t version, const struct db_upgrade *u, struct reel_error *err) {
    bool good = !db->engine->enforce || db->engine->enforce(db, false, err);
    for (uint64_t i = version; good && i < db->n_migrations; i++) {
        if (version > 0) {
            report(u, "migration %s", db->migrations[i].name);
        }
        good = run_step(db, i, err);
    }
    struct reel_error why;
    bool restored = !db->engine->enforce || db->engine->enforce(db, true, &why);
    return good && (restored || reel_error_pass(err, &why));
}

/* While the lock of upgrades is held. */
static bool upgrade_tables(struct db *db, const struct db_upgrade *u, struct reel_error *err) {
    struct tables t;
    if (!read_tables(db, &t, err)) {
        return false;
    }
    if (t.version == db->n_migrations) {
        return t.recorded || record_only(db, t.version, err);
    }
    return (t.version == 0 || keep_old(db, t.version, u, err)) && run_steps(db, t.version, u, err);
}

/* Servers that are started at once wait for the first of them. */
static bool take_lock(struct db *db, const struct db_upgrade *u, struct reel_error *err) {
    const struct timespec pause = {.tv_nsec = UPGRADE_POLL_MS * INT64_C(1000000)};
    bool got = false, waits = false;
    for (int64_t until = clock_ns() + UPGRADE_WAIT_NS; clock_ns() < until; nanosleep(&pause, NULL)) {
        if (!db_lock_try(db, UPGRADE_LOCK, &got, err) || got) {
            return got;
        }
        if (!waits) {
            report(u, "another server is upgrading the catalog; waiting for it, at most 10 minutes");
            waits = true;
        }
    }
    return reel_fail(err, REEL_BUSY,
                     "another server has been upgrading the catalog for 10 minutes; start this one "
                     "again when that one has finished");
}

bool db_migrate(struct db *db, const struct db_upgrade *u, struct reel_error *err) {
    struct tables t;
    if (!read_tables(db, &t, err)) {
        return false;
    }
    if (t.version == db->n_migrations && t.recorded) {
        return true;
    }
    if (t.version > 0 && t.version < db->n_migrations && !u->allowed) {
        return refuse_older(db, &t, err);
    }
    if (!take_lock(db, u, err)) {
        return false;
    }
    bool good = upgrade_tables(db, u, err);
    db_unlock(db, UPGRADE_LOCK);
    return good;
}
