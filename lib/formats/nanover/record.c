/* Records NanoVer recordings. An archive has its index and directory at the end and is unreadable without them, so
 * until it is closed the file is MCAP: what was synced outlives the end of the program, with its times, in any reader
 * of MCAP. Closing converts it in place. */
#include "record/record.h"
#include "base/cleanup.h"
#include "base/output_file.h"
#include "convert/conversion.h"
#include "formats/nanover/container.h"
#include "reel/open.h"

#include <stdlib.h>

struct recorder {
    struct reel_recorder base;
    struct reel_recorder *mcap; /* of the same file; its fd is the base's */
};

/* Runs a call of the MCAP recorder, which knows the size of the file. */
static bool did(struct reel_recorder *r, bool good) {
    r->pos = ((struct recorder *)r)->mcap->pos;
    return good;
}

static bool simulation_open(struct reel_recorder *r, struct reel_error *err) {
    struct recorder *n = (struct recorder *)r;
    const struct reel_writer *writer = reel_writer_named(".mcap", NULL, err);
    if (!writer) {
        return false;
    }
    if (r->options.compression && r->options.compression[0]) {
        return reel_fail(err, REEL_UNSUPPORTED, "NanoVer recordings have no compression, not \"%s\"",
                         r->options.compression);
    }
    if (!(n->mcap = calloc(1, writer->recorder->state_size))) {
        return reel_fail_memory(err);
    }
    *n->mcap = (struct reel_recorder){.ops = writer->recorder, .writer = writer, .fd = r->fd, .options = r->options};
    bool good = did(r, writer->recorder->open(n->mcap, err));
    r->n_channels = n->mcap->n_channels;
    return good;
}

static void simulation_close(struct reel_recorder *r) {
    struct recorder *n = (struct recorder *)r;
    if (n->mcap) {
        n->mcap->ops->close(n->mcap);
    }
    free(n->mcap);
}

static bool simulation_channel(struct reel_recorder *r, const struct reel_channel *channel, struct reel_error *err) {
    struct recorder *n = (struct recorder *)r;
    bool good = did(r, n->mcap->ops->channel(n->mcap, channel, err));
    n->mcap->n_channels += good;
    return good;
}

static bool simulation_message(struct reel_recorder *r, const struct reel_record *record, struct reel_error *err) {
    struct recorder *n = (struct recorder *)r;
    return did(r, n->mcap->ops->message(n->mcap, record, err));
}

static bool simulation_flush(struct reel_recorder *r, struct reel_error *err) {
    struct recorder *n = (struct recorder *)r;
    return did(r, n->mcap->ops->flush(n->mcap, err));
}

static bool simulation_finish(struct reel_recorder *r, struct reel_error *err) {
    struct recorder *n = (struct recorder *)r;
    AUTO(output_file_done) struct output_file file = {.fd = -1};
    if (!did(r, n->mcap->ops->finish(n->mcap, err))) {
        return false;
    }
    AUTO(reel_recording_free) struct reel_recording *recording = reel_recording_open(r->path, NULL, err);
    const struct reel_output output = {.write = output_file_write, .context = &file};
    const struct reel_write_options plain = {.compression = ""};
    AUTO(reel_conversion_free)
    struct reel_conversion *conversion =
        recording ? reel_conversion_new(r->writer, &recording, 1, &selection_all, &plain, NULL, NULL, err) : NULL;
    return conversion && output_file_open(&file, r->path, true, err) &&
           conversion_write(conversion, &output, NULL, NULL, err) && output_file_finish(&file, err);
}

const struct reel_recorder_ops nanover_recorder = {.state_size = sizeof(struct recorder),
                                                   .open = simulation_open,
                                                   .resumes = true,
                                                   .channel = simulation_channel,
                                                   .message = simulation_message,
                                                   .flush = simulation_flush,
                                                   .finish = simulation_finish,
                                                   .close = simulation_close};
