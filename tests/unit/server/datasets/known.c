/* Which dataset a definition is now: for one version of the catalog, and no longer than a search may be relative to the
 * time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "datasets/layout_internal.h"
#include "makers/catalog_fixture.h"

static struct known_datasets *known;

static int open_both(void **state) {
    known = known_datasets_new(&err);
    return known ? set_up(state) : -1;
}
static int close_both(void **state) {
    known_datasets_free(known);
    return tear_down(state);
}

static struct known_key key(const char *name, uint64_t version) {
    struct known_key k = {.version = version};
    snprintf(k.name, sizeof k.name, "%s", name);
    return k;
}
static void keep(const char *name, uint64_t version, const char *sha) {
    const struct known_key k = key(name, version);
    char text[SHA1_HEX];
    snprintf(text, sizeof text, "%-40s", sha);
    known_keep(known, &k, text);
}
/* sha NULL: it is not known. */
static void assert_known(const char *name, uint64_t version, const char *sha) {
    const struct known_key k = key(name, version);
    char found[SHA1_HEX], text[SHA1_HEX];
    snprintf(text, sizeof text, "%-40s", sha ? sha : "");
    assert_int_equal(known_find(known, &k, found), sha != NULL);
    assert_true(!sha || strcmp(found, text) == 0);
}

static void it_is_known_for_one_version(void **state) {
    (void)state;
    assert_known("a", 1, NULL);
    keep("a", 1, "one");
    assert_known("a", 1, "one");
    assert_known("a", 2, NULL);
    assert_known("b", 1, NULL);
    keep("a", 2, "two");
    assert_known("a", 2, "two");
    assert_known("a", 1, NULL);
}

static void the_oldest_make_room(void **state) {
    char name[16];
    (void)state;
    for (unsigned i = 0; i < DATASETS_KNOWN_MAX + 3; i++) {
        snprintf(name, sizeof name, "%u", i);
        keep(name, 1, name);
    }
    for (unsigned i = 0; i < DATASETS_KNOWN_MAX + 3; i++) {
        snprintf(name, sizeof name, "%u", i);
        assert_known(name, 1, i < 3 ? NULL : name);
    }
}

static void without_a_name_nothing_is_known(void **state) {
    (void)state;
    keep("", 1, "one");
    assert_known("", 1, NULL);
}

/* All in the request that decides, and a commit, give another key. */
static void the_key_is_of_the_request_and_the_catalog(void **state) {
    static const char *const allowed[] = {"lab", NULL}, *const others[] = {"field", NULL}, *const none[] = {NULL};
    json_t *value = json_pack("{s:i}", "fps", 10), *other = json_pack("{s:i}", "fps", 11);
    struct app app = {.catalog = c};
    const struct layout_request requests[] = {
        {.value = value},
        {.value = other},
        {.value = value, .max = 20},
        {.value = value, .allowed = allowed},
        {.value = value, .allowed = others},
        {.value = value, .allowed = none},
    };
    (void)state;
    for (size_t i = 0; i < sizeof requests / sizeof *requests; i++) {
        for (size_t k = 0; k < sizeof requests / sizeof *requests; k++) {
            const struct known_key a = made_known_key(&app, &requests[i]), b = made_known_key(&app, &requests[k]);
            assert_int_equal(strcmp(a.name, b.name) == 0, i == k);
            assert_true(a.version == b.version);
        }
    }
    const struct known_key before = made_known_key(&app, &requests[0]);
    assert_true(put("lab", "a.bag", '1', false, NULL));
    const struct known_key after = made_known_key(&app, &requests[0]);
    assert_string_equal(before.name, after.name);
    assert_true(before.version != after.version);
    json_decref(value);
    json_decref(other);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(it_is_known_for_one_version, open_both, close_both),
        cmocka_unit_test_setup_teardown(the_oldest_make_room, open_both, close_both),
        cmocka_unit_test_setup_teardown(without_a_name_nothing_is_known, open_both, close_both),
        cmocka_unit_test_setup_teardown(the_key_is_of_the_request_and_the_catalog, open_both, close_both),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
