/* The cache of the catalog: an entry is valid for one version, of whichever process the commit was; bounds; what is
 * reserved for authentication. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "access/token.h"
#include "base/cleanup.h"
#include "catalog/catalog_cache.h"
#include "catalog/notes.h"
#include "makers/catalog_fixture.h"
#include "reel/time.h"

static const int64_t SECOND_NS = 1000000000;

static void tag(struct catalog *by, const char *id, const char *value) {
    struct catalog_tag tag = {.key = (char *)"robot", .value = (char *)value};
    bool changed;
    assert_true(catalog_change(by, id, &(struct catalog_change){.tags = &tag, .n_tags = 1}, &changed, &err));
    assert_true(changed);
}

static void each_commit_makes_another_version(void **state) {
    (void)state;
    char id[RECORDING_ID_TEXT];
    uint64_t before = db_version(c->db), after;
    assert_int_equal(db_version(c->db), before);
    assert_true(put("lab", "a", '1', false, id));
    after = db_version(c->db);
    assert_int_not_equal(after, before);
    assert_int_equal(db_version(c->db), after);
    struct catalog *other = catalog_open(DB_FILE, &err); /* as another process would */
    assert_non_null(other);
    before = db_version(c->db);
    for (int i = 0; i < 100; i++) {
        tag(other, id, i % 2 ? "r1" : "r2");
        assert_int_not_equal(after = db_version(c->db), before);
        before = after;
    }
    catalog_close(other);
}

static void assert_tag(const char *id, const char *value) {
    struct catalog_recording got;
    assert_true(catalog_get(c, id, &got, &err));
    assert_string_equal(catalog_annotations_tag(&got.annotations, "robot"), value);
    catalog_recording_done(&got);
}

static void what_others_commit_is_seen_at_once(void **state) {
    (void)state;
    char id[RECORDING_ID_TEXT];
    assert_true(put("lab", "a", '1', false, id));
    struct catalog *other = catalog_open(DB_FILE, &err);
    for (int i = 0; i < 100; i++) {
        tag(other, id, i % 2 ? "r1" : "r2");
        assert_tag(id, i % 2 ? "r1" : "r2");
        assert_tag("name:lab/a", i % 2 ? "r1" : "r2");
    }
    catalog_close(other);
}

static void assert_answer(const char *id, const char *text) {
    struct catalog_recording row;
    assert_true(catalog_get(c, id, &row, &err));
    AUTO_MEM char *got = catalog_answer(c, id, &row);
    if (text) {
        assert_string_equal(got, text);
    } else {
        assert_null(got);
        catalog_keep_answer(c, id, &row, "made");
    }
    catalog_recording_done(&row);
}

static void an_answer_is_of_one_row(void **state) {
    (void)state;
    char id[RECORDING_ID_TEXT], other[RECORDING_ID_TEXT];
    assert_true(put("lab", "a", '1', false, id));
    assert_answer(id, NULL);
    assert_answer(id, "made");
    assert_true(put("lab", "b", '2', false, other)); /* another version of the catalog, the same row */
    assert_answer(id, "made");
    tag(c, id, "r1");
    assert_answer(id, NULL);
    assert_answer(id, "made");
    assert_true(catalog_trash(c, id, &err));
    assert_answer(id, NULL);
}

/* ---- bounds */

static struct catalog_cache_key key_of(enum cache_kind kind, const uint64_t *number) {
    return (struct catalog_cache_key){.kind = kind, .prefix = "", .data = number, .size = sizeof *number};
}

static void unknown_tokens_displace_no_others(void **state) {
    (void)state;
    struct catalog_cache *cache = catalog_cache_new(&err);
    struct token t = {.row = 7, .name = (char *)"robot", .collections = (char *)"[]"}, got;
    uint64_t number = UINT64_MAX;
    const struct catalog_cache_key key = key_of(CACHE_TOKEN, &number);
    catalog_cache_keep(cache, &key, 1, &t);
    size_t few = catalog_cache_bytes(cache);
    for (uint64_t i = 0; i < 20000; i++) {
        const struct catalog_cache_key absent = key_of(CACHE_ABSENT, &i);
        catalog_cache_keep(cache, &absent, 1, NULL);
        assert_true(catalog_cache_find(cache, &absent, 1, NULL));
        assert_false(catalog_cache_find(cache, &absent, 2, NULL));
    }
    assert_true(catalog_cache_find(cache, &key, 1, &got));
    assert_int_equal(got.row, 7);
    token_done(&got);
    assert_false(catalog_cache_find(cache, &key, 2, &got));
    assert_true(catalog_cache_bytes(cache) < few + (64 << 10));
    catalog_cache_free(cache);
}

static void entries_have_a_bound_in_bytes(void **state) {
    (void)state;
    enum { LONG = 48 << 10 };
    struct catalog_cache *cache = catalog_cache_new(&err);
    AUTO_MEM char *text = malloc(CACHE_ENTRY_MAX + 1);
    struct catalog_part part;
    struct catalog_recording r = describe(&part, "lab", "a", '1'), got;
    r.annotations.description = text;
    for (uint64_t i = 0; i < 2000; i++) {
        const struct catalog_cache_key key = key_of(CACHE_RECORDING, &i);
        memset(text, 'x', LONG);
        text[LONG] = '\0';
        catalog_cache_keep(cache, &key, 1, &r);
        assert_true(catalog_cache_find(cache, &key, 1, &got));
        catalog_recording_done(&got);
        catalog_cache_keep_answer(cache, &key, &r, text); /* too much for one entry */
        assert_null(catalog_cache_find_answer(cache, &key, &r));
        text[8 << 10] = '\0';
        catalog_cache_keep_answer(cache, &key, &r, text);
        AUTO_MEM char *answer = catalog_cache_find_answer(cache, &key, &r);
        assert_string_equal(answer, text);
        assert_true(catalog_cache_bytes(cache) <= CACHE_BYTES_MAX);
    }
    assert_true(catalog_cache_bytes(cache) > CACHE_BYTES_MAX / 2);
    uint64_t number = 2000;
    const struct catalog_cache_key key = key_of(CACHE_RECORDING, &number);
    memset(text, 'x', CACHE_ENTRY_MAX);
    text[CACHE_ENTRY_MAX] = '\0';
    catalog_cache_keep(cache, &key, 1, &r);
    assert_false(catalog_cache_find(cache, &key, 1, &got));
    catalog_cache_free(cache);
}

/* ---- tokens */

static void make_token(const char *name, uint8_t hash[TOKEN_HASH], struct token *out) {
    char text[TOKEN_TEXT];
    assert_true(
        token_create(c, &(struct token_options){.name = name, .role = "read", .expires = "30d"}, text, out, &err));
    token_hash(text, hash);
}

static enum token_state state_by(bool (*by)(struct catalog *c, const uint8_t hash[TOKEN_HASH], struct token *out,
                                            struct reel_error *err),
                                 const uint8_t hash[TOKEN_HASH], int64_t in_ns) {
    struct token found;
    assert_true(by(c, hash, &found, &err));
    enum token_state state = token_state(&found, reel_now_ns() + in_ns);
    token_done(&found);
    return state;
}

static void a_token_ends_at_once(void **state) {
    (void)state;
    struct catalog *other = catalog_open(DB_FILE, &err);
    for (int i = 0; i < 50; i++) {
        uint8_t hash[TOKEN_HASH];
        char name[16];
        struct token t;
        snprintf(name, sizeof name, "robot%d", i);
        make_token(name, hash, &t);
        assert_int_equal(state_by(catalog_token_by_hash, hash, 0), TOKEN_GOOD);
        assert_int_equal(state_by(catalog_token_by_hash, hash, 0), TOKEN_GOOD);
        assert_int_equal(state_by(catalog_token_by_hash, hash, 31 * 86400 * SECOND_NS), TOKEN_EXPIRED);
        assert_true(catalog_token_revoke(i % 2 ? other : c, t.row, &err));
        assert_int_equal(state_by(catalog_token_by_hash, hash, 0), TOKEN_REVOKED);
        token_done(&t);
    }
    catalog_close(other);
}

static void a_login_ends_with_its_time(void **state) {
    (void)state;
    uint8_t hash[TOKEN_HASH], logins[2][TOKEN_HASH] = {{1}, {2}};
    struct token t, found;
    make_token("robot", hash, &t);
    assert_false(catalog_token_by_login(c, logins[0], &found, &err)); /* also cached: it must not hide the login */
    assert_true(catalog_login_add(c, logins[0], t.row, reel_now_ns() + 3600 * SECOND_NS, &err));
    assert_true(catalog_login_add(c, logins[1], t.row, INT64_MAX, &err));
    for (int i = 0; i < 2; i++) {
        assert_int_equal(state_by(catalog_token_by_login, logins[0], 0), TOKEN_GOOD);
        assert_int_equal(state_by(catalog_token_by_login, logins[0], 7200 * SECOND_NS), TOKEN_EXPIRED);
        assert_int_equal(state_by(catalog_token_by_login, logins[1], 7200 * SECOND_NS), TOKEN_GOOD);
        assert_int_equal(state_by(catalog_token_by_login, logins[1], 31 * 86400 * SECOND_NS), TOKEN_EXPIRED);
    }
    assert_true(catalog_login_remove(c, logins[0], &err));
    assert_false(catalog_token_by_login(c, logins[0], &found, &err));
    assert_int_equal(err.code, REEL_NOT_FOUND);
    assert_true(catalog_token_revoke(c, t.row, &err));
    assert_int_equal(state_by(catalog_token_by_login, logins[1], 0), TOKEN_REVOKED);
    token_done(&t);
}

static void the_first_token_is_seen_at_once(void **state) {
    (void)state;
    uint8_t hash[TOKEN_HASH];
    struct token t;
    bool exist = true;
    for (int i = 0; i < 2; i++) {
        assert_true(catalog_tokens_exist(c, &exist, &err));
        assert_false(exist);
    }
    make_token("robot", hash, &t);
    assert_true(catalog_tokens_exist(c, &exist, &err));
    assert_true(exist);
    token_done(&t);
}

/* ---- connections */

static void readers_in_use_do_not_stop_authentication(void **state) {
    (void)state;
    struct db_handle *held[DB_READERS_MAX];
    uint8_t hash[TOKEN_HASH], unknown[TOKEN_HASH] = {0};
    struct token t, found;
    make_token("robot", hash, &t);
    for (int i = 0; i < DB_READERS_MAX; i++) {
        assert_non_null(held[i] = db_read(c->db, &err));
    }
    assert_true(catalog_ready(c));
    assert_int_equal(state_by(catalog_token_by_hash, hash, 0), TOKEN_GOOD);
    assert_false(catalog_token_by_hash(c, unknown, &found, &err));
    assert_int_equal(err.code, REEL_NOT_FOUND);
    for (int i = 0; i < DB_READERS_MAX; i++) {
        db_end(held[i]);
    }
    token_done(&t);
}

#define T(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        T(each_commit_makes_another_version),
        T(what_others_commit_is_seen_at_once),
        T(an_answer_is_of_one_row),
        T(unknown_tokens_displace_no_others),
        T(entries_have_a_bound_in_bytes),
        T(a_token_ends_at_once),
        T(a_login_ends_with_its_time),
        T(the_first_token_is_seen_at_once),
        T(readers_in_use_do_not_stop_authentication),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
