/* A recording's messages as they come. */
#ifndef SERVER_API_CONTENTS_FOLLOW_H
#define SERVER_API_CONTENTS_FOLLOW_H

#include "api/recording.h"

/* Replies with the rows of GET /messages, in the writer's form for `extension`; goes on while the recording grows. */
void follow_reply(struct http_request *r, struct api_recording *a, const char *media_type, const char *extension);

#endif
