/* /metrics: metrics of requests, jobs, store, catalog, uploads, imports, changes and webhooks, in Prometheus text
 * format. Every label has a fixed set of values. */
#include <stdio.h>
#include <stdlib.h>

#include "api/service/service.h"
#include "app.h"
#include "base/c_locale.h"
#include "base/text_stream.h"
#include "catalog/maintenance.h"
#include "catalog/uploads.h"
#include "events/webhooks.h"
#include "imports/import.h"
#include "log_queue.h"
#include "store/bucket/blocks.h"
#include "work/jobs.h"

enum { FAILURES_COUNTED = 10000, LABELS = 80 };

static void metrics_put_head(FILE *f, const char *name, const char *type, const char *help) {
    fprintf(f, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

static void put_figure(FILE *f, const char *name, const char *type, const char *help, const char *labels,
                       uint64_t value) {
    if (help) {
        metrics_put_head(f, name, type, help);
    }
    fprintf(f, "%s%s %llu\n", name, labels, (unsigned long long)value);
}

/* ---- requests */

static void put_durations(FILE *f, const struct http_class_metrics *c) {
    C_LOCALE;
    static const char name[] = "reel_http_request_duration_seconds";
    metrics_put_head(f, name, "histogram", "How long requests took, to the last byte of their answer.");
    for (unsigned i = 0; i < HTTP_CLASSES; i++) {
        uint64_t sum = 0;
        for (unsigned k = 0; k + 1 < HTTP_BUCKETS; k++) {
            sum += c[i].buckets[k];
            fprintf(f, "%s_bucket{route=\"%s\",le=\"%g\"} %llu\n", name, http_class_name(i), http_bucket_bound(k),
                    (unsigned long long)sum);
        }
        sum += c[i].buckets[HTTP_BUCKETS - 1];
        fprintf(f, "%s_bucket{route=\"%s\",le=\"+Inf\"} %llu\n", name, http_class_name(i), (unsigned long long)sum);
        fprintf(f, "%s_sum{route=\"%s\"} %.3f\n", name, http_class_name(i), (double)c[i].ms / 1000.0);
        fprintf(f, "%s_count{route=\"%s\"} %llu\n", name, http_class_name(i), (unsigned long long)sum);
    }
}

static void put_http(FILE *f, const struct http_server *server) {
    struct http_metrics h = {0};
    struct http_class_metrics c[HTTP_CLASSES];
    char labels[LABELS];
    http_server_metrics(server, &h);
    http_server_classes(server, c);
    put_figure(f, "reel_http_connections", "gauge", "Open connections.", "", h.connections);
    for (unsigned i = 0; i < HTTP_CLASSES; i++) {
        for (unsigned k = 1; k < 6; k++) {
            snprintf(labels, sizeof labels, "{route=\"%s\",status=\"%uxx\"}", http_class_name(i), k);
            put_figure(f, "reel_http_requests_total", "counter",
                       i == 0 && k == 1 ? "Requests answered, by class of route and status." : NULL, labels,
                       c[i].status[k]);
        }
    }
    put_durations(f, c);
    put_figure(f, "reel_http_received_bytes_total", "counter", "Body bytes received.", "", h.bytes_in);
    put_figure(f, "reel_http_sent_bytes_total", "counter", "Body bytes sent.", "", h.bytes_out);
    put_figure(f, "reel_http_streams_cut_total", "counter",
               "Requests that ended before their answer was complete: cut=true in the log.", "", h.streams_cut);
    put_figure(f, "reel_http_slow_clients_total", "counter", "Clients cut off because they sent or read too slowly.",
               "{direction=\"upload\"}", h.slow_writers);
    put_figure(f, "reel_http_slow_clients_total", "counter", NULL, "{direction=\"download\"}", h.slow_readers);
    put_figure(f, "reel_http_over_address_limit_total", "counter",
               "Connections closed because their address had too many.", "", h.over_address);
    put_figure(f, "reel_http_memory_bytes", "gauge", "Memory reserved by requests, of --memory-mb.", "", h.memory_held);
    put_figure(f, "reel_http_memory_waiting", "gauge", "Requests that wait for memory.", "", h.memory_waiting);
    put_figure(f, "reel_http_memory_refused_total", "counter", "Requests answered with 503 for lack of memory.", "",
               h.memory_refused);
}

static void put_deprecated(FILE *f, const struct http_server *server) {
    struct http_deprecated_use uses[HTTP_DEPRECATED_USES_MAX];
    size_t n = http_server_deprecated(server, uses);
    for (size_t i = 0; i < n; i++) {
        if (i == 0) {
            metrics_put_head(f, "reel_http_deprecated_total", "counter",
                             "Requests that used what will be removed, by who sent them.");
        }
        fprintf(f, "reel_http_deprecated_total{what=\"%s\",caller=\"%s\"} %llu\n", uses[i].what, uses[i].caller,
                (unsigned long long)uses[i].requests);
    }
}

/* ---- jobs */

static void put_jobs(FILE *f, struct app *app) {
    C_LOCALE;
    char labels[LABELS];
    struct job_statistics j;
    uint64_t queued = 0, running = 0;
    for (unsigned i = 0; jobs_statistics(app->jobs, i, &j); i++) {
        const struct {
            const char *name;
            uint64_t n;
        } ends[] = {{"done", j.done}, {"failed", j.failed}, {"cancelled", j.cancelled}};
        for (unsigned k = 0; k < sizeof ends / sizeof *ends; k++) {
            snprintf(labels, sizeof labels, "{kind=\"%s\",end=\"%s\"}", j.kind, ends[k].name);
            put_figure(f, "reel_jobs_total", "counter",
                       i == 0 && k == 0 ? "Jobs that have ended, by kind: scans and other background work." : NULL,
                       labels, ends[k].n);
        }
    }
    metrics_put_head(f, "reel_job_seconds_total", "counter", "Time from a job's queueing to its end.");
    for (unsigned i = 0; jobs_statistics(app->jobs, i, &j); i++) {
        fprintf(f, "reel_job_seconds_total{kind=\"%s\"} %.3f\n", j.kind, (double)j.ms / 1000.0);
    }
    jobs_count(app->jobs, &queued, &running);
    put_figure(f, "reel_jobs", "gauge", "Jobs now.", "{state=\"queued\"}", queued);
    put_figure(f, "reel_jobs", "gauge", NULL, "{state=\"running\"}", running);
}

static void put_imports(FILE *f, struct app *app) {
    const struct import_totals *i = &app->imports;
    uint64_t failures = 0;
    struct reel_error ignored;
    for (unsigned k = IMPORT_CREATED; k < IMPORT_OUTCOMES; k++) {
        char labels[LABELS];
        snprintf(labels, sizeof labels, "{outcome=\"%s\"}", import_outcome_name((enum import_outcome)k));
        put_figure(f, "reel_imports_total", "counter",
                   k == IMPORT_CREATED ? "Recordings, or files, that imports and watched folders have processed."
                                       : NULL,
                   labels, i->outcomes[k]);
    }
    put_figure(f, "reel_import_read_bytes_total", "counter", "Bytes read of files that were imported.", "",
               i->bytes_read);
    put_figure(f, "reel_import_queue", "gauge", "Recordings that are being imported, or wait for it.", "",
               i->under_way);
    if (catalog_failures_count(app->catalog, FAILURES_COUNTED, &failures, &ignored)) {
        put_figure(f, "reel_failures", "gauge",
                   "Files that could not be imported and recordings that could not be scanned, counted up to 10000.",
                   "", failures);
    }
}

static void put_changes(FILE *f, struct app *app) {
    struct webhook hooks[WEBHOOKS_MAX];
    uint32_t n = 0;
    int64_t first = 0, last = 0;
    uint64_t waiting = 0, failing = 0;
    if (catalog_changes_ends(app->catalog, &first, &last, NULL)) {
        put_figure(f, "reel_changes", "gauge", "Changes in the change feed.", "", (uint64_t)(last - first + 1));
        put_figure(f, "reel_changes_last_seq", "gauge", "Number of the newest change.", "", (uint64_t)last);
    }
    if (!catalog_webhooks(app->catalog, hooks, &n, NULL)) {
        return;
    }
    for (uint32_t i = 0; i < n; i++) {
        waiting += last > hooks[i].seq ? (uint64_t)(last - hooks[i].seq) : 0;
        failing += hooks[i].tries > 0;
        webhook_done(&hooks[i]);
    }
    put_figure(f, "reel_webhooks", "gauge", "Webhooks, by result of the last attempt.", "{last=\"good\"}", n - failing);
    put_figure(f, "reel_webhooks", "gauge", NULL, "{last=\"failed\"}", failing);
    put_figure(f, "reel_webhook_waiting", "gauge", "Changes that webhooks have not read yet, summed over all webhooks.",
               "", waiting);
    put_figure(f, "reel_webhook_tries_total", "counter", "Attempts to deliver a change to a webhook.",
               "{result=\"delivered\"}", app->webhooks.delivered);
    put_figure(f, "reel_webhook_tries_total", "counter", NULL, "{result=\"failed\"}", app->webhooks.failed);
    put_figure(f, "reel_webhook_dropped_total", "counter",
               "Changes dropped without delivery to a webhook: failed for a day, or trimmed.", "",
               app->webhooks.dropped);
}

/* ---- contents of the archive */

static void put_catalog(FILE *f, struct app *app, const struct catalog_statistics *c) {
    char labels[LABELS];
    uint64_t uploads = 0, corrupted = 0;
    struct reel_error ignored;
    for (unsigned i = 0; i < sizeof c->recordings / sizeof *c->recordings; i++) {
        snprintf(labels, sizeof labels, "{state=\"%s\"}", recording_state_name((enum recording_state)i));
        put_figure(f, "reel_recordings", "gauge", i == 0 ? "Recordings in the catalog." : NULL, labels,
                   c->recordings[i]);
    }
    put_figure(f, "reel_recordings_bytes", "gauge", "Bytes of the original files of all recordings.", "", c->bytes);
    put_figure(f, "reel_recordings_messages", "gauge", "Messages in all recordings.", "", c->messages);
    if (catalog_uploads_count(app->catalog, &uploads, &ignored)) {
        put_figure(f, "reel_uploads", "gauge", "Upload sessions.", "", uploads);
    }
    if (catalog_corruption_count(app->catalog, &corrupted, &ignored)) {
        put_figure(f, "reel_corrupted_files", "gauge", "Stored files whose bytes no longer match their SHA-256.", "",
                   corrupted);
    }
}

static void put_store(FILE *f, struct app *app) {
    uint64_t free_bytes = 0, found = 0, missed = 0;
    store_free_bytes(app->store, &free_bytes);
    reel_cache_lookups(app->cache, &found, &missed);
    put_figure(f, "reel_store_free_bytes", "gauge", "Free bytes of the store's disk.", "", free_bytes);
    put_figure(f, "reel_chunk_cache_bytes", "gauge", "Decompressed chunks in memory.", "", reel_cache_used(app->cache));
    put_figure(f, "reel_chunk_cache_hits_total", "counter", "Chunks that were in memory already.", "", found);
    put_figure(f, "reel_chunk_cache_misses_total", "counter", "Chunks that had to be read.", "", missed);
}

static void put_bucket(FILE *f, struct app *app) {
    static const char *const methods[S3_METHODS] = {"GET", "HEAD", "PUT", "POST", "DELETE"};
    struct s3_figures s3;
    struct blocks_figures cache;
    if (!store_count(app->store, &s3, &cache)) {
        return;
    }
    for (unsigned i = 0; i < S3_METHODS; i++) {
        char label[32];
        snprintf(label, sizeof label, "{method=\"%s\"}", methods[i]);
        put_figure(f, "reel_s3_requests_total", "counter", i > 0 ? NULL : "Requests to S3, repetitions included.",
                   label, s3.requests[i]);
    }
    put_figure(f, "reel_s3_retries_total", "counter", "Requests to S3 that were repeated.", "", s3.retries);
    put_figure(f, "reel_s3_failures_total", "counter",
               "Requests to S3 that failed in the end, other than for what is not there.", "", s3.failed);
    put_figure(f, "reel_s3_sent_bytes_total", "counter", "Bytes of bodies sent to S3.", "", s3.bytes_sent);
    put_figure(f, "reel_s3_received_bytes_total", "counter", "Bytes of bodies received from S3.", "",
               s3.bytes_received);
    put_figure(f, "reel_store_cache_bytes", "gauge", "Bytes of files and indexes in the cache of the bucket.", "",
               cache.bytes);
    put_figure(f, "reel_store_cache_hits_total", "counter", "Blocks that were read from the cache.", "", cache.hits);
    put_figure(f, "reel_store_cache_misses_total", "counter", "Blocks that had to be fetched.", "", cache.misses);
}

void api_metrics(struct http_request *r) {
    struct app *app = http_app(r);
    struct catalog_statistics c = {0};
    struct reel_error err = {0};
    char *text = NULL;
    size_t size = 0;
    FILE *f = open_memstream(&text, &size);
    if (!f || !catalog_statistics(app->catalog, &c, &err)) {
        if (f) {
            fclose(f);
        }
        free(text);
        http_reply_problem(r, 503, "not-ready", "the catalog does not answer");
        return;
    }
    fprintf(f, "# HELP reel_build_info The program.\n# TYPE reel_build_info gauge\nreel_build_info{version=\"%s\"} 1\n",
            REEL_VERSION);
    put_catalog(f, app, &c);
    put_store(f, app);
    put_bucket(f, app);
    put_jobs(f, app);
    put_imports(f, app);
    put_changes(f, app);
    put_http(f, http_server_of(r));
    put_deprecated(f, http_server_of(r));
    put_figure(f, "reel_log_dropped_lines_total", "counter",
               "Lines of the log that were dropped because its reader stalled.", "", log_queue_dropped(app->log));
    if (text_stream_close(f, &text)) {
        http_reply_text(r, 200, "text/plain; version=0.0.4; charset=utf-8", text);
    } else {
        http_reply_no_memory(r);
    }
    free(text);
}
