/* systemd: socket activation and the notifications ready, alive and stopping. Built without libsystemd, all of these do
 * nothing. */
#ifndef SERVER_CLI_SYSTEMD_H
#define SERVER_CLI_SYSTEMD_H

#include <stdint.h>

#include "reel/error.h"

enum { SYSTEMD_ADDRESS_ROOM = 80 };

/* The socket of LISTEN_FDS (systemd.socket(5)) and its address, "[::1]:8040"; *fd 0: none was passed. Fails if anything
 * but one listening TCP socket was passed. Removes the variables from the environment. */
bool systemd_socket(int *fd, char address[SYSTEMD_ADDRESS_ROOM], struct reel_error *err);

void systemd_ready(void); /* the server accepts requests */
void systemd_stopping(void);

/* systemd_alive() must be called this often, or systemd restarts the server (WatchdogSec=); 0: no watchdog. */
int64_t systemd_alive_every_ns(void);
void systemd_alive(void);

#endif
