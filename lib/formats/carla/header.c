/* The header of a CARLA log, from the log or from a recording that it was converted to. */
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/hex.h"
#include "formats/carla/layout.h"
#include "index/format.h"
#include "index/index.h"
#include "read/reader.h"

/* The header that the channel's metadata hold; `head` has room for CARLA_HEADER_MAX bytes. */
static bool of_channel(const struct reel_channel *channel, uint8_t *head, struct carla_header *header) {
    for (size_t i = 0; strcmp(channel->encoding, CARLA_ENCODING) == 0 && i < channel->metadata.count; i++) {
        const struct reel_pair *pair = &channel->metadata.items[i];
        size_t size = strlen(pair->value) / 2;
        if (strcmp(pair->key, CARLA_HEADER_KEY) == 0) {
            return size <= CARLA_HEADER_MAX && hex_read(pair->value, size, head) &&
                   carla_header_read(bytes_of(head, size), header) && header->size == size;
        }
    }
    return false;
}

bool carla_header_load(struct reel_reader *reader, uint8_t **head, struct carla_header *header,
                       struct reel_error *err) {
    const struct reel_index *index = reel_recording_index(reel_reader_recording(reader));
    const struct reel_index_info *info = reel_index_info(index);
    bool is_log = reel_format_keeps(info->format, CARLA_CONTRACT);
    uint64_t part = reel_index_part_size(index, 0);
    size_t size = is_log && part < CARLA_HEADER_MAX ? (size_t)part : CARLA_HEADER_MAX;
    if (!(*head = malloc(size > 0 ? size : 1))) {
        return reel_fail_memory(err);
    }
    if (is_log) {
        return reel_reader_copy(reader, 0, 0, *head, size, err) &&
               (carla_header_read(bytes_of(*head, size), header) ||
                reel_fail(err, REEL_CHANGED, "the file does not begin with the header that was scanned"));
    }
    for (uint32_t i = 0; i < info->n_channels; i++) {
        if (of_channel(reel_index_channel(index, i), *head, header)) {
            return true;
        }
    }
    return reel_fail(err, REEL_UNSUPPORTED, "not a log of the CARLA recorder, but: %s", info->format->title);
}
