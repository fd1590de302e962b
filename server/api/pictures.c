/* See pictures.h. */
#include "api/pictures.h"

#include <stdlib.h>
#include <string.h>

void picture_slot_take(struct picture_slots *slots) {
    pthread_mutex_lock(&slots->lock);
    while (slots->free == 0) {
        pthread_cond_wait(&slots->released, &slots->lock);
    }
    slots->free--;
    pthread_mutex_unlock(&slots->lock);
}

void picture_slot_give(struct picture_slots *slots) {
    pthread_mutex_lock(&slots->lock);
    slots->free++;
    pthread_cond_signal(&slots->released);
    pthread_mutex_unlock(&slots->lock);
}

static bool read_bytes(void *context, uint64_t offset, void *buffer, size_t size, struct reel_error *err) {
    const struct reel_picture *p = context;
    (void)err;
    memcpy(buffer, p->data + offset, size);
    return true;
}

static void free_bytes(void *context) {
    reel_picture_done(context);
    free(context);
}

void pictures_reply(struct http_request *r, struct reel_picture *picture, const char *media_type, const char *etag) {
    struct reel_picture *own = malloc(sizeof *own);
    if (!own) {
        reel_picture_done(picture);
        http_reply_no_memory(r);
        return;
    }
    *own = *picture;
    *picture = (struct reel_picture){0};
    http_reply_file(
        r,
        &(struct http_file){
            .length = own->size, .etag = etag, .media_type = media_type, .fd = -1, .read = read_bytes, .free = free_bytes, .context = own});
}
