/* Every kind of job ends when it is cancelled: as soon as it looks, or because there is nothing left to do. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <sys/stat.h>

#include "base/cancel.h"
#include "catalog/maintenance.h"
#include "makers/ingest_trial.h"
#include "scans/statistics.h"

static bool never(void *context, uint64_t done, uint64_t total) {
    (void)context, (void)done, (void)total;
    return false;
}
static bool stopped(void *context) {
    (void)context;
    return false;
}

static bool run_kind(const char *name, const char *key, const char *options, const struct reel_progress *progress,
                     struct reel_error *why) {
    const struct job_kind *kind = jobs_kind(app.jobs, name);
    int64_t come_back_ns = 0;
    const struct job_call call = {.id = "00000000000000000000000000000000",
                                  .key = key,
                                  .options = options,
                                  .outcome = "",
                                  .attempts = 1,
                                  .progress = progress,
                                  .come_back_ns = &come_back_ns};
    *why = (struct reel_error){0};
    return kind->run(&app, &call, why);
}

static bool run_cancelled(const char *name, const char *key, const char *options, struct reel_error *why) {
    const struct reel_progress progress = {.report = never};
    const struct cancel cancel = {.goes_on = stopped};
    cancel_set(&cancel);
    bool good = run_kind(name, key, options, &progress, why);
    cancel_set(NULL);
    return good;
}

static void kinds_end_when_they_are_cancelled(void **state) {
    (void)state;
    struct ingest_result made;
    struct reel_error why;
    app.config.backup_dir = REEL_SCRATCH "/backup";
    (void)mkdir(app.config.backup_dir, 0700);
    assert_int_equal(send_text("a", "TRIALabc", &made), INGEST_CREATED);
    const struct {
        const char *name, *key, *options; /* key NULL: it needs a server, and is in tests/faults/fault_stop.py */
        bool works;                       /* there is something to do, so it is cancelled */
    } all[] = {{"plan", "", "", true},
               {"scrub", "", "{}", true},
               {"backup", "", "copy", true},
               {"statistics", "", "", true},
               {"statistics", made.recording.content, "", true},
               {"sweep", "", "", true},
               {"retention", "", "{}", false},
               {"references", "", "", false},
               {"files", "", "", false},
               {"manifests", "", "", false},
               {"scan", made.recording.content, "{}", false},
               {"import", "",
                "{\"paths\":[\"" REEL_SCRATCH
                "\"],\"glob\":\"\",\"collection\":\"lab\",\"mode\":\"copy\",\"replace\":false,"
                "\"tags\":{},\"failure\":0}",
                true},
               {"batch", "", "{\"action\":\"trash\"}", false},
               {"watched-folder", "0", "", false},
               {"live", NULL, "", false},
               {"finish", NULL, "", false},
               {"record", NULL, "", false},
               {"unattended", "", "", false},
               {"expiry", "", "", false},
               {"lists", "", "", false},
               {"webhook", "1", "", false}};
    for (const struct job_kind *kind = job_kinds; kind->name; kind++) {
        bool listed = false;
        for (size_t i = 0; i < sizeof all / sizeof *all && !listed; i++) {
            listed = strcmp(all[i].name, kind->name) == 0;
        }
        if (!listed) {
            fail_msg("a kind without a row here: %s", kind->name);
        }
    }
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        if (!all[i].key) {
            continue;
        }
        bool good = run_cancelled(all[i].name, all[i].key, all[i].options, &why);
        if ((good && all[i].works) || (!good && why.code != REEL_CANCELLED)) {
            fail_msg("%s %s: %s (%d)", all[i].name, all[i].key, why.text, why.code);
        }
    }
    ingest_result_done(&made);
}

/* A scan that waits for ever, until it is cancelled. */
static void a_scan_ends(void **state) {
    (void)state;
    struct ingest_result made;
    struct reel_error why = {0};
    char id[JOB_ID_TEXT];
    assert_int_equal(send_with(&(struct ingest_request){.collection = "lab", .name = "s"}, "TRIALs", 0, &made, &why),
                     INGEST_SCANNING);
    memcpy(id, made.job, sizeof id);
    while (atomic_load(&trial_waiting) == 0) {
        usleep(500);
    }
    assert_true(jobs_cancel(app.jobs, id, &why));
    wait_until_idle();
    assert_int_equal(job_state(id), JOB_CANCELLED);
    ingest_result_done(&made);
}

/* Each start looked at every recording again. */
static void statistics_are_due_until_all_were_visited(void **state) {
    (void)state;
    struct ingest_result made;
    assert_int_equal(send_text("a", "TRIALabc", &made), INGEST_CREATED);
    assert_true(statistics_are_due(&app));
    assert_true(run_kind("statistics", "", "", &(struct reel_progress){0}, &err));
    assert_false(statistics_are_due(&app));
    app_down();
    app_up();
    assert_false(statistics_are_due(&app));
    assert_true(catalog_set_maintenance(app.catalog, CATALOG_STATISTICS, "0 1 99", &err)); /* of other decoders */
    assert_true(statistics_are_due(&app));
    ingest_result_done(&made);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(kinds_end_when_they_are_cancelled, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_scan_ends, set_up, tear_down),
        cmocka_unit_test_setup_teardown(statistics_are_due_until_all_were_visited, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
