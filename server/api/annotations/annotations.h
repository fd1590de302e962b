/* Handlers of tags, notes and events. */
#ifndef SERVER_API_ANNOTATIONS_ANNOTATIONS_H
#define SERVER_API_ANNOTATIONS_ANNOTATIONS_H

#include "http/http.h"

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
void api_recording_events(struct http_request *r);
void api_event_add(struct http_request *r);
void api_event_get(struct http_request *r);
void api_event_change(struct http_request *r);
void api_event_delete(struct http_request *r);

#endif
