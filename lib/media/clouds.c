/* Point clouds as PLY files: each as a member of a ZIP archive, or one as a file. */
#include "base/cleanup.h"
#include "media/members.h"

static bool clouds_accepts(const struct reel_channel *channel, struct reel_loss *loss) {
    return members_accept(channel, point_types, "point clouds", loss);
}

static bool clouds_messages(struct reel_write *w, struct reel_sink *out, struct reel_error *err) {
    return members_put(w, points_make, out, err);
}

const struct reel_writer reel_writer_clouds = {
    .name = "clouds",
    .extension = ".clouds.zip",
    .media_type = "application/zip",
    .needs = REEL_DECODES | REEL_HEAD_FIRST,
    .version = 1,
    .totals_size = sizeof(struct members_totals),
    .run_size = sizeof(struct members_run),
    .accepts = clouds_accepts,
    .open = members_open,
    .close = members_close,
    .head = members_head,
    .messages = clouds_messages,
    .tail_parts = members_tail_parts,
    .tail = members_tail,
};

/* ---- the first one of the selection */

static bool put_first(struct reel_write *w, struct reel_sink *out, struct reel_error *err) {
    struct members_run *run = w->run;
    struct reel_message m;
    struct reel_bytes payload;
    struct member member = {0};
    enum reel_step step = reel_write_next(w, &m, err);
    if (step == REEL_STEP_MESSAGE && w->group == 0) {
        const struct reel_decoder *decoder;
        if (!rows_decoder(&run->rows, w, m.channel, &decoder, err)) {
            return false;
        }
        if (!decoder) {
            return reel_fail(err, REEL_UNSUPPORTED, "messages on %.128s cannot be decoded",
                             w->stream->channels[m.channel]->name);
        }
        if (!reel_stream_payload(w->stream, &m, &payload, err) || !points_make(decoder, payload, &member, err)) {
            return false;
        }
        reel_sink_put_bytes(out, member.data);
        free(member.own);
    }
    while (step == REEL_STEP_MESSAGE) {
        step = reel_write_next(w, &m, err);
    }
    return step == REEL_STEP_END;
}

const struct reel_writer reel_writer_ply = {
    .name = "ply",
    .extension = ".ply",
    .media_type = "application/octet-stream",
    .needs = REEL_DECODES,
    .version = 1,
    .run_size = sizeof(struct members_run),
    .accepts = clouds_accepts,
    .open = members_open,
    .close = members_close,
    .head = rows_no_head,
    .messages = put_first,
};
