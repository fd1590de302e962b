/* What a client sends by WebSocket: the data arrive in pieces, whose sizes the first byte chooses. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/bytes.h"
#include "http/websocket.h"

enum { MESSAGE_MAX = 4096, PIECE_MAX = 1024 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Reads all messages that are whole; false: it is over. */
static bool read_all(struct websocket *ws, int theirs) {
    struct websocket_message m;
    enum websocket_got got;
    char answers[4096];
    while ((got = websocket_wait(ws, -1, 0, &m)) == WEBSOCKET_MESSAGE) {
        if (m.bytes.size > MESSAGE_MAX) {
            abort();
        }
    }
    while (recv(theirs, answers, sizeof answers, MSG_DONTWAIT) > 0) {
    }
    return got != WEBSOCKET_OVER;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct reel_error err = {0};
    int fds[2];
    if (size < 2 || socketpair(AF_UNIX, SOCK_STREAM, 0, fds) != 0) {
        return 0;
    }
    size_t piece = 1 + (size_t)data[0] * PIECE_MAX / 256, early = data[1] < size - 2 ? data[1] : size - 2,
           at = 2 + early;
    struct websocket *ws = websocket_new(
        &(struct websocket_options){.fd = fds[0], .early = bytes_of(data + 2, early), .message_max = MESSAGE_MAX},
        &err);
    while (ws && at < size && read_all(ws, fds[1])) {
        size_t next = piece < size - at ? piece : size - at;
        at = send(fds[1], data + at, next, MSG_NOSIGNAL) == (ssize_t)next ? at + next : size;
    }
    shutdown(fds[1], SHUT_WR);
    if (ws && read_all(ws, fds[1])) {
        websocket_close(ws, WEBSOCKET_NORMAL, "");
    }
    websocket_free(ws);
    close(fds[0]);
    close(fds[1]);
    return 0;
}
