/* Writes ROS 2 bags: a folder in a ZIP or tar archive, NAME/NAME_0.mcap or NAME_0.db3 and then NAME/metadata.yaml, both
 * stored. The data file is written by its own writer, whose totals, run and positions stand in for this one's while it
 * writes. What stands before the data file depends on it: in a ZIP its CRC, for which it is rendered while it is
 * planned, in a tar archive only its size. Where the head can be replaced, an archive of an MCAP file is written in one
 * pass. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/bytes.h"
#include "base/cleanup.h"
#include "formats/ros/write.h"
#include "formats/rosbag2/write_db3.h"
#include "formats/rosbag2/write_yaml.h"
#include "syntax/ustar.h"
#include "syntax/utf8.h"
#include "syntax/zip_write.h"

#define TAR_EXTENSION ".rosbag2.tar"
enum { NAME_MAX_BYTES = 200, PATH_ROOM = 2 * NAME_MAX_BYTES + 32 };

struct totals {
    void *inner; /* of the data file */
    uint32_t crc;
    uint64_t size;
};
struct run {
    void *inner;
    struct grow text; /* of metadata.yaml */
};

/* Of the data file. */
static const struct reel_writer *mcap_writer(void) {
    return reel_writer_named(".mcap", NULL, NULL);
}
static const struct reel_writer *inner_writer(const struct reel_write *w) {
    return w->writer->variant ? &rosbag2_db3_writer : mcap_writer();
}

/* ---- names */

/* The folder's name; one that means something else in a path is not taken. */
static const char *folder_name(const struct reel_write *w) {
    const char *name = w->options->name;
    bool good =
        name && name[0] != '\0' && name[0] != '.' && strlen(name) <= NAME_MAX_BYTES && utf8_valid(bytes_text(name));
    for (const char *p = name; good && *p; p++) {
        good = (uint8_t)*p >= ' ' && !strchr("/\\:*?\"<>|", *p);
    }
    return good ? name : "rosbag2";
}

static void member_path(const struct reel_write *w, bool yaml, char path[PATH_ROOM]) {
    const char *name = folder_name(w);
    snprintf(path, PATH_ROOM, yaml ? "%s/metadata.yaml" : "%s/%s_0%s", name, name, inner_writer(w)->extension);
}

/* ---- members */

static bool is_tar(const struct reel_write *w) {
    return strcmp(w->writer->extension, TAR_EXTENSION) == 0;
}

/* What stands before the data file; its size does not depend on that of the file. */
static void put_data_head(const struct reel_write *w, struct reel_sink *out, uint32_t crc, uint64_t size) {
    char path[PATH_ROOM];
    uint8_t blocks[USTAR_HEAD_MAX];
    member_path(w, false, path);
    if (is_tar(w)) {
        reel_sink_put(out, blocks, ustar_head_wide(path, size, 0, blocks));
    } else {
        zip_put_local(out, path, crc, size, true);
    }
}
static uint64_t local_size(const struct reel_write *w) {
    struct reel_sink count = {0};
    put_data_head(w, &count, 0, 0);
    return count.pos;
}

/* ---- the data file */

/* `w` as its writer expects it; the result is put back with rosbag2_leave(). */
static struct reel_write rosbag2_enter(struct reel_write *w) {
    struct reel_write own = *w;
    w->base = local_size(w);
    w->writer = inner_writer(w);
    w->totals = ((struct totals *)own.totals)->inner;
    w->run = ((struct run *)own.run)->inner;
    return own;
}
static void rosbag2_leave(struct reel_write *w, const struct reel_write *own) {
    w->base = own->base;
    w->writer = own->writer;
    w->totals = own->totals;
    w->run = own->run;
}

/* While planning a ZIP, adds what the inner writer has emitted to the member's CRC and size. */
static bool rosbag2_join(struct reel_write *w, const struct reel_sink *out, const struct zip_crc *begin, bool good) {
    struct totals *t = w->totals;
    if (w->planning && out->hashing) {
        zip_crc_join(out, begin, &t->crc, &t->size);
    }
    return good;
}

static bool rosbag2_open_run(struct reel_write *w, struct reel_error *err) {
    struct totals *t = w->totals;
    struct run *run = w->run;
    if (!t->inner && !(t->inner = reel_write_keep(w, inner_writer(w)->totals_size, err))) {
        return false;
    }
    if (!(run->inner = calloc(1, inner_writer(w)->run_size))) {
        return reel_fail_memory(err);
    }
    struct reel_write own = rosbag2_enter(w);
    bool good = w->writer->open(w, err);
    rosbag2_leave(w, &own);
    return good;
}

static void rosbag2_close_run(struct reel_write *w) {
    struct run *run = w->run;
    if (run->inner) {
        struct reel_write own = rosbag2_enter(w);
        w->writer->close(w);
        rosbag2_leave(w, &own);
    }
    free(run->inner);
    free(run->text.data);
}

static bool head(struct reel_write *w, struct reel_sink *out, struct reel_error *err) {
    const struct totals *t = w->totals;
    put_data_head(w, out, t->crc, t->size);
    struct zip_crc begin = zip_crc_begin(out);
    struct reel_write own = rosbag2_enter(w);
    bool good = w->writer->head(w, out, err);
    bool final = !(w->writer->needs & REEL_HEAD_LAST);
    rosbag2_leave(w, &own);
    return final ? rosbag2_join(w, out, &begin, good) : good;
}

/* The same for the groups of messages that were packed, which stand before the tail. */
static void join_packed(struct reel_write *w) {
    struct totals *t = w->totals;
    t->crc = (uint32_t)crc32_combine(t->crc, w->packed_crc, (z_off_t)w->packed_size);
    t->size += w->packed_size;
}

/* The member is complete at `end`. Puts a head that depends on what follows it before the rest in its CRC and size. */
static bool end_member(struct reel_write *w, uint64_t end, struct reel_error *err) {
    struct totals *t = w->totals;
    struct reel_sink first = {.hashing = true};
    if (is_tar(w)) {
        t->size = end - local_size(w);
        return true;
    }
    struct reel_write own = rosbag2_enter(w);
    bool late = w->writer->needs & REEL_HEAD_LAST, good = !late || w->writer->head(w, &first, err);
    rosbag2_leave(w, &own);
    t->crc = late ? (uint32_t)crc32_combine(first.crc, t->crc, (z_off_t)t->size) : t->crc;
    t->size += first.pos;
    return good;
}

static bool rosbag2_messages(struct reel_write *w, struct reel_sink *out, struct reel_error *err) {
    struct zip_crc begin = zip_crc_begin(out);
    struct reel_write own = rosbag2_enter(w);
    bool good = w->writer->messages(w, out, err);
    rosbag2_leave(w, &own);
    return rosbag2_join(w, out, &begin, good);
}

/* ---- the end of the archive */

static void put_zip_end(const struct reel_write *w, struct reel_sink *out, const char *data, const char *yaml) {
    const struct totals *t = w->totals;
    const struct grow *text = &((const struct run *)w->run)->text;
    struct reel_sink hash = {.hashing = true};
    reel_sink_put(&hash, text->data, text->size);
    uint64_t yaml_at = local_size(w) + t->size;
    zip_put_local(out, yaml, hash.crc, text->size, false);
    reel_sink_put(out, text->data, text->size);
    uint64_t directory_at = out->pos;
    zip_put_central(out, data, t->crc, t->size, 0, true);
    zip_put_central(out, yaml, hash.crc, text->size, yaml_at, false);
    zip_put_end(out, directory_at, 2);
}

static void put_tar_end(const struct reel_write *w, struct reel_sink *out, const char *yaml) {
    const struct grow *text = &((const struct run *)w->run)->text;
    uint8_t blocks[USTAR_HEAD_MAX];
    reel_sink_fill(out, 0, ustar_padding(((const struct totals *)w->totals)->size));
    reel_sink_put(out, blocks, ustar_head(yaml, text->size, 0, blocks));
    reel_sink_put(out, text->data, text->size);
    reel_sink_fill(out, 0, ustar_padding(text->size) + USTAR_END);
}

static bool rosbag2_put_end(struct reel_write *w, struct reel_sink *out, struct reel_error *err) {
    struct run *run = w->run;
    char data[PATH_ROOM], yaml[PATH_ROOM];
    member_path(w, false, data);
    member_path(w, true, yaml);
    const struct rosbag2_yaml metadata = {.version = (unsigned)reel_write_option_u64(w, "metadata_version"),
                                          .storage = w->writer->variant ? w->writer->variant : "mcap",
                                          .file = strchr(data, '/') + 1,
                                          .stream = w->stream,
                                          .counts = reel_write_counts(w)};
    run->text.size = 0;
    if (!rosbag2_put_yaml(&run->text, &metadata, err)) {
        return false;
    }
    if (is_tar(w)) {
        put_tar_end(w, out, yaml);
    } else {
        put_zip_end(w, out, data, yaml);
    }
    return true;
}

static uint64_t inner_parts(struct reel_write *w) {
    struct reel_write own = rosbag2_enter(w);
    uint64_t parts = w->writer->tail_parts(w);
    rosbag2_leave(w, &own);
    return parts;
}

static uint64_t rosbag2_tail_parts(struct reel_write *w) {
    return inner_parts(w) + 1;
}

static bool tail(struct reel_write *w, uint64_t part, struct reel_sink *out, struct reel_error *err) {
    if (w->planning && part == 0) {
        join_packed(w);
    }
    if (part == inner_parts(w)) {
        return (!w->planning || end_member(w, out->pos, err)) && rosbag2_put_end(w, out, err);
    }
    struct zip_crc begin = zip_crc_begin(out);
    struct reel_write own = rosbag2_enter(w);
    bool good = w->writer->tail(w, part, out, err);
    rosbag2_leave(w, &own);
    return rosbag2_join(w, out, &begin, good);
}

/* ---- the writer */

static struct reel_stream *mcap_view(struct reel_stream *source, struct reel_error *err) {
    return mcap_writer()->view(source, err);
}

static void report_skipped(const struct reel_channel *c, struct reel_loss *loss) {
    if (!rosbag2_plays(c)) {
        reel_loss_add(loss, REEL_CHANGES, c, "ROS 2 tools skip the messages in %s encoding; they are in the data file",
                      c->encoding[0] ? c->encoding : "an unknown");
    }
}

static bool accepts_mcap(const struct reel_channel *c, struct reel_loss *loss) {
    report_skipped(c, loss);
    return mcap_writer()->accepts(c, loss);
}

static bool accepts_all_mcap(const struct reel_stream *stream, struct reel_loss *loss) {
    return mcap_writer()->accepts_all(stream, loss);
}

static bool accepts_db3(const struct reel_channel *c, struct reel_loss *loss) {
    report_skipped(c, loss);
    for (size_t i = 0; i < c->metadata.count; i++) {
        const char *key = c->metadata.items[i].key;
        if (strcmp(key, "offered_qos_profiles") != 0 && strcmp(key, "topic_type_hash") != 0) {
            reel_loss_add(loss, REEL_LOSES, c, "the channel's metadata \"%s\"", key);
        }
    }
    return true;
}

static const char *const storages[] = {"mcap", "sqlite3", NULL};
enum { MCAP_NEEDS = REEL_COMPRESSES | REEL_HEAD_LAST | REEL_PACKS_PLAIN };
static const struct reel_write_option options[] = {
    {.name = "storage",
     .type = REEL_OPTION_CHOICE,
     .is_variant = true,
     .choices = storages,
     .initial = "mcap",
     .help = "what the data file in the folder is: an MCAP file or an SQLite database"},
    {.name = "metadata_version",
     .type = REEL_OPTION_UINT,
     .least = ROSBAG2_VERSION_MIN,
     .most = ROSBAG2_VERSION_MAX,
     .initial = "5",
     .help = "the version of metadata.yaml; ROS 2 Humble and later read 5"},
    {0},
};

#define ROSBAG2_WRITER(ending, media, variant_text, storage, number, more_needs, all_fn, compression_names, view_fn)   \
    {                                                                                                                  \
        .name = "rosbag2", .extension = ending, .variant = variant_text, .media_type = media, .options = options,      \
        .compressions = compression_names, .needs = REEL_NAMES_FOLDER | (more_needs), .version = number,               \
        .encoding = "cdr", .totals_size = sizeof(struct totals), .run_size = sizeof(struct run), .view = view_fn,      \
        .accepts = accepts_##storage, .accepts_all = all_fn, .open = rosbag2_open_run, .close = rosbag2_close_run,     \
        .head = head, .messages = rosbag2_messages, .tail_parts = rosbag2_tail_parts, .tail = tail                     \
    }
const struct reel_writer reel_writer_rosbag2 = ROSBAG2_WRITER(
    ".rosbag2.zip", "application/zip", NULL, mcap, 1, MCAP_NEEDS | REEL_NEEDS_PAYLOAD_TO_PLAN | REEL_HASHES_PACKED,
    accepts_all_mcap, "zstd lz4", mcap_view);
const struct reel_writer reel_writer_rosbag2_sqlite3 = ROSBAG2_WRITER(
    ".rosbag2.zip", "application/zip", "sqlite3", db3, 2, REEL_NEEDS_PAYLOAD_TO_PLAN, ros_accepts_all, NULL, NULL);
/* Outputs are known by name and version of their writer, so these differ from those above. */
const struct reel_writer reel_writer_rosbag2_tar = ROSBAG2_WRITER(TAR_EXTENSION, "application/x-tar", NULL, mcap, 3,
                                                                  MCAP_NEEDS, accepts_all_mcap, "zstd lz4", mcap_view);
const struct reel_writer reel_writer_rosbag2_tar_sqlite3 =
    ROSBAG2_WRITER(TAR_EXTENSION, "application/x-tar", "sqlite3", db3, 4, 0, ros_accepts_all, NULL, NULL);
