/* Imports one recording: reads, stores, scans, records it. Exactly one report is made of the outcome. */
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/disk.h"
#include "imports/import_internal.h"
#include "json_whole.h"
#include "recordings/names.h"
#include "store/roots.h"

static const uint64_t LONG_BYTES = 64 << 20; /* up to this size the scan is waited for … */
/* for larger ones up to this long; then it continues in the background */
static const int64_t LONG_WAIT_NS = 2000000000;

/* ---- reporting */

static void report_unit(struct import_unit *u, enum import_outcome outcome, const struct catalog_recording *r,
                        const struct reel_error *why) {
    AUTO_MEM const char **names = calloc(u->n, sizeof *names);
    for (uint32_t i = 0; names && i < u->n; i++) {
        names[i] = u->files[i].name;
    }
    struct import_report report = {.outcome = outcome,
                                   .folder = u->folder,
                                   .names = names,
                                   .n = names ? u->n : 0,
                                   .name = u->name,
                                   .format = u->format};
    report.size = u->size;
    report.recording = r;
    report.why = why;
    run_report(u->run, &report);
}

/* The request that a retry repeats, as JSON. */
static char *write_request(const struct import_unit *u) {
    const struct import_options *t = u->run->options;
    json_t *tags = json_object();
    for (uint32_t i = 0; t->annotations && i < t->annotations->n_tags; i++) {
        json_object_set_new(tags, t->annotations->tags[i].key, json_string(t->annotations->tags[i].value));
    }
    json_t *request = json_pack("{s:s, s:s, s:b, s:b, s:o}", "mode", import_mode_name(t->mode), "name", u->name,
                                "replace", t->replace, "watched", t->watched, "tags", tags);
    char *text = request ? json_whole_text(request, JSON_COMPACT) : NULL;
    json_decref(request);
    return text;
}

static struct catalog_import row_of(const struct import_unit *u, uint32_t i) {
    const struct folder_file *f = &u->files[i];
    return (struct catalog_import){.name = f->name,
                                   .device = f->device,
                                   .inode = f->inode,
                                   .size = f->size,
                                   .mtime_ns = f->mtime_ns,
                                   .mode = u->run->options->mode};
}

void import_fail(struct import_unit *u, const struct reel_error *why) {
    struct app *app = u->run->app;
    struct reel_error ignored;
    AUTO_MEM struct catalog_import *rows = calloc(u->n, sizeof *rows);
    AUTO_MEM char *request = write_request(u), *reason = strdup(why->text);
    request = request ? request : strdup(""); /* a name that is not UTF-8 */
    for (uint32_t i = 0; rows && i < u->n; i++) {
        rows[i] = row_of(u, i);
    }
    if (why->code == REEL_NOT_FOUND) { /* deleted meanwhile: nothing to retry */
        if (rows) {
            catalog_imports_forget(app->catalog, u->folder, rows, u->n, &ignored);
        }
        report_unit(u, u->run->options->watched ? IMPORT_WAITS : IMPORT_FAILED, NULL, why);
        return;
    }
    struct catalog_failure f = {.folder = u->folder,
                                .name = u->files[0].name,
                                .collection = (char *)u->run->options->collection,
                                .code = why->code};
    f.reason = reason;
    f.request = request;
    if (rows && request && reason) {
        catalog_failure_put(app->catalog, &f, rows, u->n, &ignored);
    }
    report_unit(u, IMPORT_FAILED, NULL, why);
}

/* ---- importing */

struct taking {
    struct import_unit *unit;
    uint64_t counted; /* of the file that is being read */
};

static bool unit_on_progress(void *context, uint64_t done, uint64_t total) {
    struct taking *t = context;
    (void)total;
    t->counted = done < t->counted ? 0 : t->counted; /* the next file */
    atomic_fetch_add(&t->unit->run->app->imports.bytes_read, done - t->counted);
    t->counted = done;
    return run_goes_on(t->unit->run);
}

static void record_imported(struct import_unit *u, const struct ingest_file *files, const char (*fingerprints)[65],
                            const struct catalog_recording *r) {
    struct app *app = u->run->app;
    struct reel_error ignored;
    AUTO_MEM struct catalog_import *rows = calloc(u->n, sizeof *rows);
    for (uint32_t i = 0; rows && i < u->n; i++) {
        rows[i] = row_of(u, i);
        memcpy(rows[i].fingerprint, fingerprints[i], sizeof rows[i].fingerprint);
        memcpy(rows[i].content, files[i].sha256, sizeof rows[i].content);
        memcpy(rows[i].recording, r->id, sizeof rows[i].recording);
    }
    if (rows && u->run->options->mode == IMPORT_MOVE) {
        catalog_imports_forget(app->catalog, u->folder, rows, u->n, &ignored);
    } else if (rows) {
        catalog_imports_put(app->catalog, u->folder, rows, u->n, &ignored);
    }
}

int64_t import_wait_ns(const struct import_unit *u) {
    return u->run->options->wait_for_scans || u->size < LONG_BYTES ? INT64_MAX : LONG_WAIT_NS;
}

void import_unit_end(struct import_unit *u, const struct ingest_file *files, const char (*fingerprints)[65],
                     struct ingest_result *result, const struct reel_error *why) {
    switch (result->outcome) {
    case INGEST_CREATED:
    case INGEST_EXISTS:
    case INGEST_JOINED:
    case INGEST_SCANNING:
        record_imported(u, files, fingerprints, &result->recording);
        report_unit(u,
                    result->outcome == INGEST_CREATED    ? IMPORT_CREATED
                    : result->outcome == INGEST_SCANNING ? IMPORT_SCANNING
                                                         : IMPORT_EXISTS,
                    &result->recording, NULL);
        break;
    case INGEST_REFUSED:
    case INGEST_KEPT: /* it exists as a failed recording */
        if (why->code == REEL_CANCELLED) {
            break;
        }
        if (why->code == REEL_CHANGED && u->run->options->watched) { /* later */
            report_unit(u, IMPORT_WAITS, NULL, why);
        } else {
            import_fail(u, why);
        }
    }
    ingest_result_done(result);
}

static void list_files(struct import_unit *u, const char *const *paths, struct store_reference *are,
                       struct ingest_file *files) {
    const struct import_options *t = u->run->options;
    struct taking taking = {.unit = u};
    const struct reel_progress progress = {.report = unit_on_progress, .context = &taking};
    const struct ingest_request q = {.collection = t->collection,
                                     .name = u->name,
                                     .file_name = u->by_folder && u->n == 1 ? u->files[0].name : NULL,
                                     .annotations = t->annotations,
                                     .replace = t->replace || t->watched};
    struct local_options options = {.reference = t->mode == IMPORT_REFERENCE,
                                    .move = t->mode == IMPORT_MOVE,
                                    .seen = true,
                                    .are = are,
                                    .progress = &progress};
    options.wait_ns = import_wait_ns(u);
    struct ingest_result result = {0};
    struct reel_error why = {0};
    AUTO_MEM char(*fingerprints)[65] = calloc(u->n, sizeof *fingerprints);
    if (fingerprints) {
        ingest_files(u->run->app, paths, u->n, &q, &options, files, &result, &why);
    } else {
        result.outcome = INGEST_REFUSED;
        reel_fail_memory(&why);
    }
    for (uint32_t i = 0; fingerprints && i < u->n; i++) {
        memcpy(fingerprints[i], are[i].fingerprint, sizeof fingerprints[i]);
    }
    import_unit_end(u, files, (const char(*)[65])fingerprints, &result, &why);
}

void import_pass_over(struct import_unit *u, const char fingerprint[65]) {
    struct catalog_import row = row_of(u, 0);
    struct reel_error ignored;
    row.mode = IMPORT_COPY;
    memcpy(row.fingerprint, fingerprint, sizeof row.fingerprint);
    catalog_imports_put(u->run->app->catalog, u->folder, &row, 1, &ignored);
    report_unit(u, IMPORT_PASSED, NULL, NULL);
}

static void import_local(struct import_unit *u) {
    struct reel_error why = {0};
    char path[PATH_MAX];
    AUTO_MEM char **paths = calloc(u->n, sizeof *paths);
    AUTO_MEM struct store_reference *are = calloc(u->n, sizeof *are);
    AUTO_MEM struct ingest_file *files = calloc(u->n, sizeof *files);
    bool good = (paths && are && files) || reel_fail_memory(&why);
    for (uint32_t i = 0; i < u->n && good; i++) {
        are[i].size = u->files[i].size;
        are[i].mtime_ns = u->files[i].mtime_ns;
        good =
            disk_join(path, u->folder, u->files[i].name, &why) && ((paths[i] = strdup(path)) || reel_fail_memory(&why));
    }
    if (good) {
        list_files(u, (const char *const *)paths, are, files);
    } else {
        import_fail(u, &why);
    }
    for (uint32_t i = 0; paths && i < u->n; i++) {
        free(paths[i]);
    }
}

void import_unit_import(struct import_unit *u) {
    u->object ? import_object(u) : import_local(u);
}

/* ---- retry */

static struct import_unit *unit_again(const struct catalog_failure *f, const struct catalog_imports *files,
                                      const char *name, int folder) {
    struct import_unit *u = import_unit_new(f->folder, name, files->n);
    for (uint32_t i = 0; u && i < files->n; i++) { /* as they are now; the first one is the main file */
        struct store_reference is;
        AUTO_FD int fd = openat(folder, files->items[i].name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
        struct folder_file file = {.name = files->items[i].name};
        if (fd >= 0 && store_inspect(fd, "", &is, NULL)) {
            file.device = is.device;
            file.inode = is.inode;
            file.size = is.size;
            file.mtime_ns = is.mtime_ns;
        }
        if (!import_unit_add(u, &file)) {
            import_unit_free(TAKE(u));
        } else if (strcmp(file.name, f->name) == 0) {
            struct folder_file first = u->files[0];
            u->files[0] = u->files[i];
            u->files[i] = first;
        }
    }
    return u;
}

static bool unit_read_options(const struct catalog_failure *f, struct import_options *options,
                              struct catalog_annotations *annotations, json_t **request, struct reel_error *err) {
    const char *mode = NULL, *name = NULL, *key;
    int replace = 0, watched = 0;
    json_t *tags = NULL, *value;
    bool known = false;
    *request = json_loads(f->request, 0, NULL);
    if (!*request || json_unpack(*request, "{s:s, s:s, s:b, s:b, s:o}", "mode", &mode, "name", &name, "replace",
                                 &replace, "watched", &watched, "tags", &tags) != 0) {
        return reel_fail(err, REEL_UNSUPPORTED, "the request of this import was not kept; import the files again");
    }
    json_object_foreach(tags, key, value) {
        if (!catalog_annotations_set_tag(annotations, key, json_string_value(value), err)) {
            return false;
        }
    }
    *options = (struct import_options){.mode = import_mode_named(mode, &known),
                                       .collection = f->collection,
                                       .annotations = annotations,
                                       .replace = replace,
                                       .watched = watched};
    return known || reel_fail(err, REEL_UNSUPPORTED, "unknown mode %.40s", mode);
}

static bool push_again(struct import_run *run, const struct catalog_failure *f, const char *name,
                       struct reel_error *err) {
    AUTO_STRUCT(catalog_imports_done) struct catalog_imports files = {0};
    if (import_is_url(f->folder)) {
        return run_object_again(run, f, name, err);
    }
    AUTO_FD int folder = roots_open_file(store_roots(run->app->store), f->folder, O_RDONLY | O_DIRECTORY, err);
    if (folder < 0 || !catalog_imports_of_failure(run->app->catalog, f->row, &files, err)) {
        return false;
    }
    if (files.n == 0) {
        return reel_fail(err, REEL_NOT_FOUND, "the file is gone");
    }
    struct import_unit *u = unit_again(f, &files, name, folder);
    return u ? run_push(run, u, err) : reel_fail_memory(err);
}

bool import_again(struct app *app, int64_t failure, const struct reel_progress *progress, struct reel_error *err) {
    AUTO_STRUCT(catalog_failure_done) struct catalog_failure f = {0};
    struct import_options options = {0};
    struct import_statistics statistics = {0};
    struct catalog_annotations annotations = {0};
    json_t *request = NULL;
    struct import_run run = {.app = app, .options = &options, .progress = progress, .out = &statistics, .named = true};
    if (!catalog_failure_get(app->catalog, failure, &f, err)) {
        return false;
    }
    run_begin(&run);
    bool good = unit_read_options(&f, &options, &annotations, &request, err) &&
                push_again(&run, &f, json_string_value(json_object_get(request, "name")), err);
    run_wait(&run);
    run_end(&run);
    if (good && statistics.outcomes[IMPORT_FAILED] > 0) {
        AUTO_STRUCT(catalog_failure_done) struct catalog_failure now = {0};
        good = !catalog_failure_get(app->catalog, failure, &now, NULL) || reel_fail(err, now.code, "%s", now.reason);
    }
    catalog_annotations_done(&annotations);
    json_decref(request);
    return good;
}
