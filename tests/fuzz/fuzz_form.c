/* Fuzzes forms. Input: u8 size of the pieces that a body comes in, then the body of a multipart/form-data request with
 * the boundary "bb". A server without threads gets it through a pair of sockets, as forms need a connection of the
 * library. */
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "http/http_internal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { BODY_MAX = 4096, RUNS_MAX = 10000 };

static struct {
    const uint8_t *data;
    size_t size;
    unsigned piece;
    struct http_form *form;
    uint64_t bytes, next; /* of all fields; of the one that is open */
    bool answered, whole;
} now;

static void must(bool holds, const char *what) {
    if (!holds) {
        fprintf(stderr, "%s\n", what);
        abort();
    }
}

static bool on_field(void *context, const char *name, const char *file_name, uint64_t at, const void *data,
                     size_t size) {
    static volatile uint8_t seen; /* reads every byte */
    (void)context;
    for (size_t i = 0; i < size; i++) {
        seen = ((const uint8_t *)data)[i];
    }
    must(at == 0 || at == now.next, "a field comes in order");
    now.next = at + size;
    now.bytes += size;
    return seen + 1 > 0 && strlen(name) <= now.size && (!file_name || strlen(file_name) <= now.size) &&
           strcmp(name, "stop") != 0;
}

/* The body itself: what the library received is not exactly as large as the input. */
static void parse(struct MHD_Connection *connection) {
    struct http_request r = {.mhd = connection};
    now.form = http_form_new(&r, on_field, NULL);
    must(now.form, "it is a form");
    bool good = true;
    for (size_t at = 0; good && at < now.size; at += now.piece) {
        size_t n = now.size - at < now.piece ? now.size - at : now.piece;
        uint8_t *piece = malloc(n);
        must(piece, "memory");
        memcpy(piece, now.data + at, n);
        good = http_form_piece(now.form, piece, n);
        free(piece);
    }
    now.whole = http_form_free(now.form) && good;
    must(now.bytes <= now.size, "no more bytes than there are");
}

static enum MHD_Result on_request(void *context, struct MHD_Connection *connection, const char *url, const char *method,
                                  const char *version, const char *data, size_t *size, void **state) {
    (void)context, (void)url, (void)method, (void)version, (void)data, (void)size, (void)state;
    parse(connection);
    now.answered = true;
    return MHD_NO; /* closes the connection */
}

static struct MHD_Daemon *start(void) {
    static struct MHD_Daemon *daemon;
    if (!daemon) {
        daemon = MHD_start_daemon(MHD_USE_NO_LISTEN_SOCKET, 0, NULL, NULL, on_request, NULL, MHD_OPTION_END);
        must(daemon, "a server");
    }
    return daemon;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const char head[] = "POST / HTTP/1.0\r\nHost: a\r\nContent-Length: 1\r\n"
                               "Content-Type: multipart/form-data; boundary=bb\r\n\r\n";
    int pair[2];
    if (size == 0 || size > BODY_MAX) {
        return 0;
    }
    memset(&now, 0, sizeof now);
    now.data = data + 1;
    now.size = size - 1;
    now.piece = 1 + data[0];
    struct MHD_Daemon *daemon = start();
    must(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair) == 0, "sockets");
    struct sockaddr_in address = {.sin_family = AF_INET};
    must(write(pair[1], head, sizeof head - 1) == (ssize_t)sizeof head - 1, "send the head");
    must(MHD_add_connection(daemon, pair[0], (const struct sockaddr *)&address, sizeof address) == MHD_YES,
         "a connection");
    for (unsigned i = 0; i < RUNS_MAX && !now.answered; i++) {
        MHD_run(daemon);
    }
    must(now.answered, "the request arrived");
    close(pair[1]);
    MHD_run(daemon);
    return 0;
}
