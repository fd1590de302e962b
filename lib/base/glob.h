/* Globs: * is any run of characters, ? one. */
#ifndef REEL_BASE_GLOB_H
#define REEL_BASE_GLOB_H

#include <stdbool.h>

bool reel_glob_match(const char *glob, const char *text);
/* The same for topics: one leading slash does not count on either side, because recordings from before 2010 often lack
 * it. */
bool reel_topic_match(const char *glob, const char *topic);

#endif
