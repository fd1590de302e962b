/* The answers to CARLA's questions against the texts that CARLA's own query code printed of the same files, byte for
 * byte. */
#include <dirent.h>
#include <zlib.h>

#include "base/c_locale.h"
#include "makers/carla_query.h"
#include "makers/carla_scan.h"
#include "makers/real_samples.h"

#define SAMPLES REEL_TESTS "/../../shared/samples/carla/"

enum { TEXT_MAX = 8 << 20, LINES_MAX = 4096 };

static struct reel_recording *open_sample(const char *name) {
    struct reel_error err = {0};
    char path[1024];
    snprintf(path, sizeof path, "%s%s", SAMPLES, name);
    struct reel_source *source = reel_source_open(path, NULL, &err);
    if (!source || !reel_scan_run(&source, 1, &reel_format_carla, CARLA_PACK, NULL, &err)) {
        fail_msg("%s: %s", name, err.text);
    }
    struct reel_recording *r = reel_recording_from_index(reel_index_open(CARLA_PACK, &err), &source, 1,
                                                         &(struct reel_recording_options){0}, &err);
    assert_non_null(r);
    return r;
}

static char *read_text(const char *name) {
    char path[1024];
    snprintf(path, sizeof path, "%stexts/%s", SAMPLES, name);
    gzFile f = gzopen(path, "rb"); /* also plain ones */
    char *text = calloc(1, TEXT_MAX);
    assert_true(f && text && gzread(f, text, TEXT_MAX - 1) >= 0);
    gzclose(f);
    return text;
}

/* FILE.DIALECT.KIND.txt[.gz] */
struct wanted {
    char file[256], dialect[256], kind[256];
};
static bool read_name(const char *name, struct wanted *w) {
    char copy[256];
    snprintf(copy, sizeof copy, "%s", name);
    char *end = strstr(copy, ".txt"), *suffix = strstr(copy, ".log.") ? strstr(copy, ".log.") : strstr(copy, ".rec.");
    if (!end || !suffix) {
        return false;
    }
    char *info = strstr(suffix, ".info"), *pairs = strstr(suffix, ".coll_"),
         *kind = info    ? info
                 : pairs ? pairs
                         : strstr(suffix, ".blocked_");
    assert_non_null(kind);
    end[0] = suffix[4] = kind[0] = '\0';
    snprintf(w->file, sizeof w->file, "%s", copy);
    snprintf(w->dialect, sizeof w->dialect, "%s", suffix + 5);
    snprintf(w->kind, sizeof w->kind, "%s", kind + 1);
    return true;
}

static struct reel_carla_question question_of(const struct wanted *w) {
    struct reel_carla_question q = reel_carla_question(REEL_CARLA_INFO);
    struct reel_error err = {0};
    const char *dialect = strcmp(w->dialect, "ue5like") == 0   ? "0.10"
                          : strcmp(w->dialect, "dev2603") == 0 ? "dev2026"
                                                               : w->dialect;
    assert_true(reel_carla_dialect_named(dialect, &q.dialect, &err));
    if (strncmp(w->kind, "coll_", 5) == 0) {
        q.topic = REEL_CARLA_COLLISIONS;
        q.type1 = w->kind[5];
        q.type2 = w->kind[6];
    } else if (strncmp(w->kind, "blocked_", 8) == 0) {
        q.topic = REEL_CARLA_BLOCKED;
        C_LOCALE;
        assert_int_equal(sscanf(w->kind + 8, "%lf_%lf", &q.min_time_s, &q.min_distance_cm), 2);
    } else {
        q.all = strcmp(w->kind, "info_all") == 0;
        assert_true(q.all || strcmp(w->kind, "info") == 0);
    }
    return q;
}

static int by_text(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}
/* The lines in order of their text: rows of equal duration stand in CARLA's hash order. */
static void sort_lines(char *text) {
    char *lines[LINES_MAX], *copy = strdup(text), *place = copy;
    size_t n = 0, at = 0;
    assert_non_null(copy);
    for (char *line = strsep(&place, "\n"); line; line = strsep(&place, "\n")) {
        assert_true(n < LINES_MAX);
        lines[n++] = line;
    }
    qsort(lines, n, sizeof *lines, by_text);
    for (size_t i = 0; i < n; i++) {
        size_t size = strlen(lines[i]);
        memcpy(text + at, lines[i], size);
        at += size;
        text[at++] = i + 1 < n ? '\n' : '\0';
    }
    free(copy);
}

static void assert_same(const char *name, const char *got, const char *want) {
    size_t at = 0, line = 1;
    for (; got[at] != '\0' && got[at] == want[at]; at++) {
        line += got[at] == '\n';
    }
    if (got[at] != want[at]) {
        fail_msg("%s differs at byte %zu, line %zu:\n got: %.120s\nwant: %.120s", name, at, line, got + at, want + at);
    }
}

static bool check_text(const char *name) {
    struct wanted w;
    if (!read_name(name, &w)) {
        return false;
    }
    const struct reel_carla_question q = question_of(&w);
    RECORDING *r = open_sample(w.file);
    char *want = read_text(name), *got = strdup(carla_query(r, &q, -1));
    assert_non_null(got);
    if (q.topic == REEL_CARLA_BLOCKED) {
        sort_lines(want);
        sort_lines(got);
    }
    assert_same(name, got, want);
    free(want);
    free(got);
    return true;
}

static void texts_are_carlas_own(void **state) {
    (void)state;
    DIR *folder = opendir(SAMPLES "texts");
    if (!folder) {
        SAMPLES_SKIPPED(66);
    }
    unsigned met = 0;
    for (struct dirent *e; (e = readdir(folder));) {
        met += check_text(e->d_name);
    }
    closedir(folder);
    print_message("%u texts\n", met);
    assert_true(met > 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(texts_are_carlas_own)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
