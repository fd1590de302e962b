/* The reports of RSBag's own tools: the channels of a TIDE file (scope, wire schema, source, types, rate), and its
 * participants. */
#ifndef REEL_FORMATS_TIDE_REPORT_H
#define REEL_FORMATS_TIDE_REPORT_H

#include "stream/stream.h"
#include "tables/table.h"

/* From the index alone: a row a channel, in the order of the file. `types`: the file's TYPE blocks for it, the envelope
 * first, as JSON. REEL_UNSUPPORTED: no TIDE file; REEL_CANCELLED: the table stopped. */
bool reel_tide_channels(const struct reel_index *index, const struct reel_table *to, struct reel_error *err);

/* The contents of RSB's introspection events, as JSON with a newline, from malloc:
 * {"hosts":[{…,"processes":[{…,"participants":[{id, parent, kind, scope, type, transport, first_hello, last_hello,
 * bye}]}]}]}; bye is null of who had not gone at the end. Of the selection the times count; NULL: all.
 * REEL_UNSUPPORTED: no RSB events; REEL_LIMIT. */
char *reel_tide_introspection(struct reel_recording *recording, const struct reel_selection *selection,
                              struct reel_error *err);

#endif
