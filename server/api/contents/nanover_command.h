/* Messages of NanoVer's protocol: commands of a client, and what answers them. */
#ifndef SERVER_API_CONTENTS_NANOVER_COMMAND_H
#define SERVER_API_CONTENTS_NANOVER_COMMAND_H

#include <msgpack.h>

#include "reel/bytes.h"

struct nanover_command {
    struct reel_bytes request; /* as it was sent: MessagePack, returned with the answer */
    struct reel_bytes name;
    bool has_index; /* arguments.index, a number */
    int64_t index;
};
/* Calls visit() for each request in a message of a client, until it returns false; what is none is skipped. */
void nanover_command_each(struct reel_bytes message,
                          bool (*visit)(void *context, const struct nanover_command *command), void *context);

void nanover_pack_text(msgpack_packer *to, const char *text);
/* {"command": {"request": …, "response": …}}: the value of the response, or of "exception", is packed next. */
void nanover_pack_answer(msgpack_packer *to, const struct nanover_command *command, const char *member);
/* What makes a client forget frame and state: its keys are those of `state`, a message with all of them. */
void nanover_pack_clear(msgpack_packer *to, struct reel_bytes state);

#endif
