/* The service document, health, metrics, and what problem types mean. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/common.h"
#include "api/routes.h"
#include "api/views.h"
#include "ingest/jobs.h"

static json_t *view_formats(void) {
    json_t *out = json_array();
    for (size_t i = 0; reel_formats[i]; i++) {
        json_t *suffixes = json_array();
        for (size_t k = 0; reel_formats[i]->suffixes[k]; k++) {
            json_array_append_new(suffixes, json_string(reel_formats[i]->suffixes[k]));
        }
        json_array_append_new(out, json_pack("{s:s, s:s, s:s, s:o}", "name", reel_formats[i]->name, "title", reel_formats[i]->title, "media_type",
                                             reel_formats[i]->media_type, "suffixes", suffixes));
    }
    return out;
}

static json_t *view_targets(void) {
    json_t *out = json_array();
    for (size_t i = 0; reel_writers[i]; i++) {
        const struct reel_writer *w = reel_writers[i];
        json_t *o = json_pack("{s:s, s:s, s:s, s:b}", "name", w->name, "extension", w->extension, "media_type", w->media_type, "ranges", !(w->needs & REEL_STREAMED));
        if (w->variant) {
            json_object_set_new(o, "version", json_string(w->variant));
        }
        json_array_append_new(out, o);
    }
    return out;
}

void api_service(struct http_request *r) {
    uint64_t free_bytes = 0;
    store_free_bytes(http_app(r)->store, &free_bytes);
    json_t *links = json_pack("{s:s, s:s, s:s, s:s}", "recordings", "/api/v1/recordings", "jobs", "/api/v1/jobs", "health", "/healthz", "metrics", "/metrics");
    http_reply_json(r, 200, json_pack("{s:s, s:s, s:o, s:o, s:o, s:o, s:s}", "service", "reel", "version", REEL_VERSION, "formats", view_formats(), "targets", view_targets(),
                                      "links", links, "free_bytes", view_u64(free_bytes), "interval", "[)"));
}

void api_health(struct http_request *r) {
    http_reply_json(r, 200, json_pack("{s:s}", "status", "ok"));
}

void api_ready(struct http_request *r) {
    struct app *app = http_app(r);
    if (!catalog_ready(app->catalog)) {
        http_reply_problem(r, 503, "not-ready", "the catalog does not answer");
    } else if (!store_has_room(app->store, 0)) {
        http_reply_problem(r, 503, "not-ready", "the disk of the store is full");
    } else {
        http_reply_json(r, 200, json_pack("{s:s}", "status", "ready"));
    }
}

static void put_figure(FILE *f, const char *name, const char *type, const char *help, const char *labels, uint64_t value) {
    if (help) {
        fprintf(f, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
    }
    fprintf(f, "%s%s %llu\n", name, labels, (unsigned long long)value);
}

static void put_http(FILE *f, const struct http_figures *h) {
    put_figure(f, "reel_http_connections", "gauge", "Open connections.", "", h->connections);
    for (unsigned i = 1; i < 6; i++) {
        char labels[32];
        snprintf(labels, sizeof labels, "{class=\"%uxx\"}", i);
        put_figure(f, "reel_http_requests_total", "counter", i == 1 ? "Requests answered, by status class." : NULL, labels, h->status[i]);
    }
    put_figure(f, "reel_http_received_bytes_total", "counter", "Body bytes received.", "", h->bytes_in);
    put_figure(f, "reel_http_sent_bytes_total", "counter", "Body bytes sent.", "", h->bytes_out);
    put_figure(f, "reel_http_streams_cut_total", "counter", "Answers that ended before they were complete.", "", h->streams_cut);
}

void api_metrics(struct http_request *r) {
    struct app *app = http_app(r);
    struct catalog_figures c = {0};
    struct http_figures h = {0};
    struct reel_error err = {0};
    char *text = NULL;
    size_t size = 0;
    FILE *f = open_memstream(&text, &size);
    if (!f || !catalog_figures(app->catalog, &c, &err)) {
        if (f) {
            fclose(f);
        }
        free(text);
        http_reply_problem(r, 503, "not-ready", "the catalog does not answer");
        return;
    }
    http_server_figures(http_server_of(r), &h);
    uint64_t free_bytes = 0;
    store_free_bytes(app->store, &free_bytes);
    fprintf(f, "# HELP reel_build_info The program.\n# TYPE reel_build_info gauge\nreel_build_info{version=\"%s\"} 1\n", REEL_VERSION);
    for (unsigned i = 0; i < 5; i++) {
        char labels[48];
        snprintf(labels, sizeof labels, "{state=\"%s\"}", recording_state_name((enum recording_state)i));
        put_figure(f, "reel_recordings", "gauge", i == 0 ? "Recordings in the catalog." : NULL, labels, c.recordings[i]);
    }
    put_figure(f, "reel_recordings_bytes", "gauge", "Bytes of the original files of all recordings.", "", c.bytes);
    put_figure(f, "reel_recordings_messages", "gauge", "Messages in all recordings.", "", c.messages);
    put_figure(f, "reel_store_free_bytes", "gauge", "Free bytes of the store's disk.", "", free_bytes);
    put_figure(f, "reel_chunk_cache_bytes", "gauge", "Decompressed chunks in memory.", "", reel_cache_used(app->cache));
    put_http(f, &h);
    fclose(f);
    http_reply_text(r, 200, "text/plain; version=0.0.4; charset=utf-8", text);
    free(text);
}

/* ---- problem types */

static const struct {
    const char *slug, *meaning;
} problems[] = {
    {"bad-parameter", "A query parameter is unknown, given too often, or not of its type. errors names it."},
    {"bad-request", "The request breaks a rule of HTTP or of this API."},
    {"busy", "The work this needs is still under way. Ask again after Retry-After; job tells how far it is."},
    {"conflict", "The name is taken by other content, or the thing is not in a state for this."},
    {"content-encoding", "Uploads are taken as they are, without Content-Encoding."},
    {"digest-malformed", "Content-Digest or Repr-Digest is no sha-256 in the form of RFC 9530."},
    {"digest-mismatch", "The bytes received are not those announced. Nothing was kept: send them again."},
    {"missing", "The stored file is gone or changed. Upload it again."},
    {"not-acceptable", "None of the media types asked for can be given; the detail lists those that can."},
    {"not-found", "There is no such thing."},
    {"target-cannot-hold", "The target format cannot hold these messages. report names what and why."},
    {"too-large", "The upload is larger than this server takes."},
    {"trashed", "The recording is in the trash. POST …/restore brings it back."},
    {"unknown-target", "The name's ending is no format this server writes; the detail lists those."},
    {"unreadable", "The file was recognised but nothing of it can be read."},
};

void api_problem(struct http_request *r) {
    for (size_t i = 0; i < sizeof problems / sizeof *problems; i++) {
        if (strcmp(problems[i].slug, http_segment(r, "slug")) == 0) {
            http_reply_text(r, 200, "text/plain; charset=utf-8", problems[i].meaning);
            return;
        }
    }
    http_reply_problem(r, 404, "not-found", "there is no problem type %s", http_segment(r, "slug"));
}
