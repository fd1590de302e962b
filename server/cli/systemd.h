/* What systemd hands to the server, and what it is told: a socket that listens already, ready, alive, stopping. Built without libsystemd
 * all of it is "there is no systemd". */
#ifndef SERVER_CLI_SYSTEMD_H
#define SERVER_CLI_SYSTEMD_H

#include <stdint.h>

#include "reel/error.h"

enum { SYSTEMD_ADDRESS_ROOM = 80 };

/* The socket of LISTEN_FDS (systemd.socket(5)) and where it listens, "[::1]:8040"; *fd 0: none was passed. Fails when what was passed is
 * not one TCP socket that listens. Later children do not see the variables. */
bool systemd_socket(int *fd, char address[SYSTEMD_ADDRESS_ROOM], struct reel_error *err);

void systemd_ready(void); /* it answers */
void systemd_stopping(void);

/* systemd_alive() is to be called this often, or systemd takes the server for hung (WatchdogSec=); 0: nobody waits for it. */
int64_t systemd_alive_every_ns(void);
void systemd_alive(void);

#endif
