/* What a .log cannot hold. */
#include "base/cleanup.h"
#include "formats/carla/container.h"
#include "stream/stream.h"

bool carla_accepts(const struct reel_channel *channel, struct reel_loss *loss) {
    uint8_t id;
    enum carla_kind kind;
    struct carla_layout layout;
    if (carla_channel_read(channel, &id, &kind, &layout)) {
        return true;
    }
    reel_loss_add(loss, REEL_REFUSES, channel, "a CARLA log can only hold CARLA packets, not %s",
                  channel->encoding[0] ? channel->encoding : "messages of unknown encoding");
    return false;
}

static bool has_frames(const struct reel_stream *stream) {
    uint8_t id;
    enum carla_kind kind;
    struct carla_layout layout;
    for (uint32_t i = 0; i < stream->n_channels; i++) {
        if (carla_channel_read(stream->channels[i], &id, &kind, &layout) && kind == CARLA_FRAME_START) {
            return true;
        }
    }
    return false;
}

bool carla_accepts_all(const struct reel_stream *stream, struct reel_loss *loss) {
    if (stream->n_sources != 1) {
        reel_loss_add(loss, REEL_REFUSES, NULL,
                      "a CARLA log is a single simulation run: %u recordings cannot be joined", stream->n_sources);
        return false;
    }
    const struct reel_index *index = reel_recording_index(reel_reader_recording(stream->readers[0]));
    const struct reel_index_info *info = reel_index_info(index);
    struct carla_header header;
    AUTO_MEM uint8_t *head = NULL;
    struct reel_error why = {0};
    bool readable = carla_header_load(stream->readers[0], &head, &header, &why);
    reel_loss_fail(loss, &why);
    if (info->format != &reel_format_carla && !(readable && has_frames(stream))) {
        reel_loss_add(loss, REEL_REFUSES, NULL,
                      "a CARLA log can only be written from a CARLA log, or from one that Reel converted, with the "
                      "topic %s: it needs map, "
                      "date and frames; this is %s",
                      carla_facts[CARLA_FRAME_START].topic, info->format->title);
        return false;
    }
    if (stream->initial) {
        reel_loss_add(loss, REEL_CHANGES, NULL, "frame numbers start at 1 and elapsed times at 0");
        if (info->clock == REEL_CLOCK_WALL) {
            reel_loss_add(loss, REEL_CHANGES, NULL,
                          "the header's date has whole seconds: times are up to one second early");
        }
    }
    if (stream->n_channels < info->n_channels) {
        reel_loss_add(loss, REEL_LOSES, NULL, "frames without selected packets are omitted");
    }
    return true;
}
