/* See websocket.h. */
#include "http/websocket.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <wslay/wslay.h>

#include "base/ascii.h"
#include "base/bytes.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/digest.h"
#include "base/grow.h"
#include "base/limits.h"
#include "syntax/base64.h"

enum { READ_ONCE = 64 << 10, INBOX_RETAINED = 64 << 10, QUEUED_MAX = 16 /* messages */ };
static const int64_t SECOND_NS = 1000000000;
static const int64_t LOOK_NS = 400000000;              /* how often goes_on() is called */
static const int64_t STALL_NS = INT64_C(30000000000);  /* without a byte that could be sent */
static const int64_t PING_NS = INT64_C(20000000000);   /* of silence */
static const int64_t SILENT_NS = INT64_C(60000000000); /* so long after the last byte, and asked, the other side is gone
                                                        */
static const int64_t CLOSE_NS = INT64_C(1000000000);   /* for its close frame */

/* Of a message in the inbox, before its bytes. */
struct record {
    size_t size;
    bool text;
};

struct websocket {
    struct websocket_options options;
    wslay_event_context_ptr frames;
    uint8_t *early; /* copy of options.early */
    /* Messages as records: [0, at) were returned, [at, end) are whole, the rest is being received. */
    struct grow inbox;
    size_t at, end;
    bool control;  /* the frame that is being received is one */
    bool begun;    /* a message is being received */
    bool broken;   /* the connection is */
    bool more;     /* the carrier may hold bytes that poll() does not see */
    size_t budget; /* bytes that this round may still read */
    int64_t heard_ns, sent_ns, pinged_ns, looked_ns;
    uint64_t received, sent;
};

/* ---- callbacks of wslay */

static ssize_t on_read(wslay_event_context_ptr frames, uint8_t *buffer, size_t size, int flags, void *context) {
    struct websocket *ws = context;
    struct reel_bytes *early = &ws->options.early;
    (void)flags;
    size = size < ws->budget ? size : ws->budget;
    ssize_t got = 0;
    if (size > 0 && early->size > 0) {
        got = (ssize_t)(early->size < size ? early->size : size);
        memcpy(buffer, early->data, (size_t)got);
        *early = bytes_of(early->data + got, early->size - (size_t)got);
    } else if (size > 0) {
        const struct websocket_carrier *carrier = &ws->options.carrier;
        got = carrier->receive ? carrier->receive(carrier->context, buffer, size)
                               : recv(ws->options.fd, buffer, size, MSG_DONTWAIT);
        ws->more = carrier->receive && got > 0;
    }
    if (got > 0) {
        ws->budget -= (size_t)got;
        ws->received += (uint64_t)got;
        ws->heard_ns = clock_ns();
        return got;
    }
    bool waits = size == 0 || (got < 0 && (errno == EAGAIN || errno == EINTR));
    ws->broken = ws->broken || !waits;
    wslay_event_set_error(frames, waits ? WSLAY_ERR_WOULDBLOCK : WSLAY_ERR_CALLBACK_FAILURE);
    return -1;
}

static ssize_t on_write(wslay_event_context_ptr frames, const uint8_t *data, size_t size, int flags, void *context) {
    struct websocket *ws = context;
    (void)flags;
    const struct websocket_carrier *carrier = &ws->options.carrier;
    ssize_t sent = carrier->send ? carrier->send(carrier->context, data, size)
                                 : send(ws->options.fd, data, size, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent >= 0) {
        ws->sent += (uint64_t)sent;
        ws->sent_ns = clock_ns();
        return sent;
    }
    bool waits = errno == EAGAIN || errno == EINTR;
    ws->broken = ws->broken || !waits;
    wslay_event_set_error(frames, waits ? WSLAY_ERR_WOULDBLOCK : WSLAY_ERR_CALLBACK_FAILURE);
    return -1;
}

static int on_mask(wslay_event_context_ptr frames, uint8_t *buffer, size_t size, void *context) {
    (void)frames, (void)context;
    return getrandom(buffer, size, 0) == (ssize_t)size ? 0 : -1;
}

static void refuse(struct websocket *ws, enum websocket_close code) {
    wslay_event_queue_close(ws->frames, code, NULL, 0);
    wslay_event_shutdown_read(ws->frames);
}

static void on_frame(wslay_event_context_ptr frames, const struct wslay_event_on_frame_recv_start_arg *frame,
                     void *context) {
    struct websocket *ws = context;
    (void)frames;
    ws->control = wslay_is_ctrl_frame(frame->opcode);
    if (ws->control) {
        return;
    }
    if (!ws->begun) {
        struct record none = {.text = frame->opcode == WSLAY_TEXT_FRAME};
        grow_put(&ws->inbox, &none, sizeof none);
        ws->begun = true;
    }
    if (!ws->inbox.failed &&
        frame->payload_length > ws->options.message_max - (ws->inbox.size - ws->end - sizeof(struct record))) {
        refuse(ws, WEBSOCKET_TOO_BIG);
    }
}

static void on_bytes(wslay_event_context_ptr frames, const struct wslay_event_on_frame_recv_chunk_arg *part,
                     void *context) {
    struct websocket *ws = context;
    if (!ws->control && wslay_event_get_read_enabled(frames)) {
        grow_put(&ws->inbox, part->data, part->data_length);
    }
}

static void on_message(wslay_event_context_ptr frames, const struct wslay_event_on_msg_recv_arg *message,
                       void *context) {
    struct websocket *ws = context;
    if (wslay_is_ctrl_frame(message->opcode) || !wslay_event_get_read_enabled(frames) || ws->inbox.failed) {
        return;
    }
    struct record record;
    memcpy(&record, ws->inbox.data + ws->end, sizeof record);
    record.size = ws->inbox.size - ws->end - sizeof record;
    memcpy(ws->inbox.data + ws->end, &record, sizeof record);
    ws->end = ws->inbox.size;
    ws->begun = false;
}

/* ---- one connection */

struct websocket *websocket_new(const struct websocket_options *options, struct reel_error *err) {
    static const struct wslay_event_callbacks callbacks = {.recv_callback = on_read,
                                                           .send_callback = on_write,
                                                           .genmask_callback = on_mask,
                                                           .on_frame_recv_start_callback = on_frame,
                                                           .on_frame_recv_chunk_callback = on_bytes,
                                                           .on_msg_recv_callback = on_message};
    AUTO(websocket_free) struct websocket *ws = calloc(1, sizeof *ws);
    if (!ws || !(ws->early = malloc(options->early.size + 1)) ||
        (options->client ? wslay_event_context_client_init : wslay_event_context_server_init)(&ws->frames, &callbacks,
                                                                                              ws) != 0) {
        reel_fail_memory(err);
        return NULL;
    }
    ws->options = *options;
    if (options->early.size > 0) {
        memcpy(ws->early, options->early.data, options->early.size);
    }
    ws->options.early.data = ws->early;
    ws->heard_ns = ws->sent_ns = ws->pinged_ns = clock_ns();
    wslay_event_config_set_no_buffering(ws->frames, 1);
    return TAKE(ws);
}

void websocket_free(struct websocket *ws) {
    if (ws) {
        if (ws->frames) {
            wslay_event_context_free(ws->frames);
        }
        grow_done(&ws->inbox);
        free(ws->early);
        free(ws);
    }
}

static bool is_over(struct websocket *ws) {
    return ws->broken || ws->inbox.failed ||
           (!wslay_event_want_read(ws->frames) && !wslay_event_want_write(ws->frames));
}

static bool goes_on(struct websocket *ws, int64_t now) {
    if (!ws->options.goes_on || now - ws->looked_ns < LOOK_NS) {
        return true;
    }
    ws->looked_ns = now;
    return ws->options.goes_on(ws->options.context);
}

static void flush(struct websocket *ws) {
    ws->broken = ws->broken || (wslay_event_want_write(ws->frames) && wslay_event_send(ws->frames) != 0);
}

/* The other side cannot make us queue without end: what is queued is answers to what was read. */
static bool may_read(struct websocket *ws) {
    return wslay_event_want_read(ws->frames) && wslay_event_get_queued_msg_count(ws->frames) < QUEUED_MAX &&
           wslay_event_get_queued_msg_length(ws->frames) < REEL_SOCKET_QUEUED_MAX;
}

/* Waits for the socket, or `wake`, for `timeout_ns`; then reads and writes what is possible. True: `wake` is readable.
 */
static bool exchange(struct websocket *ws, int wake, int64_t timeout_ns) {
    bool reads = may_read(ws), early = reads && (ws->options.early.size > 0 || ws->more);
    int64_t wait_ns = early || timeout_ns < 0 ? 0 : timeout_ns < LOOK_NS ? timeout_ns : LOOK_NS;
    struct timespec time = {.tv_sec = wait_ns / SECOND_NS, .tv_nsec = wait_ns % SECOND_NS};
    struct pollfd fds[2] = {{.fd = ws->options.fd, .events = reads ? POLLIN : 0}, {.fd = wake, .events = POLLIN}};
    fds[0].events |= wslay_event_want_write(ws->frames) ? POLLOUT : 0;
    if (ppoll(fds, 2, &time, NULL) <= 0 && !early) {
        return false;
    }
    if (early || (reads && (fds[0].revents & (POLLIN | POLLHUP | POLLERR)))) {
        ws->budget = READ_ONCE;
        if (wslay_event_recv(ws->frames) != 0) { /* what breaks the rules: a close frame is queued */
            wslay_event_shutdown_read(ws->frames);
        }
    } else {
        ws->broken = ws->broken || (fds[0].revents & (POLLHUP | POLLERR));
    }
    flush(ws);
    return fds[1].revents & POLLIN;
}

bool websocket_send(struct websocket *ws, bool text, struct reel_bytes message, struct reel_error *err) {
    const struct wslay_event_msg queued = {
        .opcode = text ? WSLAY_TEXT_FRAME : WSLAY_BINARY_FRAME, .msg = message.data, .msg_length = message.size};
    if (is_over(ws) || wslay_event_queue_msg(ws->frames, &queued) != 0) {
        return reel_fail(err, REEL_CANCELLED, "the connection is closed");
    }
    ws->sent_ns = clock_ns();
    flush(ws);
    if (wslay_event_want_write(ws->frames) && ws->options.waits) {
        ws->options.waits(ws->options.waits_context);
    }
    while (wslay_event_want_write(ws->frames) && !is_over(ws)) {
        struct pollfd out = {.fd = ws->options.fd, .events = POLLOUT};
        int64_t now = clock_ns();
        if (!goes_on(ws, now)) {
            return reel_fail(err, REEL_CANCELLED, "it was ended");
        }
        if (now - ws->sent_ns >= STALL_NS) {
            ws->broken = true;
            return reel_fail(err, REEL_IO, "the other side reads nothing");
        }
        (void)poll(&out, 1, (int)(LOOK_NS / 1000000));
        uint64_t sent = ws->sent;
        flush(ws);
        ws->heard_ns = ws->sent > sent ? ws->sent_ns : ws->heard_ns; /* the other side has read */
    }
    return !is_over(ws) || reel_fail(err, REEL_CANCELLED, "the connection is closed");
}

/* Moves what is being received to the begin of the inbox, once all whole messages were returned. */
static void inbox_clean(struct websocket *ws) {
    if (ws->at == ws->end && ws->end > 0) {
        memmove(ws->inbox.data, ws->inbox.data + ws->end, ws->inbox.size - ws->end);
        ws->inbox.size -= ws->end;
        ws->at = ws->end = 0;
        if (ws->inbox.size == 0 && ws->inbox.capacity > INBOX_RETAINED) {
            grow_done(&ws->inbox);
        }
    }
}

static bool inbox_take(struct websocket *ws, struct websocket_message *out) {
    if (ws->at == ws->end) {
        return false;
    }
    struct record record;
    memcpy(&record, ws->inbox.data + ws->at, sizeof record);
    *out = (struct websocket_message){.text = record.text,
                                      .bytes = bytes_of(ws->inbox.data + ws->at + sizeof record, record.size)};
    ws->at += sizeof record + record.size;
    return true;
}

/* Whether the other side is still there; after some silence it is asked. */
static bool is_alive(struct websocket *ws, int64_t now) {
    const struct wslay_event_msg ping = {.opcode = WSLAY_PING};
    if (now - ws->heard_ns < PING_NS || now - ws->pinged_ns < PING_NS) {
        return true;
    }
    if (now - ws->heard_ns >= SILENT_NS && ws->pinged_ns > ws->heard_ns) {
        return false;
    }
    ws->pinged_ns = now;
    return wslay_event_queue_msg(ws->frames, &ping) == 0;
}

enum websocket_got websocket_wait(struct websocket *ws, int wake, int64_t until_ns, struct websocket_message *out) {
    for (bool read = false;; read = true) {
        int64_t now = clock_ns();
        inbox_clean(ws);
        if (inbox_take(ws, out)) {
            return WEBSOCKET_MESSAGE;
        }
        if (is_over(ws) || (read && !is_alive(ws, now)) || !goes_on(ws, now)) {
            return WEBSOCKET_OVER;
        }
        if (read && now >= until_ns) {
            return WEBSOCKET_QUIET;
        }
        if (exchange(ws, wake, until_ns - now) && ws->at == ws->end) {
            return WEBSOCKET_QUIET;
        }
    }
}

/* Reads and drops until the other side has closed: closing a socket with unread bytes would reset it, and what was sent
 * last be lost. */
static void drain(const struct websocket *ws, int64_t until_ns) {
    char bytes[4096];
    struct pollfd in = {.fd = ws->options.fd, .events = POLLIN};
    shutdown(ws->options.fd, SHUT_WR);
    for (int64_t now = clock_ns(); now < until_ns; now = clock_ns()) {
        if (poll(&in, 1, (int)((until_ns - now) / 1000000)) <= 0 ||
            recv(in.fd, bytes, sizeof bytes, MSG_DONTWAIT) <= 0) {
            return;
        }
    }
}

void websocket_close(struct websocket *ws, enum websocket_close code, const char *reason) {
    int64_t until_ns = clock_ns() + CLOSE_NS;
    if (!wslay_event_get_close_sent(ws->frames)) {
        wslay_event_queue_close(ws->frames, (uint16_t)code, (const uint8_t *)reason, strnlen(reason, 120));
    }
    flush(ws);
    while (!is_over(ws) && clock_ns() < until_ns) {
        inbox_clean(ws);
        ws->at = ws->end; /* messages that come now are dropped */
        exchange(ws, -1, until_ns - clock_ns());
    }
    if (!ws->broken) {
        drain(ws, until_ns);
    }
}

unsigned websocket_close_code(const struct websocket *ws) {
    return wslay_event_get_close_received(ws->frames) ? wslay_event_get_status_code_received(ws->frames) : 0;
}

unsigned websocket_own_code(const struct websocket *ws) {
    return wslay_event_get_close_sent(ws->frames) ? wslay_event_get_status_code_sent(ws->frames) : 0;
}

uint64_t websocket_received(const struct websocket *ws) {
    return ws->received;
}

uint64_t websocket_sent(const struct websocket *ws) {
    return ws->sent;
}

/* ---- the opening handshake */

bool websocket_accept(const char *key, char out[WEBSOCKET_ACCEPT]) {
    static const char guid[] = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
    uint8_t random[BASE64_ROOM(WEBSOCKET_KEY)], hash[DIGEST_SHA1];
    size_t size = 0;
    if (strlen(key) != WEBSOCKET_KEY - 1 || !base64_read(bytes_text(key), random, &size) || size != 16) {
        return false;
    }
    struct digest digest;
    digest_start(&digest, DIGEST_SHA1);
    digest_add(&digest, key, WEBSOCKET_KEY - 1);
    digest_add(&digest, guid, sizeof guid - 1);
    digest_end(&digest, hash);
    base64_write(bytes_of(hash, sizeof hash), out);
    out[WEBSOCKET_ACCEPT - 1] = '\0';
    return true;
}

bool websocket_listed(const char *list, const char *token) {
    for (const char *at = list; at && *at;) {
        at += strspn(at, " \t,");
        size_t size = strcspn(at, ",");
        size_t used = size;
        while (used > 0 && (at[used - 1] == ' ' || at[used - 1] == '\t')) {
            used--;
        }
        if (used == strlen(token) && ascii_ncasecmp(at, token, used) == 0) {
            return true;
        }
        at += size;
    }
    return false;
}
