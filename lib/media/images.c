/* Images as files in a ZIP archive: JPEG and PNG as recorded, pixels as PNG. */
#include "base/cleanup.h"
#include "media/members.h"
#include "media/picture.h"

static bool make_image(const struct reel_decoder *decoder, struct reel_bytes payload, struct member *member,
                       struct reel_error *err) {
    AUTO_STRUCT(reel_image_done) struct reel_image image = {0};
    struct reel_picture picture;
    static const char *const extensions[] = {[REEL_PICTURE_JPEG] = ".jpg",
                                             [REEL_PICTURE_PNG] = ".png",
                                             [REEL_PICTURE_H264] = ".h264",
                                             [REEL_PICTURE_H265] = ".h265"};
    if (!reel_image_read(decoder, payload, &image, err)) {
        return false;
    }
    if (image.compressed) {
        *member = (struct member){.data = image.data, .extension = extensions[image.form], .own = TAKE(image.own)};
        return true;
    }
    if (!reel_picture_make(&image, REEL_PICTURE_PNG, 0, &picture, err)) {
        return false;
    }
    *member =
        (struct member){.data = {.data = picture.data, .size = picture.size}, .extension = ".png", .own = picture.data};
    return true;
}

static bool images_accepts(const struct reel_channel *channel, struct reel_loss *loss) {
    static const char *const types[] = {"Image", "CompressedImage", "RawImage", "EncodedImage", NULL};
    return members_accept(channel, types, "images", loss);
}

static bool images_messages(struct reel_write *w, struct reel_sink *out, struct reel_error *err) {
    return members_put(w, make_image, out, err);
}

const struct reel_writer reel_writer_images = {
    .name = "images",
    .extension = ".images.zip",
    .media_type = "application/zip",
    .needs = REEL_COMPRESSES | REEL_DECODES | REEL_HEAD_FIRST,
    .version = 16 * REEL_PICTURE_VERSION + 1,
    .totals_size = sizeof(struct members_totals),
    .run_size = sizeof(struct members_run),
    .accepts = images_accepts,
    .open = members_open,
    .close = members_close,
    .head = members_head,
    .messages = images_messages,
    .tail_parts = members_tail_parts,
    .tail = members_tail,
};
