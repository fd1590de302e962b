/* THE table of endpoints, and the handlers it names: one file per resource. */
#ifndef SERVER_ROUTES_H
#define SERVER_ROUTES_H

#include "http/http.h"

extern const struct http_route api_routes[]; /* ends with {0} */

/* service.c */
void api_service(struct http_request *r);
void api_health(struct http_request *r);
void api_ready(struct http_request *r);
void api_metrics(struct http_request *r);
void api_problem(struct http_request *r);
/* recordings.c */
void api_recordings_list(struct http_request *r);
void api_recording_get(struct http_request *r);
void api_recording_delete(struct http_request *r);
void api_recording_restore(struct http_request *r);
/* upload.c */
void api_upload_begin(struct http_request *r);
bool api_upload_piece(struct http_request *r, const void *data, size_t size);
void api_upload_end(struct http_request *r);
void api_upload_aborted(struct http_request *r);
/* inside.c */
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
/* plot.c */
void api_plot(struct http_request *r);
/* message.c */
void api_message(struct http_request *r);
/* file.c */
void api_file(struct http_request *r);
/* convert.c */
void api_convert(struct http_request *r);
void api_merge(struct http_request *r);
/* carla.c */
void api_carla_info(struct http_request *r);
void api_carla_collisions(struct http_request *r);
void api_carla_blocked(struct http_request *r);
void api_carla_actors(struct http_request *r);
void api_carla_trajectory(struct http_request *r);
/* bag.c */
void api_bag_info(struct http_request *r);
/* frame.c */
void api_frame(struct http_request *r);
/* grafana.c, grafana_lists.c */
void api_grafana_begin(struct http_request *r);
bool api_grafana_piece(struct http_request *r, const void *data, size_t size);
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
/* nanover.c */
void api_nanover_frame(struct http_request *r);
void api_nanover_state(struct http_request *r);
void api_nanover_resets(struct http_request *r);
void api_nanover_changes(struct http_request *r);
void api_nanover_energies(struct http_request *r);
/* viewer.c */
void api_layout(struct http_request *r);
/* jobs.c */
void api_jobs_list(struct http_request *r);
void api_job_get(struct http_request *r);
void api_job_cancel(struct http_request *r);

#endif
