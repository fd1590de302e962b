/* catalog/postgres/translate.c: SQL that is written for SQLite, as PostgreSQL takes it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "base/cleanup.h"
#include "catalog/postgres/postgres.h"

static struct reel_error err;

static void expect(const char *sqlite, const char *postgres, const char *names) {
    struct pg_text *text = pg_translate(sqlite, &err);
    char all[200] = "";
    assert_non_null(text);
    assert_string_equal(text->sql, postgres);
    for (uint16_t i = 0; i < text->n_names; i++) {
        strcat(strcat(all, i ? " " : ""), text->names[i]);
    }
    assert_string_equal(all, names);
    pg_text_free(text);
}

static void parameters_get_numbers(void **state) {
    (void)state;
    expect("SELECT :b, :a WHERE x = :b", "SELECT $1, $2 WHERE x = $1", ":b :a");
    expect("SELECT ':a', \":b\", 'it''s :c' -- :d\nFROM t", "SELECT ':a', \":b\", 'it''s :c'   FROM t", "");
    expect("", "", "");
}

static void what_only_sqlite_has(void **state) {
    (void)state;
    expect("SELECT a FROM t INDEXED BY t_by_a WHERE +t.a = 1", "SELECT a FROM t  WHERE t.a = 1", "");
    expect("FROM t AS r NOT INDEXED WHERE NOT (+a.b IN (1)) AND (a + b) > -1",
           "FROM t AS r  WHERE NOT (a.b IN (1)) AND (a + b) > -1", "");
    expect("a CROSS JOIN b ON b.x = a.x", "a  JOIN b ON b.x = a.x", "");
    expect("CAST(x AS INTEGER) + integers", "CAST(x AS int8) + integers", "");
    expect("x = x'00fF' AND xx = 'x'", "x = '\\x00fF'::bytea AND xx = 'x'", "");
    expect("x {in ints :rows} OR y {in texts :names} '{}'", "x = ANY (ints_of($1)) OR y = ANY (texts_of($2)) '{}'",
           ":rows :names");
}

static void functions_of_ours_become_parameters(void **state) {
    (void)state;
    expect("VALUES (:row, search_text(:name, :collection))", "VALUES ($1, $4)", ":row :name :collection call0");
    struct pg_text *text = pg_translate("SELECT search_needle(:word, :phrase), search_text(:word)", &err);
    assert_non_null(text);
    assert_string_equal(text->sql, "SELECT $3, $4");
    assert_int_equal(text->n_calls, 2);
    assert_string_equal(text->calls[0].sql, "SELECT search_needle(?, CAST(? AS INTEGER))");
    assert_string_equal(text->calls[1].sql, "SELECT search_text(?)");
    assert_int_equal(text->calls[0].n_arguments, 2);
    assert_int_equal(text->calls[1].n_arguments, 1);
    assert_int_equal(text->calls[1].arguments[0], 0);
    pg_text_free(text);
    assert_null(pg_translate("SELECT search_text(r.name)", &err)); /* of a column: the statement needs one of its own */
    assert_int_equal(err.code, REEL_UNSUPPORTED);
}

/* Each statement is translated, and there is none for PostgreSQL that no one asks for. */
static void every_statement_is_translated(void **state) {
    (void)state;
    for (size_t i = 0; i < sql_statements_count; i++) {
        size_t other = db_find(sql_postgres_statements, sql_postgres_statements_count, sql_statements[i].name);
        struct pg_text *text =
            pg_translate(other == SIZE_MAX ? sql_statements[i].text : sql_postgres_statements[other].text, &err);
        if (!text) {
            fail_msg("%s: %s", sql_statements[i].name, err.text);
        }
        pg_text_free(text);
    }
    for (size_t i = 0; i < sql_postgres_statements_count; i++) {
        assert_true(db_find(sql_statements, sql_statements_count, sql_postgres_statements[i].name) != SIZE_MAX);
    }
    assert_int_equal(sql_migrations_count, sql_postgres_migrations_count);
}

static void passwords_are_refused(void **state) {
    (void)state;
    assert_true(pg_check_address("postgresql://reel@db.lab:5432/reel?sslmode=verify-full", &err));
    static const char *const bad[] = {"postgresql://reel:secret@db.lab/reel",
                                      "postgresql://db.lab/reel?password=secret", "postgresql://reel:secret@[::1",
                                      "postgresql://reel@db/reel?nothing=secret"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_false(pg_check_address(bad[i], &err));
        assert_int_equal(err.code, REEL_ARGUMENT);
        assert_null(strstr(err.text, "secret"));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parameters_get_numbers),
        cmocka_unit_test(what_only_sqlite_has),
        cmocka_unit_test(functions_of_ours_become_parameters),
        cmocka_unit_test(every_statement_is_translated),
        cmocka_unit_test(passwords_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
