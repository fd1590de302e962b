/* Downloads http://127.0.0.1:PORT/PATH once and throws it away, as cheaply as can be, so that the server is what is
 * measured; prints JSON. Rule: the body has a Content-Length and all of it must come. */
#include <arpa/inet.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { BUFFER_BYTES = 256 << 10 };

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static int ask(uint16_t port, const char *path) {
    char text[2048];
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port), .sin_addr = {htonl(INADDR_LOOPBACK)}};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int size =
        snprintf(text, sizeof text, "GET %s HTTP/1.1\r\nHost: 127.0.0.1:%u\r\nConnection: close\r\n\r\n", path, port);
    if (fd < 0 || size >= (int)sizeof text || connect(fd, (struct sockaddr *)&address, sizeof address) != 0 ||
        write(fd, text, (size_t)size) != size) {
        perror("drain: connect");
        exit(1);
    }
    return fd;
}

/* Reads up to the end of the headers, and the part of the body that came with them (*held, after *body). */
static void read_headers(int fd, char *buffer, const char **body, size_t *held) {
    size_t size = 0;
    char *end = NULL;
    while (!end) {
        ssize_t n = recv(fd, buffer + size, BUFFER_BYTES - 1 - size, 0);
        if (n <= 0) {
            fputs("drain: no answer\n", stderr);
            exit(1);
        }
        size += (size_t)n;
        buffer[size] = '\0';
        end = memmem(buffer, size, "\r\n\r\n", 4);
    }
    *end = '\0';
    *body = end + 4;
    *held = size - (size_t)(*body - buffer);
}

int main(int argc, char **argv) {
    static char buffer[BUFFER_BYTES];
    const char *body, *length;
    size_t got;
    int status = 0;
    if (argc != 3) {
        fputs("usage: drain PORT PATH\n", stderr);
        return 2;
    }
    double start = now();
    int fd = ask((uint16_t)atoi(argv[1]), argv[2]);
    read_headers(fd, buffer, &body, &got);
    length = strcasestr(buffer, "\r\nContent-Length:");
    if (sscanf(buffer, "HTTP/1.1 %d", &status) != 1 || !length) {
        fprintf(stderr, "drain: %s\n", buffer);
        return 1;
    }
    uint64_t wanted = strtoull(length + 17, NULL, 10), bytes = got;
    while (bytes < wanted) {
        ssize_t n = recv(fd, buffer, sizeof buffer, 0);
        if (n <= 0) {
            fprintf(stderr, "drain: cut after %" PRIu64 " of %" PRIu64 " bytes\n", bytes, wanted);
            return 1;
        }
        bytes += (uint64_t)n;
    }
    printf("{\"seconds\": %.6f, \"status\": %d, \"bytes\": %" PRIu64 "}\n", now() - start, status, bytes);
    close(fd);
    return 0;
}
