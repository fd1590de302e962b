/* The conversion report (reel/convert.h): what a conversion would lose or change. It owns its texts, so it may outlive
 * the recording. */
#include "base/c_locale.h"
#include "convert/writer.h"

#include "base/arena.h"
#include "base/cleanup.h"

#include <stdarg.h>
#include <stdio.h>

struct reel_loss {
    struct arena arena; /* texts */
    struct reel_loss_item *items;
    size_t count, capacity;
    struct reel_error failure; /* why the list is not complete */
};

struct reel_loss *reel_loss_new(void) {
    return (struct reel_loss *)calloc(1, sizeof(struct reel_loss));
}

void reel_loss_free(struct reel_loss *loss) {
    if (loss) {
        arena_free(&loss->arena);
        free(loss->items);
        free(loss);
    }
}

static bool loss_grow(struct reel_loss *loss) {
    size_t capacity = loss->capacity > 0 ? loss->capacity * 2 : 16;
    void *items = reallocarray(loss->items, capacity, sizeof *loss->items);
    if (!items) {
        return reel_fail_memory(&loss->failure);
    }
    loss->items = (struct reel_loss_item *)items;
    loss->capacity = capacity;
    return true;
}

void reel_loss_add(struct reel_loss *loss, enum reel_loss_kind kind, const struct reel_channel *channel,
                   const char *text, ...) {
    C_LOCALE;
    if (!loss || (loss->count == loss->capacity && !loss_grow(loss))) {
        return;
    }
    AUTO_MEM char *formatted = NULL;
    va_list args;
    va_start(args, text);
    int size = vasprintf(&formatted, text, args);
    va_end(args);
    if (size < 0) {
        formatted = NULL;
        reel_fail_memory(&loss->failure);
        return;
    }
    struct reel_loss_item item = {.kind = kind, .text = arena_text(&loss->arena, formatted)};
    item.channel = channel ? arena_text(&loss->arena, channel->name) : NULL;
    if (!item.text || (channel && !item.channel)) {
        reel_fail_memory(&loss->failure);
        return;
    }
    loss->items[loss->count++] = item;
}

void reel_loss_fail(struct reel_loss *loss, const struct reel_error *why) {
    if (loss && loss->failure.code == REEL_OK && reel_is_transient(why->code)) {
        loss->failure = *why;
    }
}

const struct reel_loss_item *reel_loss_items(const struct reel_loss *loss, size_t *count) {
    *count = loss->count;
    return loss->items;
}

/* Sets the error from the first refusal among the items from `from` on. Returns false. */
static bool report_refusal(const struct reel_writer *writer, const struct reel_loss *loss, size_t from,
                           struct reel_error *err) {
    for (size_t i = from; i < loss->count; i++) {
        const struct reel_loss_item *item = &loss->items[i];
        if (item->kind == REEL_REFUSES) {
            return reel_fail(err, REEL_UNSUPPORTED, "%s cannot hold this: %s%s%s", writer->name,
                             item->channel ? item->channel : "", item->channel ? ": " : "", item->text);
        }
    }
    return reel_fail(err, REEL_UNSUPPORTED, "%s cannot hold this recording", writer->name);
}

bool reel_writer_accepts(const struct reel_writer *writer, struct reel_stream *stream, struct reel_loss *loss,
                         struct reel_error *err) {
    AUTO(reel_loss_free) struct reel_loss *own = loss ? NULL : reel_loss_new();
    struct reel_loss *list = loss ? loss : own;
    if (!list) {
        return reel_fail_memory(err);
    }
    size_t from = list->count;
    bool good = true;
    for (size_t i = 0; stream->losses && i < stream->losses->count; i++) {
        const struct reel_loss_item *item = &stream->losses->items[i];
        reel_loss_add(list, item->kind, item->channel ? &(struct reel_channel){.name = item->channel} : NULL, "%s",
                      item->text);
    }
    for (uint32_t i = 0; i < stream->n_channels; i++) {
        good &= writer->accepts(stream->channels[i], list);
    }
    if (writer->accepts_all) {
        good &= writer->accepts_all(stream, list);
    }
    if (stream->losses && stream->losses->failure.code != REEL_OK) {
        return reel_error_pass(err, &stream->losses->failure);
    }
    if (list->failure.code != REEL_OK) {
        return reel_error_pass(err, &list->failure);
    }
    return good || report_refusal(writer, list, from, err);
}
