/* Handlers of recordings: lists, searches, changes, collections; saved layouts, searches and datasets. */
#ifndef SERVER_API_RECORDINGS_RECORDINGS_H
#define SERVER_API_RECORDINGS_RECORDINGS_H

#include "http/http.h"

/* list.c */
void api_recordings_list(struct http_request *r);
/* recordings.c */
void api_recording_get(struct http_request *r);
void api_recording_delete(struct http_request *r);
void api_recording_restore(struct http_request *r);
/* batch.c */
void api_recordings_batch(struct http_request *r);
/* patch.c */
void api_recording_patch(struct http_request *r);
/* collections.c */
void api_collections_list(struct http_request *r);
void api_collection_get(struct http_request *r);
void api_collection_patch(struct http_request *r);
/* search_values.c */
void api_search_values(struct http_request *r);
void api_search_values_save(struct http_request *r);
/* values.c */
void api_values(struct http_request *r);
void api_stats(struct http_request *r);
void api_coverage_across(struct http_request *r);
/* saved.c */
void api_saved_list(struct http_request *r);
void api_saved_get(struct http_request *r);
void api_saved_put(struct http_request *r);
void api_saved_delete(struct http_request *r);

/* datasets.c */
void api_dataset_get(struct http_request *r);
void api_dataset_preview(struct http_request *r);
/* rescan.c */
void api_rescan(struct http_request *r);

#endif
