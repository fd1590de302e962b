/* The images of an episode: a stream that has one message for each frame, at k/fps from the first one, so that the
 * writer of MP4 files makes its video. Messages that several frames have are repeated. */
#ifndef REEL_DATASETS_CAMERA_H
#define REEL_DATASETS_CAMERA_H

#include "convert/conversion.h"
#include "datasets/dataset.h"
#include "stream/view.h"

struct dataset_camera;
/* `source`: of images, in a planned episode. spec->fps is set. Reads the index only. REEL_LIMIT: it has more frames
 * than a video can. */
struct dataset_camera *dataset_camera_new(struct reel_recording *recording, const struct dataset_spec *spec,
                                          const struct dataset_episode *e, uint32_t source, struct reel_error *err);
uint64_t dataset_camera_memory(const struct dataset_episode *e); /* bytes of one of its cameras */
void dataset_camera_free(struct dataset_camera *camera);         /* NULL is fine */
REEL_DEFINE_AUTO(struct dataset_camera, dataset_camera_free);
/* Its video, to be planned and read; the camera must outlive the conversion and its outputs. */
struct reel_conversion *dataset_camera_video(struct dataset_camera *camera, const struct reel_room *room,
                                             struct reel_threads *threads, const char *client, struct reel_error *err);
uint32_t dataset_camera_version(void); /* changes when a byte of a video or a number of the statistics does */

/* Of red, green and blue over the pixels, 0 to 1; count: of the images that were looked at. As LeRobot has it: of n
 * frames n^0.75, at least 100 and at most 10,000, at equal distances; of large images each k-th row and column. All
 * are zero where recorded video cannot be decoded here, which players may do: of H.265, of some profiles of H.264. */
enum { CAMERA_COLOURS = 3 };
bool dataset_camera_statistics(struct dataset_camera *camera, struct dataset_number out[CAMERA_COLOURS],
                               struct reel_error *err);

#endif
