/* What `reel cat` prints besides rows: messages for people, one of their parts, or figures about them, after the output
 * styles of RSBag's `bag cat`. */
#ifndef SERVER_CLI_CAT_STYLES_H
#define SERVER_CLI_CAT_STYLES_H

#include "base/output_file.h"
#include "cli/cat_figures.h"

bool cat_in_style(struct reel_stream *stream, const struct cat_options *options, struct output_file *out,
                  struct reel_error *err);

#endif
