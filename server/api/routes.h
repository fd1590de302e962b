/* The route table and its handlers. To add an endpoint: write its handler, declare it here, add its row to a routes_*.c
 * file, and add its response (and the body it takes) to web/openapi.yaml. The OpenAPI document's paths come from the
 * rows (openapi.h). */
#ifndef SERVER_API_ROUTES_H
#define SERVER_API_ROUTES_H

#include "http/http.h"

/* The HEAD of a GET route as an operation of its own. */
struct api_head {
    const char *id, *summary, *answers;
};

/* A route and its description. Names of components are those of web/openapi.yaml. */
struct api_route {
    struct http_route http; /* .summary: one sentence that says what the operation does */
    const char *id, *tag;   /* the operation id; also names its response and its request body in the components */
    const char *detail;     /* more sentences; NULL: none */
    const char *headers;    /* names of components/parameters, separated by spaces; NULL: none */
    /* Statuses separated by spaces: "200" is answered by the response component that is called like the operation,
     * "404:NotFound" by that of this name. */
    const char *answers;
    const struct api_head *head;
};

extern const struct api_route *const api_tables[]; /* by resource, each ends with a row without id; ends with NULL */

/* The rows as the HTTP server takes them; ends with {0}. */
const struct http_route *api_routes(void);
const char *api_hint(const struct http_request *r); /* for struct http_options */
/* What a {name} in a path is, by the literal segment before it ("recordings" of /recordings/{id}); NULL: nothing is
 * known. */
const struct http_param *api_path_param(const char *segment, const char *name);

/* service.c */
void api_service(struct http_request *r);
void api_health(struct http_request *r);
void api_ready(struct http_request *r);
void api_metrics(struct http_request *r);
void api_problem(struct http_request *r);
/* page.c */
void api_root(struct http_request *r);
void api_page(struct http_request *r);
bool api_page_unknown(struct http_request *r); /* for struct http_options */
void api_page_asset(struct http_request *r);
void api_openapi(struct http_request *r);
/* recordings.c */
void api_recordings_list(struct http_request *r);
void api_recording_get(struct http_request *r);
void api_recording_delete(struct http_request *r);
void api_recording_restore(struct http_request *r);
/* change.c */
void api_recordings_batch(struct http_request *r);
void api_job_results(struct http_request *r);
struct catalog_job;
bool jobs_find_shown(struct http_request *r, struct catalog_job *out); /* the job in the path; false: replied (404) */
void api_recording_patch(struct http_request *r);
/* tags.c */
void api_tag_get(struct http_request *r);
void api_tag_put(struct http_request *r);
void api_tag_delete(struct http_request *r);
void api_tags_list(struct http_request *r);
void api_tags_batch(struct http_request *r);
/* notes.c */
void api_notes_list(struct http_request *r);
void api_note_add(struct http_request *r);
void api_note_change(struct http_request *r);
void api_note_delete(struct http_request *r);
/* events.c */
void api_events_list(struct http_request *r);
void api_event_add(struct http_request *r);
void api_event_get(struct http_request *r);
void api_event_change(struct http_request *r);
void api_event_delete(struct http_request *r);
/* collections.c */
void api_collections_list(struct http_request *r);
void api_collection_get(struct http_request *r);
void api_collection_patch(struct http_request *r);
/* dav.c */
void api_dav_get(struct http_request *r);
void api_dav_propfind(struct http_request *r);
void api_dav_options(struct http_request *r);
/* upload.c */
void api_upload_begin(struct http_request *r);
bool api_upload_piece(struct http_request *r, const void *data, size_t size);
void api_upload_end(struct http_request *r);
void api_upload_aborted(struct http_request *r);
/* tar.c */
void api_recordings_tar(struct http_request *r);
/* uploads.c, uploads_create.c */
void api_uploads_options(struct http_request *r);
void api_uploads_create_begin(struct http_request *r);
void api_uploads_create_end(struct http_request *r);
void api_uploads_append_begin(struct http_request *r);
bool api_uploads_piece(struct http_request *r, const void *data, size_t size);
void api_uploads_end(struct http_request *r);
void api_uploads_aborted(struct http_request *r);
void api_uploads_get(struct http_request *r);
void api_uploads_delete(struct http_request *r);
/* search_values.c */
void api_search_values(struct http_request *r);
void api_search_values_save(struct http_request *r);
/* values.c */
void api_values(struct http_request *r);
void api_stats(struct http_request *r);
void api_coverage_across(struct http_request *r);
/* coverage.c */
void api_coverage(struct http_request *r);
/* contents.c */
void api_topics(struct http_request *r);
void api_schema(struct http_request *r);
void api_scan(struct http_request *r);
/* attachments.c */
void api_attachments_list(struct http_request *r);
void api_attachment(struct http_request *r);
void api_metadata(struct http_request *r);
/* messages.c */
void api_messages(struct http_request *r);
/* series.c */
void api_series(struct http_request *r);
void api_series_across(struct http_request *r);
void api_topic_fields(struct http_request *r);
/* play.c */
void api_play(struct http_request *r);
/* live.c */
struct ingest_request;
struct ingest_result;
void api_live_create(struct http_request *r, const struct ingest_request *q, struct ingest_result *out,
                     struct reel_error *err);
void api_append_begin(struct http_request *r);
bool api_append_piece(struct http_request *r, const void *data, size_t size);
void api_append(struct http_request *r);
void api_finish(struct http_request *r);
void api_play_get(struct http_request *r);
void api_play_patch(struct http_request *r);
/* plot.c */
void api_plot(struct http_request *r);
/* message.c */
void api_message(struct http_request *r);
/* file.c */
void api_file(struct http_request *r);
/* convert.c */
void api_convert(struct http_request *r);
void api_merge(struct http_request *r);
void api_search_export(struct http_request *r);
void api_search_zip(struct http_request *r);
/* carla.c */
void api_carla_info(struct http_request *r);
void api_carla_collisions(struct http_request *r);
void api_carla_blocked(struct http_request *r);
void api_carla_actors(struct http_request *r);
void api_carla_trajectory(struct http_request *r);
void api_carla_state(struct http_request *r);
/* bag.c */
void api_bag_info(struct http_request *r);
/* frame.c, frames.c */
void api_frame(struct http_request *r);
void api_frames(struct http_request *r);
/* grafana.c, grafana_lists.c, grafana_events.c */
void api_grafana(struct http_request *r);
void api_grafana_query(struct http_request *r);
void api_grafana_metrics(struct http_request *r);
void api_grafana_payload_options(struct http_request *r);
void api_grafana_variable(struct http_request *r);
void api_grafana_search(struct http_request *r);
void api_grafana_tag_keys(struct http_request *r);
void api_grafana_tag_values(struct http_request *r);
void api_grafana_annotations(struct http_request *r);
/* tide.c */
void api_tide_channels(struct http_request *r);
void api_tide_introspection(struct http_request *r);
/* nanover.c */
void api_nanover_frame(struct http_request *r);
void api_nanover_state(struct http_request *r);
void api_nanover_resets(struct http_request *r);
void api_nanover_changes(struct http_request *r);
void api_nanover_energies(struct http_request *r);
void api_nanover_frames(struct http_request *r);
/* maintenance.c */
void api_backup(struct http_request *r);
void api_backup_last(struct http_request *r);
void api_scrub(struct http_request *r);
void api_scrub_last(struct http_request *r);
void api_rescan(struct http_request *r);
/* viewer.c */
void api_layout(struct http_request *r);
void api_manifest(struct http_request *r);
/* tokens.c, links.c, audit.c */
void api_tokens_list(struct http_request *r);
void api_token_create(struct http_request *r);
void api_token_revoke(struct http_request *r);
void api_log_in(struct http_request *r);
void api_log_out(struct http_request *r);
void api_link_create(struct http_request *r);
void api_recording_link(struct http_request *r);
void api_audit(struct http_request *r);
/* imports.c */
void api_import(struct http_request *r);
void api_watches(struct http_request *r);
/* failures.c */
void api_failures(struct http_request *r);
void api_failure_retry(struct http_request *r);
void api_failure_forget(struct http_request *r);
/* changes.c */
void api_changes(struct http_request *r);
/* webhooks.c */
void api_webhooks_list(struct http_request *r);
void api_webhook_add(struct http_request *r);
void api_webhook_get(struct http_request *r);
void api_webhook_delete(struct http_request *r);
void api_webhook_test(struct http_request *r);
/* thumbnail.c */
void api_thumbnail(struct http_request *r);
void api_previews(struct http_request *r);
/* saved.c */
void api_saved_list(struct http_request *r);
void api_saved_get(struct http_request *r);
void api_saved_put(struct http_request *r);
void api_saved_delete(struct http_request *r);
/* retention.c */
void api_retention_get(struct http_request *r);
void api_retention_put(struct http_request *r);
void api_retention_run(struct http_request *r);
/* jobs.c */
void api_jobs_list(struct http_request *r);
void api_job_get(struct http_request *r);
void api_job_cancel(struct http_request *r);

#endif
