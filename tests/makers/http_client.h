/* A small HTTP client over a raw socket, for tests that must see every byte. Its one rule: it believes nothing: a body
 * that does not end as its framing says is not `complete`. */
#ifndef TESTS_HTTP_CLIENT_H
#define TESTS_HTTP_CLIENT_H

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/ascii.h"

enum { CLIENT_WAIT_MS = 60000 };

struct answer {
    unsigned status;
    char head[8192];
    char *body; /* NUL-terminated */
    size_t size;
    bool complete;
};

struct client {
    int fd;
    char *held; /* read and not yet used */
    size_t size;
};

static inline struct client client_open(const char *url) {
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    to.sin_port = htons((uint16_t)atoi(strrchr(url, ':') + 1));
    struct client c = {.fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    if (connect(c.fd, (struct sockaddr *)&to, sizeof to) != 0) {
        close(c.fd);
        c.fd = -1;
    }
    return c;
}

static inline void client_close(struct client *c) {
    if (c->fd >= 0) {
        close(c->fd);
    }
    free(c->held);
    *c = (struct client){.fd = -1};
}

static inline bool client_send_bytes(struct client *c, const void *data, size_t size) {
    const char *p = data;
    while (size > 0) {
        ssize_t sent = send(c->fd, p, size, MSG_NOSIGNAL);
        if (sent <= 0) {
            return false;
        }
        p += sent;
        size -= (size_t)sent;
    }
    return true;
}

static inline bool client_send(struct client *c, const char *text) {
    return client_send_bytes(c, text, strlen(text));
}

/* Reads more; false at the end, on reset, or when nothing comes. */
static inline bool client_more(struct client *c) {
    struct pollfd wait = {.fd = c->fd, .events = POLLIN};
    if (poll(&wait, 1, CLIENT_WAIT_MS) <= 0) {
        return false;
    }
    char bytes[65536];
    ssize_t got = recv(c->fd, bytes, sizeof bytes, 0);
    if (got <= 0) {
        return false;
    }
    c->held = realloc(c->held, c->size + (size_t)got + 1);
    memcpy(c->held + c->size, bytes, (size_t)got);
    c->size += (size_t)got;
    c->held[c->size] = '\0';
    return true;
}

static inline void client_drop(struct client *c, size_t size) {
    memmove(c->held, c->held + size, c->size - size + 1);
    c->size -= size;
}

/* A header's value, copied into a buffer of its own that the next call overwrites; NULL when absent. */
static inline const char *answer_header(const struct answer *a, const char *name) {
    static _Thread_local char value[4096];
    size_t name_size = strlen(name);
    for (const char *line = strstr(a->head, "\r\n"); line && line[2]; line = strstr(line + 2, "\r\n")) {
        if (ascii_ncasecmp(line + 2, name, name_size) == 0 && line[2 + name_size] == ':') {
            const char *begin = line + 3 + name_size + strspn(line + 3 + name_size, " ");
            snprintf(value, sizeof value, "%.*s", (int)strcspn(begin, "\r"), begin);
            return value;
        }
    }
    return NULL;
}

static inline bool client_take(struct client *c, struct answer *a, size_t size) {
    bool whole = true;
    while (c->size < size && (whole = client_more(c))) {
    }
    size = size < c->size ? size : c->size;
    a->body = realloc(a->body, a->size + size + 1);
    memcpy(a->body + a->size, c->held, size);
    a->size += size;
    a->body[a->size] = '\0';
    client_drop(c, size);
    return whole;
}

static inline bool client_chunks(struct client *c, struct answer *a) {
    while (true) {
        char *end = NULL;
        while (!(c->size && (end = strstr(c->held, "\r\n")))) {
            if (!client_more(c)) {
                return false;
            }
        }
        size_t size = strtoul(c->held, NULL, 16);
        client_drop(c, (size_t)(end + 2 - c->held));
        if (!client_take(c, a, size + 2)) {
            return false;
        }
        a->size -= 2;
        a->body[a->size] = '\0';
        if (size == 0) {
            return true;
        }
    }
}

/* Reads one answer (past any 100). Status 0 when none came. */
static inline struct answer client_answer(struct client *c, bool head_only) {
    struct answer a = {0};
    char *end = NULL;
    while (!(c->size && (end = strstr(c->held, "\r\n\r\n")))) {
        if (!client_more(c)) {
            return a;
        }
    }
    snprintf(a.head, sizeof a.head, "%.*s", (int)(end + 2 - c->held), c->held);
    client_drop(c, (size_t)(end + 4 - c->held));
    a.status = (unsigned)atoi(a.head + 9);
    if (a.status == 100) {
        return client_answer(c, head_only);
    }
    const char *length = answer_header(&a, "Content-Length");
    size_t size = length ? strtoul(length, NULL, 10) : 0;
    const char *coding = answer_header(&a, "Transfer-Encoding");
    if (head_only || a.status == 204 || a.status == 304) {
        a.complete = client_take(c, &a, 0);
    } else if (coding) {
        a.complete = client_chunks(c, &a);
    } else {
        a.complete = client_take(c, &a, size);
    }
    return a;
}

/* Whether the server has closed the connection (or does within the wait). */
static inline bool client_ended(struct client *c, int wait_ms) {
    struct pollfd wait = {.fd = c->fd, .events = POLLIN};
    char byte;
    return poll(&wait, 1, wait_ms) > 0 && recv(c->fd, &byte, 1, MSG_PEEK) <= 0;
}

static inline void client_request(struct client *c, const char *method, const char *target, const char *headers) {
    char text[8192];
    snprintf(text, sizeof text, "%s %s HTTP/1.1\r\nHost: localhost\r\n%s\r\n", method, target, headers ? headers : "");
    client_send(c, text);
}

/* One request on a connection of its own. */
static inline struct answer client_ask(const char *url, const char *method, const char *target, const char *headers) {
    struct client c = client_open(url);
    client_request(&c, method, target, headers);
    struct answer a = client_answer(&c, strcmp(method, "HEAD") == 0);
    client_close(&c);
    return a;
}

static inline long long clock_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (long long)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static inline void sleep_ms(long ms) {
    nanosleep(&(struct timespec){.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000}, NULL);
}

#endif
