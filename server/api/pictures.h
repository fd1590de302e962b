/* Shared by routes that draw pictures: how many are drawn at a time, and the answer. */
#ifndef SERVER_API_PICTURES_H
#define SERVER_API_PICTURES_H

#include <pthread.h>

#include "http/http.h"
#include "reel/picture.h"

/* A small file may hold 64 million pixels, so the number of pictures drawn at a time is limited; further requests wait. */
struct picture_slots {
    pthread_mutex_t lock;
    pthread_cond_t released;
    unsigned free;
};
#define PICTURE_SLOTS(n)                                                                                                                   \
    { PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, n }
void picture_slot_take(struct picture_slots *slots);
void picture_slot_give(struct picture_slots *slots);

/* Replies and takes what the picture holds. */
void pictures_reply(struct http_request *r, struct reel_picture *picture, const char *media_type, const char *etag);

#endif
