/* Figures about the messages that `reel cat` reads: statistics, monitor and timeline. */
#ifndef SERVER_CLI_CAT_FIGURES_H
#define SERVER_CLI_CAT_FIGURES_H

#include "base/grow.h"
#include "cli/cat_styles.h"
#include "reel/time.h"

struct cat_figures;
struct cat_figures *cat_figures_new(const struct reel_stream *stream, const struct cat_options *options); /* NULL: no
                                                                                                             memory */
void cat_figures_free(struct cat_figures *figures); /* NULL is fine */
REEL_DEFINE_AUTO(struct cat_figures, cat_figures_free);
/* Counts a message; writes the intervals that are over. False: no memory. */
bool cat_figures_add(struct cat_figures *figures, const struct reel_message *m, struct grow *to);
/* Writes the rest. */
bool cat_figures_end(struct cat_figures *figures, struct grow *to);

/* cat_styles.c: as the recording's clock has it. */
const char *cat_time(int64_t ns, enum reel_clock clock, char out[REEL_TIME_TEXT]);

#endif
