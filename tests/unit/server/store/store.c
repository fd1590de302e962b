/* The store: uploads become blobs by content, whole or not at all; manifests; derived files stay bounded. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "catalog/catalog.h"
#include "manifests/manifest_entry.h"
#include "store/inspect.h"
#include "store/manifest.h"
#include "store/reference.h"
#include "store/store_internal.h"

#define DATA REEL_SCRATCH "/store"
#define ABC "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" /* SHA-256 of "abc" */

static struct store *store;
static struct reel_error err;

static int remove_one(const char *path, const struct stat *st, int flag, struct FTW *where) {
    (void)st;
    (void)flag;
    (void)where;
    return remove(path);
}
static int set_up(void **state) {
    (void)state;
    nftw(DATA, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    store = store_open(DATA, &err);
    return store ? 0 : -1;
}
static int tear_down(void **state) {
    (void)state;
    store_close(store);
    return 0;
}

static unsigned files_in(const char *folder) {
    DIR *d = opendir(folder);
    unsigned n = 0;
    for (struct dirent *e; d && (e = readdir(d));) {
        n += e->d_name[0] != '.';
    }
    if (d) {
        closedir(d);
    }
    return n;
}

static struct store_upload *upload(const void *data, size_t size, size_t step, char sha256[65]) {
    uint64_t written;
    struct store_upload *u = store_upload_begin(store, &err);
    assert_non_null(u);
    for (size_t at = 0; at < size; at += step) {
        assert_true(store_upload_write(u, (const char *)data + at, size - at < step ? size - at : step, &err));
    }
    assert_true(store_upload_finish(u, sha256, &written, &err));
    assert_int_equal(written, size);
    return u;
}

static void an_upload_becomes_a_blob(void **state) {
    (void)state;
    char sha256[65], path[4096];
    struct store_upload *u = upload("abc", 3, 1, sha256);
    assert_string_equal(sha256, ABC);
    assert_true(store_file_path(store, sha256, "", path, sizeof path));
    assert_int_not_equal(access(path, F_OK), 0); /* nothing is visible yet */
    assert_null(store_open_blob(store, sha256, "a.bag", &err));
    assert_int_equal(err.code, REEL_NOT_FOUND);
    assert_true(store_upload_keep(u, &err));
    assert_false(store_upload_keep(u, &err)); /* once */
    store_upload_free(u);
    assert_int_equal(files_in(DATA "/incoming"), 0);
    struct reel_source *s = store_open_blob(store, sha256, "a.bag", &err);
    assert_non_null(s);
    assert_string_equal(s->name, "a.bag");
    char got[3];
    assert_true(reel_source_read(s, 0, got, 3, &err));
    assert_memory_equal(got, "abc", 3);
    reel_source_free(s);

    u = upload("abc", 3, 3, sha256); /* again: the copy is dropped */
    assert_true(store_upload_keep(u, &err));
    store_upload_free(u);
    assert_int_equal(files_in(DATA "/incoming"), 0);
    assert_int_equal(files_in(DATA "/blobs/ba"), 1);
    assert_true(store_remove_blob(store, sha256, &err));
    assert_true(store_remove_blob(store, sha256, &err)); /* gone is gone */
    assert_int_equal(files_in(DATA "/blobs/ba"), 0);
}

static void a_blob_that_was_cut_is_repaired(void **state) {
    (void)state;
    char sha256[65], path[4096];
    struct store_upload *u = upload("abc", 3, 3, sha256);
    assert_true(store_upload_keep(u, &err));
    store_upload_free(u);
    assert_true(store_file_path(store, sha256, "", path, sizeof path));
    assert_int_equal(truncate(path, 1), 0);
    u = upload("abc", 3, 3, sha256);
    assert_true(store_upload_keep(u, &err));
    store_upload_free(u);
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_size, 3);
}

static void pieces_of_any_size_hash_the_same(void **state) {
    (void)state;
    size_t size = (20 << 20) + 77; /* over the buffer, the early writeback, and from where a thread hashes */
    uint8_t *data = malloc(size);
    for (size_t i = 0; i < size; i++) {
        data[i] = (uint8_t)(i * 2654435761u >> 13);
    }
    char first[65], other[65];
    digest_hex(DIGEST_SHA256, (struct reel_bytes){data, size}, first);
    store_upload_free(upload(data, size, size, other));
    assert_string_equal(other, first);
    const size_t steps[] = {16300, 1 << 20, (1 << 20) + 1, (3 << 20) - 5};
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        struct store_upload *u = upload(data, size, steps[i], other);
        assert_string_equal(other, first);
        if (i == 0) {
            assert_true(store_upload_keep(u, &err));
            struct reel_source *s = store_open_blob(store, first, "x", &err);
            uint8_t *back = malloc(size);
            assert_int_equal(s->size, size);
            assert_true(reel_source_read(s, 0, back, size, &err));
            assert_memory_equal(back, data, size);
            free(back);
            reel_source_free(s);
        }
        store_upload_free(u);
    }
    free(data);
    assert_int_equal(files_in(DATA "/incoming"), 0);
}

static void a_dropped_upload_leaves_nothing(void **state) {
    (void)state;
    struct store_upload *u = store_upload_begin(store, &err);
    assert_true(store_upload_write(u, "abc", 3, &err));
    assert_int_equal(files_in(DATA "/incoming"), 1);
    store_upload_free(u);
    assert_int_equal(files_in(DATA "/incoming"), 0);
    store_upload_free(NULL);
}

static void one_server_a_folder(void **state) {
    (void)state;
    assert_null(store_open(DATA, &err));
    assert_int_equal(err.code, REEL_CONFLICT);
    assert_string_equal(err.text, "another server uses this data folder");
    struct store_upload *u = store_upload_begin(store, &err); /* a crash leaves this behind */
    assert_non_null(u);
    assert_int_equal(files_in(DATA "/incoming"), 1);
    int copy = open(DATA "/incoming/left", O_CREAT | O_WRONLY, 0600);
    close(copy);
    store_upload_free(u);
    store_close(store);
    store = store_open(DATA, &err);
    assert_non_null(store);
    assert_int_equal(files_in(DATA "/incoming"), 0);
    assert_null(store_open("/proc/none/such", &err));
    assert_null(strstr(err.text, "/proc"));
}

static void addresses_are_checked(void **state) {
    (void)state;
    char path[4096];
    const char *bad[] = {"", "ab", "../../../../../../../../../../../../../../../../../../etc/passwd00",
                         "zz7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad", ABC "0"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_false(store_file_path(store, bad[i], "", path, sizeof path));
        assert_false(store_remove_content(store, bad[i], &err));
    }
    assert_false(store_file_path(store, ABC, "", path, 20));
    assert_true(store_has_room(store, 1));
    assert_false(store_has_room(store, UINT64_MAX));
}

static json_t *manifest(void) {
    return json_load_file(DATA "/blobs/ba/" ABC ".json", 0, NULL);
}
static const char *text_of(json_t *m, size_t i, const char *key) {
    return json_string_value(json_object_get(json_array_get(json_object_get(m, "recordings"), i), key));
}

static void a_manifest_holds_every_recording(void **state) {
    (void)state;
    struct catalog_part part = {.sha256 = ABC, .size = 3, .file_name = "a.bag"};
    struct catalog_recording r = {.id = "01",
                                  .collection = (char *)"lab",
                                  .name = (char *)"x/\xc3\xa4",
                                  .revision = 1,
                                  .content = ABC,
                                  .parts = &part,
                                  .n_parts = 1,
                                  .format = (char *)"toy"};
    assert_true(manifest_write(store, &r, NULL, &err));
    strcpy(r.id, "02");
    r.collection = (char *)"other";
    assert_true(manifest_write(store, &r, NULL, &err));
    r.state = STATE_TRASHED;
    assert_true(manifest_write(store, &r, NULL, &err)); /* replaces its own */
    json_t *m = manifest();
    assert_int_equal(json_array_size(json_object_get(m, "recordings")), 2);
    assert_string_equal(text_of(m, 0, "name"), "x/\xc3\xa4");
    assert_string_equal(text_of(m, 1, "state"), "trashed");
    assert_string_equal(text_of(m, 1, "collection"), "other");
    json_decref(m);
    assert_true(store_forget_manifest(store, ABC, "01", &err));
    m = manifest();
    assert_int_equal(json_array_size(json_object_get(m, "recordings")), 1);
    assert_string_equal(text_of(m, 0, "id"), "02");
    json_decref(m);
    int fd = open(DATA "/derived/" ABC ".3.raw", O_CREAT | O_WRONLY, 0600);
    close(fd);
    assert_true(store_remove_content(store, ABC, &err));
    assert_int_equal(files_in(DATA "/derived"), 0);
    assert_null(manifest());
    assert_true(store_forget_manifest(store, ABC, "02", &err));
    assert_int_equal(files_in(DATA "/incoming"), 0);
}

/* Opening a socket fails, though a file can take its place: as when there is no descriptor left, or a disk fails. */
static void put_socket(const char *path) {
    remove(path);
    assert_int_equal(mknod(path, S_IFSOCK | 0600, 0), 0);
}
static bool is_socket(const char *path) {
    struct stat st;
    return lstat(path, &st) == 0 && S_ISSOCK(st.st_mode);
}

/* The others that it names would be lost. */
static void what_cannot_be_read_is_not_replaced(void **state) {
    (void)state;
    static const char json[] = DATA "/blobs/ba/" ABC ".json", note[] = DATA "/blobs/ba/" ABC ".ref";
    struct catalog_part part = {.sha256 = ABC, .size = 3, .file_name = "a.bag"};
    struct catalog_recording r = {.id = "01",
                                  .collection = (char *)"lab",
                                  .name = (char *)"x",
                                  .revision = 1,
                                  .content = ABC,
                                  .parts = &part,
                                  .n_parts = 1,
                                  .format = (char *)"toy"};
    assert_true(manifest_write(store, &r, NULL, &err));
    put_socket(json);
    struct reel_error why = {0};
    assert_false(manifest_write(store, &r, NULL, &why));
    assert_int_equal(why.code, REEL_IO);
    assert_false(store_forget_manifest(store, ABC, "01", &err));
    assert_true(is_socket(json));
    assert_int_equal(files_in(DATA "/incoming"), 0);

    put_socket(DATA "/collections.json");
    put_socket(DATA "/settings.json");
    json_t *settings = NULL;
    assert_null(store_load_collections(store, &err));
    assert_false(store_load_settings(store, &settings, &err));

    struct store_reference reference;
    put_socket(note);
    assert_false(store_load_reference(store, ABC, &reference, &why));
    assert_int_equal(why.code, REEL_IO); /* not that the file is gone */
    remove(note);
    assert_false(store_load_reference(store, ABC, &reference, &why));
    assert_int_equal(why.code, REEL_NOT_FOUND);
}

static void derived_files_go_oldest_first(void **state) {
    (void)state;
    static const char *const names[] = {"new.raw", "old.raw", "middle.raw"};
    static const time_t ages[] = {0, 200, 100};
    for (size_t i = 0; i < 3; i++) {
        char path[256], block[65536] = {0};
        snprintf(path, sizeof path, "%s/%s", store_derived_folder(store), names[i]);
        int fd = open(path, O_CREAT | O_WRONLY, 0600);
        assert_int_equal(write(fd, block, sizeof block), sizeof block);
        assert_int_equal(fsync(fd), 0);
        struct timespec t = {.tv_sec = time(NULL) - ages[i]};
        futimens(fd, (struct timespec[]){t, t});
        close(fd);
    }
    assert_true(store_trim_derived(store, 3 << 20, &err));
    assert_int_equal(files_in(DATA "/derived"), 3);
    assert_true(store_trim_derived(store, 140000, &err));
    assert_int_equal(access(DATA "/derived/old.raw", F_OK), -1);
    assert_int_equal(files_in(DATA "/derived"), 2);
    close(open(DATA "/derived/next.raw.tmp-abcdef", O_CREAT | O_WRONLY, 0600));
    assert_true(store_trim_derived(store, 0, &err));
    assert_int_equal(files_in(DATA "/derived"), 1); /* that is being made */
    store_close(store);
    store = store_open(DATA, &err);
    assert_non_null(store);
    assert_int_equal(files_in(DATA "/derived"), 0); /* or was */
}

/* NULL stands for "nothing to do" in some operations only; with a bucket, the others are called by tests of clusters.
 */
static void both_kinds_of_stores_have_what_is_always_called(void **state) {
    (void)state;
    const struct store_ops *const kinds[] = {&store_in_folder, &store_in_bucket};
    for (size_t i = 0; i < 2; i++) {
        const struct store_ops *o = kinds[i];
        const struct store_upload_ops *u = o->upload;
        assert_true(o->open && o->open_resting && o->open_stored && o->examine && o->has && o->is_reference);
        assert_true(o->keep_reference && o->remove && o->each && o->size && o->set_aside && o->place && o->open_file);
        assert_true(o->remove_file && o->load && o->write_text);
        assert_true(u->open && u->put && u->sync && u->finish && u->keep && u->open_partial);
        assert_true(!u->noted == !u->forget && !u->noted == !u->known && !u->noted == !u->finish_partial);
        assert_true(!u->noted != !u->withdraw); /* what is kept is withdrawn, or found again by the note */
    }
}

/* So that no path in it is too long, and none has to be checked. */
static void a_folder_with_a_long_path_is_refused(void **state) {
    (void)state;
    char path[PATH_MAX] = DATA;
    while (strlen(path) < PATH_MAX - 256) {
        size_t used = strlen(path), n = PATH_MAX - 250 - used;
        n = n < 200 ? n : 200;
        memset(path + used, 'a', n);
        path[used] = '/';
        path[used + n] = '\0';
        assert_int_equal(mkdir(path, 0755), 0);
    }
    assert_null(store_open(path, &err));
    assert_int_equal(err.code, REEL_ARGUMENT);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(an_upload_becomes_a_blob, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_blob_that_was_cut_is_repaired, set_up, tear_down),
        cmocka_unit_test_setup_teardown(pieces_of_any_size_hash_the_same, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_dropped_upload_leaves_nothing, set_up, tear_down),
        cmocka_unit_test_setup_teardown(one_server_a_folder, set_up, tear_down),
        cmocka_unit_test_setup_teardown(addresses_are_checked, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_manifest_holds_every_recording, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_cannot_be_read_is_not_replaced, set_up, tear_down),
        cmocka_unit_test_setup_teardown(derived_files_go_oldest_first, set_up, tear_down),
        cmocka_unit_test(both_kinds_of_stores_have_what_is_always_called),
        cmocka_unit_test_setup_teardown(a_folder_with_a_long_path_is_refused, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
