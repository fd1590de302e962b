/* The older NanoVer format: a .traj, a .state, or both as the two parts of one recording. */
#ifndef REEL_FORMATS_NANOVER_LEGACY_CONTAINER_H
#define REEL_FORMATS_NANOVER_LEGACY_CONTAINER_H

#include "index/format.h"

extern const struct reel_format reel_format_nanover_legacy;

#endif
