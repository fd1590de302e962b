/* libreel: reads recordings of robots and simulators, and writes them in other formats. See libreel(3).
 *
 * Functions that can fail return false or NULL and describe the failure in the caller's struct reel_error, which may be
 * NULL. Text is UTF-8. Times are nanoseconds. Structs of options begin with their own size, so that programs keep
 * working with later versions. */
#ifndef REEL_REEL_H
#define REEL_REEL_H

#include "reel/carla.h"
#include "reel/convert.h"
#include "reel/encoding.h"
#include "reel/growing.h"
#include "reel/nanover.h"
#include "reel/open.h"
#include "reel/picture.h"
#include "reel/play.h"
#include "reel/record.h"
#include "reel/rosbag_info.h"
#include "reel/rows.h"
#include "reel/series.h"
#include "reel/split.h"
#include "reel/threads.h"
#include "reel/tide.h"
#include "reel/time.h"
#include "reel/values.h"
#include "reel/version.h"
#include "reel/view.h"

#endif
