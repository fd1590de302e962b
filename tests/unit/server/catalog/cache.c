/* The cache of the catalog: an entry is valid for one version, of whichever process the commit was; bounds; what is
 * reserved for authentication. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <pthread.h>
#include <stdatomic.h>

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
    AUTO_MEM char *got = catalog_answer(c, id, &row, 0);
    if (text) {
        assert_string_equal(got, text);
    } else {
        assert_null(got);
        catalog_keep_answer(c, id, &row, 0, "made");
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

static char *answer_with(const char *id, uint32_t definitions, const char *keep) {
    struct catalog_recording row;
    assert_true(catalog_get(c, id, &row, &err));
    if (keep) {
        catalog_keep_answer(c, id, &row, definitions, keep);
    }
    char *got = catalog_answer(c, id, &row, definitions);
    catalog_recording_done(&row);
    return got;
}

/* A request that began before the definitions changed ends after it. */
static void an_answer_is_of_its_definitions(void **state) {
    (void)state;
    char id[RECORDING_ID_TEXT];
    assert_true(put("lab", "defined", '3', false, id));
    AUTO_MEM char *old = answer_with(id, 1, "old"), *none = answer_with(id, 2, NULL), *new = answer_with(id, 2, "new"),
                  *after = answer_with(id, 2, NULL), *late = answer_with(id, 1, NULL);
    assert_string_equal(old, "old");
    assert_null(none);
    assert_string_equal(new, "new");
    assert_string_equal(after, "new");
    assert_null(late);
}

/* ---- bounds */

struct text { /* a value */
    char *text;
};

static size_t text_bytes(const void *value) {
    return strlen(((const struct text *)value)->text) + 1;
}
static bool text_copy(const void *from, void *to) {
    char *copy = strdup(((const struct text *)from)->text);
    *(struct text *)to = (struct text){copy};
    return copy;
}
static void text_done(void *value) {
    free(((struct text *)value)->text);
}
static bool text_same(const void *a, const void *b) {
    return strcmp(((const struct text *)a)->text, ((const struct text *)b)->text) == 0;
}
static const struct catalog_cache_kind text_kind = {CACHE_TOKEN, sizeof(struct text), text_bytes,
                                                    text_copy,   text_done,           text_same};

static struct catalog_cache_key key_of(const uint64_t *number) {
    return (struct catalog_cache_key){.kind = &text_kind, .prefix = "", .data = number, .size = sizeof *number};
}

static void what_is_absent_displaces_no_values(void **state) {
    (void)state;
    struct catalog_cache *cache = catalog_cache_new(&err);
    struct text got;
    uint64_t number = UINT64_MAX;
    const struct catalog_cache_key key = key_of(&number);
    catalog_cache_keep(cache, &key, 1, &(struct text){(char *)"robot"});
    size_t few = catalog_cache_bytes(cache);
    for (uint64_t i = 0; i < 20000; i++) {
        const struct catalog_cache_key absent = key_of(&i);
        catalog_cache_keep(cache, &absent, 1, NULL);
        assert_true(catalog_cache_find(cache, &absent, 1, NULL));
        assert_false(catalog_cache_find(cache, &absent, 2, NULL));
        assert_false(catalog_cache_find(cache, &absent, 1, &got));
    }
    assert_true(catalog_cache_find(cache, &key, 1, &got));
    assert_string_equal(got.text, "robot");
    text_done(&got);
    assert_false(catalog_cache_find(cache, &key, 1, NULL));
    assert_false(catalog_cache_find(cache, &key, 2, &got));
    assert_true(catalog_cache_bytes(cache) < few + (64 << 10));
    catalog_cache_free(cache);
}

static void entries_have_a_bound_in_bytes(void **state) {
    (void)state;
    enum { LONG = 48 << 10 };
    struct catalog_cache *cache = catalog_cache_new(&err);
    struct text value = {malloc(CACHE_ENTRY_MAX + 1)}, got;
    memset(value.text, 'x', CACHE_ENTRY_MAX);
    value.text[CACHE_ENTRY_MAX] = '\0';
    uint64_t i = 0;
    const struct catalog_cache_key key = key_of(&i);
    catalog_cache_keep(cache, &key, 1, &value);
    assert_false(catalog_cache_find(cache, &key, 1, &got));
    value.text[LONG] = '\0';
    for (; i < 4000; i++) {
        catalog_cache_keep(cache, &key, 1, &value);
        assert_true(catalog_cache_find(cache, &key, 1, &got));
        text_done(&got);
        catalog_cache_keep_answer(cache, &key, &value, 0, value.text); /* too much for one entry */
        assert_null(catalog_cache_find_answer(cache, &key, &value, 0));
        catalog_cache_keep_answer(cache, &key, &value, 0, "made");
        AUTO_MEM char *answer = catalog_cache_find_answer(cache, &key, &value, 0);
        assert_string_equal(answer, "made");
        assert_true(catalog_cache_bytes(cache) <= CACHE_BYTES_MAX);
    }
    assert_true(catalog_cache_bytes(cache) > CACHE_BYTES_MAX / 2);
    free(value.text);
    catalog_cache_free(cache);
}

/* ---- tokens */

static void make_token(const char *name, uint8_t hash[TOKEN_HASH], struct token *out) {
    char text[TOKEN_TEXT];
    const struct token_archive archive = {.data = REEL_SCRATCH, .catalog = c};
    assert_true(token_create(&archive, &(struct token_options){.name = name, .role = "admin", .expires = "30d"}, text,
                             out, &err));
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

/* ---- threads */

enum { READERS = 6, CHANGES = 300 };

struct shared { /* between the threads of a test */
    char id[RECORDING_ID_TEXT];
    atomic_int number, stop; /* number: of the last change that was committed */
};

static int number_of(const struct shared *s, struct reel_error *problem) {
    struct catalog_recording row;
    assert_true(catalog_get(c, s->id, &row, problem));
    const char *value = catalog_annotations_tag(&row.annotations, "robot");
    int number = value ? atoi(value) : 0;
    AUTO_MEM char *answer = catalog_answer(c, s->id, &row, 0);
    if (answer) {
        assert_int_equal(atoi(answer), number);
    } else {
        catalog_keep_answer(c, s->id, &row, 0, value ? value : "0");
    }
    catalog_recording_done(&row);
    return number;
}

static void *read_numbers(void *context) {
    struct shared *s = context;
    struct reel_error problem;
    while (!atomic_load(&s->stop)) {
        int least = atomic_load(&s->number);
        assert_true(number_of(s, &problem) >= least);
    }
    return NULL;
}

static void no_reader_sees_what_was_before_a_commit(void **state) {
    (void)state;
    struct shared s = {.stop = 0};
    pthread_t threads[READERS];
    assert_true(put("lab", "a", '1', false, s.id));
    for (int i = 0; i < READERS; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, read_numbers, &s), 0);
    }
    for (int i = 1; i <= CHANGES; i++) {
        char value[16];
        snprintf(value, sizeof value, "%d", i);
        tag(c, s.id, value);
        atomic_store(&s.number, i);
    }
    atomic_store(&s.stop, 1);
    for (int i = 0; i < READERS; i++) {
        pthread_join(threads[i], NULL);
    }
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
        T(an_answer_is_of_its_definitions),
        T(what_is_absent_displaces_no_values),
        T(entries_have_a_bound_in_bytes),
        T(a_token_ends_at_once),
        T(a_login_ends_with_its_time),
        T(the_first_token_is_seen_at_once),
        T(no_reader_sees_what_was_before_a_commit),
        T(readers_in_use_do_not_stop_authentication),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
