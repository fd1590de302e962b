/* Handlers of what is in a recording: topics, messages, series, images, playback. */
#ifndef SERVER_API_CONTENTS_CONTENTS_H
#define SERVER_API_CONTENTS_CONTENTS_H

#include "http/http.h"

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
void api_merge_play(struct http_request *r);
void api_play_get(struct http_request *r);
void api_play_patch(struct http_request *r);
/* foxglove_socket.c */
void api_foxglove(struct http_request *r);
/* nanover_socket.c */
void api_nanover_server(struct http_request *r);
void api_nanover_play(struct http_request *r);
/* plot.c */
void api_plot(struct http_request *r);
/* message.c */
void api_message(struct http_request *r);
/* frame.c */
void api_frame(struct http_request *r);
/* frames.c */
void api_frames(struct http_request *r);
/* viewer.c */
void api_layout(struct http_request *r);
void api_manifest(struct http_request *r);
/* thumbnail.c */
void api_thumbnail(struct http_request *r);
void api_previews(struct http_request *r);

#endif
