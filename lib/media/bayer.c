/* Mosaics of a Bayer filter, where a pixel has one colour: the two others are the means of its nearest neighbours that
 * have them. Neighbours beyond an edge are those on its other side, which have the same colour. */
#include "media/image.h"

static uint64_t before(uint64_t i, uint64_t n) {
    return i > 0 ? i - 1 : n > 1 ? 1 : 0;
}
static uint64_t after(uint64_t i, uint64_t n) {
    return i + 1 < n ? i + 1 : i > 0 ? i - 1 : 0;
}

void bayer_row(const struct mosaic *m, uint32_t y, uint8_t *to) {
    const struct reel_image *image = m->image;
    const uint8_t *data = image->data.data + (m->bytes == 2 && !image->big_endian); /* of 16 bits, the upper 8 */
    const uint8_t *row = data + y * m->step, *up = data + before(y, image->height) * m->step,
                  *down = data + after(y, image->height) * m->step;
    bool red_row = (y & 1) == m->red_y;
    for (uint32_t i = 0; i < image->width; i++, to += 3) {
        size_t x = (size_t)i * m->bytes, left = before(i, image->width) * m->bytes,
               right = after(i, image->width) * m->bytes;
        bool red_column = (i & 1) == m->red_x;
        int across = row[left] + row[right], along = up[x] + down[x];
        if (red_row == red_column) { /* red or blue */
            uint8_t other = (uint8_t)((up[left] + up[right] + down[left] + down[right] + 2) / 4);
            to[0] = red_row ? row[x] : other;
            to[1] = (uint8_t)((across + along + 2) / 4);
            to[2] = red_row ? other : row[x];
        } else {
            to[0] = (uint8_t)(((red_row ? across : along) + 1) / 2);
            to[1] = row[x];
            to[2] = (uint8_t)(((red_row ? along : across) + 1) / 2);
        }
    }
}
