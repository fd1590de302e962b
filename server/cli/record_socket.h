/* `reel record ws://…`: what a NanoVer server sends, as it comes. */
#ifndef SERVER_CLI_RECORD_SOCKET_H
#define SERVER_CLI_RECORD_SOCKET_H

#include "cli/record_spool.h"
#include "reel/record.h"

struct record_socket_options {
    const char *url;
    const char *token_file; /* NULL: without a token */
    bool from_zero;         /* times count from the start of the recording, as NanoVer's own recorder has them */
    bool (*go_on)(void);    /* false: interrupted */
};
bool record_is_socket(const char *text); /* ws://, wss:// */
struct record_socket;
struct record_socket *record_socket_open(const struct record_socket_options *options, struct reel_error *err);
void record_socket_free(struct record_socket *socket); /* NULL is fine */
REEL_DEFINE_AUTO(struct record_socket, record_socket_free);
/* Stores each binary message as it was received, until it is interrupted or the server ends the connection. */
struct record_socket_output { /* one of the two */
    struct reel_recorder *recorder;
    struct record_spool *spool; /* of rows of MessagePack */
};
bool record_socket_run(struct record_socket *socket, const struct record_socket_output *to, uint64_t *messages,
                       struct reel_error *err);

#endif
