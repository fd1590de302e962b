/* The lines of the log on their way to stderr. Threads put a line into a ring and go on; one thread writes. A reader
 * that stalls (a pipe, a terminal, journald) therefore stops no request: when the ring is full, lines are dropped and
 * counted. */
#ifndef SERVER_LOG_QUEUE_H
#define SERVER_LOG_QUEUE_H

#include <stdbool.h>
#include <stdint.h>

#include "reel/error.h"

struct log_queue;

/* Starts the thread, which inherits the signal mask. `json`: the form of the line about dropped ones. */
struct log_queue *log_queue_open(int fd, bool json, struct reel_error *err);
/* Writes what the ring still has, for at most `wait_ns`. A thread that is then still blocked in write() is left to the
 * end of the process, with its memory. */
void log_queue_close(struct log_queue *queue, int64_t wait_ns);
/* One line, without its end. NULL: writes to stderr at once, for commands that do not serve. */
void log_queue_line(struct log_queue *queue, const char *line);
void log_queue_printf(struct log_queue *queue, const char *format, ...) __attribute__((format(printf, 2, 3)));
uint64_t log_queue_dropped(const struct log_queue *queue); /* lines since the start */

#endif
