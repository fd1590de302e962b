/* See reel/record.h and record/record.h. */
#include "record/record.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/disk.h"
#include "base/limits.h"
#include "base/options.h"
#include "base/ownership.h"
#include "convert/writer.h"

bool recorder_patch(struct reel_recorder *r, uint64_t offset, const void *data, size_t size, struct reel_error *err) {
    return disk_write_at(r->fd, data, size, offset) || reel_fail_errno(err, "could not write the recording");
}

bool recorder_put(struct reel_recorder *r, const void *data, size_t size, struct reel_error *err) {
    if (!recorder_patch(r, r->pos, data, size, err)) {
        bool cut = ftruncate(r->fd, (off_t)r->pos) == 0; /* if this fails, the next call overwrites the remains */
        (void)cut;
        return false;
    }
    r->pos += size;
    return true;
}

FILE *recorder_spool(struct reel_error *err) {
    FILE *spool = tmpfile();
    if (!spool) {
        reel_fail_errno(err, "no temporary file for the end of the recording");
    }
    return spool;
}

bool recorder_put_spool(struct reel_recorder *r, FILE *spool, struct reel_error *err) {
    enum { PIECE = 64 << 10 };
    AUTO_MEM uint8_t *piece = malloc(PIECE);
    if (!piece) {
        return reel_fail_memory(err);
    }
    rewind(spool);
    for (size_t n; (n = fread(piece, 1, PIECE, spool)) > 0;) {
        if (!recorder_put(r, piece, n, err)) {
            return false;
        }
    }
    return !ferror(spool) || reel_fail_errno(err, "the end of the recording could not be read back");
}

static int record_open_file(const char *path, bool resume, struct reel_error *err) {
    int fd = open(path, O_RDWR | O_CLOEXEC | (resume ? 0 : O_CREAT | O_EXCL), 0666);
    if (fd < 0 && errno == EEXIST) {
        reel_fail(err, REEL_CONFLICT, "%s exists already", path);
    } else if (fd < 0 && errno == ENOENT) {
        reel_fail(err, REEL_NOT_FOUND, resume ? "there is no %s" : "there is no folder for %s", path);
    } else if (fd < 0) {
        reel_fail_errno(err, "%s", path);
    } else if (!resume) {
        reel_own_by_folder(fd, path);
    }
    return fd;
}

static bool set_settings(struct reel_recorder *r, const struct reel_recorder_options *given, struct reel_error *err) {
    if (given->n_settings > 0 && !r->ops->settings) {
        return reel_fail(err, REEL_UNSUPPORTED, "the recording of %s files takes no settings; convert the file then",
                         r->writer->name);
    }
    for (size_t i = 0; i < given->n_settings; i++) {
        const struct reel_pair *setting = &given->settings[i];
        if (!reel_writer_set_option(r->writer, setting->key, setting->value, false, &r->settings, err)) {
            return reel_error_at(err, "%s", setting->key);
        }
    }
    r->options.settings = NULL;
    r->options.n_settings = 0;
    return true;
}

uint64_t recorder_setting_u64(const struct reel_recorder *r, const char *name) {
    struct reel_write_value value;
    return reel_write_values_find(r->writer->options, r->settings.items, r->settings.n, name, 0, &value) ? value.number
                                                                                                         : 0;
}

const char *recorder_setting_text(const struct reel_recorder *r, const char *name, uint32_t i) {
    struct reel_write_value value;
    return reel_write_values_find(r->writer->options, r->settings.items, r->settings.n, name, i, &value) ? value.text
                                                                                                         : NULL;
}

struct reel_recorder *reel_recorder_open(const char *path, const struct reel_writer *writer,
                                         const struct reel_recorder_options *options, struct reel_error *err) {
    const struct reel_recorder_ops *ops = writer->recorder;
    struct reel_recorder_options chosen = {0};
    if (!ops) {
        reel_fail(err, REEL_UNSUPPORTED, "%s files cannot be recorded message by message", writer->name);
        return NULL;
    }
    if (!options_copy(&chosen, sizeof chosen, options, "reel_recorder_options", err)) {
        return NULL;
    }
    if (chosen.resume && !ops->resumes) {
        reel_fail(err, REEL_UNSUPPORTED, "the recording of %s files cannot be resumed", writer->name);
        return NULL;
    }
    AUTO(reel_recorder_free) struct reel_recorder *r = calloc(1, ops->state_size);
    if (!r) {
        reel_fail_memory(err);
        return NULL;
    }
    r->ops = ops;
    r->writer = writer;
    r->options = chosen;
    r->fd = -1;
    if (!set_settings(r, &chosen, err)) {
        return NULL;
    }
    if (!(r->path = strdup(path))) {
        reel_fail_memory(err);
        return NULL;
    }
    r->fd = record_open_file(path, chosen.resume, err);
    if (r->fd < 0) {
        return NULL;
    }
    if (!ops->open(r, err)) {
        if (!chosen.resume) {
            unlink(path);
        }
        return NULL;
    }
    return chosen.resume || disk_sync_folder_of(path, err) ? TAKE(r) : NULL;
}

bool reel_recorder_copy_channel(struct reel_recorder *r, const struct reel_channel *channel, uint32_t *id,
                                struct reel_error *err) {
    if (r->n_channels >= REEL_CHANNELS_MAX) {
        return reel_fail(err, REEL_LIMIT, "more than %d channels", REEL_CHANNELS_MAX);
    }
    AUTO(reel_loss_free) struct reel_loss *loss = reel_loss_new();
    if (!loss) {
        return reel_fail_memory(err);
    }
    if (!r->writer->accepts(channel, loss)) {
        size_t n;
        const struct reel_loss_item *items = reel_loss_items(loss, &n);
        return reel_fail(err, REEL_UNSUPPORTED, "%s: %.300s", channel->name,
                         n > 0 ? items[n - 1].text : "this format cannot hold it");
    }
    if (!r->ops->channel(r, channel, err)) {
        return false;
    }
    *id = r->n_channels++;
    return true;
}

bool reel_recorder_channel(struct reel_recorder *r, const struct reel_channel_options *options, uint32_t *id,
                           struct reel_error *err) {
    struct reel_channel_options o;
    if (!options_copy(&o, sizeof o, options, "reel_channel_options", err)) {
        return false;
    }
    if (!o.topic) {
        return reel_fail(err, REEL_ARGUMENT, "a channel needs a topic");
    }
    const char *const topics[] = {o.topic};
    const struct reel_schema schema = {.name = o.type ? o.type : "",
                                       .encoding = o.schema_encoding ? o.schema_encoding : "",
                                       .hash = "",
                                       .data = o.schema};
    const struct reel_channel channel = {.name = o.topic,
                                         .topics = topics,
                                         .n_topics = 1,
                                         .type = schema.name,
                                         .encoding = o.encoding ? o.encoding : "",
                                         .schemas = &schema,
                                         .n_schemas = o.schema_encoding != NULL,
                                         .metadata = {.items = (struct reel_pair *)o.metadata, .count = o.n_metadata},
                                         .latched = o.latched};
    return reel_recorder_copy_channel(r, &channel, id, err);
}

bool reel_recorder_message(struct reel_recorder *r, const struct reel_record *given, struct reel_error *err) {
    struct reel_record own;
    const struct reel_record *record = &own;
    if (!options_copy(&own, sizeof own, given, "reel_record", err)) {
        return false;
    }
    if (record->channel >= r->n_channels) {
        return reel_fail(err, REEL_ARGUMENT, "there is no channel %u", record->channel);
    }
    if (record->log_time_ns < 0 || record->publish_time_ns < 0) {
        return reel_fail(err, REEL_UNSUPPORTED, "a message at %lld ns: times before 0 cannot be recorded",
                         (long long)record->log_time_ns);
    }
    if (record->payload.size > REEL_MESSAGE_MEMORY_MAX) {
        return reel_fail(err, REEL_LIMIT, "a message of %zu bytes: at most %u are recorded", record->payload.size,
                         (unsigned)REEL_MESSAGE_MEMORY_MAX);
    }
    return r->ops->message(r, record, err);
}

bool reel_recorder_flush(struct reel_recorder *r, struct reel_error *err) {
    return r->ops->flush(r, err);
}

bool reel_recorder_commit(const struct reel_recorder *r, struct reel_error *err) {
    return fdatasync(r->fd) == 0 || reel_fail_errno(err, "could not write the recording to the disk");
}

bool reel_recorder_sync(struct reel_recorder *r, struct reel_error *err) {
    return reel_recorder_flush(r, err) && reel_recorder_commit(r, err);
}

uint64_t reel_recorder_bytes(const struct reel_recorder *r) {
    return r->pos;
}
uint32_t reel_recorder_channels(const struct reel_recorder *r) {
    return r->n_channels;
}

bool reel_recorder_close(struct reel_recorder *recorder, struct reel_error *err) {
    AUTO(reel_recorder_free) struct reel_recorder *r = recorder;
    return reel_recorder_flush(r, err) && r->ops->finish(r, err) &&
           (fsync(r->fd) == 0 || reel_fail_errno(err, "could not write the recording to the disk"));
}

void reel_recorder_free(struct reel_recorder *r) {
    if (r) {
        r->ops->close(r);
        if (r->fd >= 0) {
            close(r->fd);
        }
        free(r->path);
        free(r);
    }
}
