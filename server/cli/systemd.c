/* Socket activation and notifications, by libsystemd. Notifications do not block. */
#include "cli/systemd.h"

#ifdef REEL_SYSTEMD

#include <netdb.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <systemd/sd-daemon.h>

bool systemd_socket(int *fd, char address[SYSTEMD_ADDRESS_ROOM], struct reel_error *err) {
    struct sockaddr_storage at;
    socklen_t size = sizeof at;
    char host[64], port[8];
    int n = sd_listen_fds(1);
    *fd = 0;
    if (n <= 0) {
        return n == 0 || reel_fail(err, REEL_ARGUMENT, "LISTEN_FDS is invalid");
    }
    if (n > 1) {
        return reel_fail(err, REEL_ARGUMENT,
                         "systemd passed %d sockets; the server takes one (a single ListenStream= in the .socket unit)",
                         n);
    }
    if (sd_is_socket_inet(SD_LISTEN_FDS_START, AF_UNSPEC, SOCK_STREAM, 1, 0) <= 0 ||
        getsockname(SD_LISTEN_FDS_START, (struct sockaddr *)&at, &size) != 0 ||
        getnameinfo((struct sockaddr *)&at, size, host, sizeof host, port, sizeof port,
                    NI_NUMERICHOST | NI_NUMERICSERV) != 0) {
        return reel_fail(err, REEL_ARGUMENT, "the socket that systemd passed is not a listening TCP socket");
    }
    snprintf(address, SYSTEMD_ADDRESS_ROOM, strchr(host, ':') ? "[%s]:%s" : "%s:%s", host, port);
    *fd = SD_LISTEN_FDS_START;
    return true;
}

void systemd_ready(void) {
    sd_notify(0, "READY=1");
}

void systemd_stopping(void) {
    sd_notify(0, "STOPPING=1");
}

int64_t systemd_alive_every_ns(void) {
    uint64_t limit_us = 0;
    return sd_watchdog_enabled(0, &limit_us) > 0 ? (int64_t)(limit_us * 1000 / 2) : 0;
}

void systemd_alive(void) {
    sd_notify(0, "WATCHDOG=1");
}

#else

bool systemd_socket(int *fd, char address[SYSTEMD_ADDRESS_ROOM], struct reel_error *err) {
    (void)address, (void)err;
    *fd = 0;
    return true;
}

void systemd_ready(void) {
}

void systemd_stopping(void) {
}

int64_t systemd_alive_every_ns(void) {
    return 0;
}

void systemd_alive(void) {
}

#endif
