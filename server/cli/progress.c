/* The progress line, and the flag that Ctrl-C sets. The line is shown only on a terminal, for work that takes over a
 * second. */
#include "cli/cli.h"

enum { SHOW_AFTER_NS = 1000000000, INTERVAL_NS = 100000000 };

static volatile sig_atomic_t interrupted;

static void on_interrupt(int number) {
    interrupted = 1;
    signal(number, SIG_DFL); /* a second one ends the program at once */
}

void cli_catch_interrupt(void) {
    signal(SIGINT, on_interrupt);
    signal(SIGTERM, on_interrupt);
}

bool cli_interrupted(void) {
    return interrupted != 0;
}

static void progress_show(struct cli_progress *p, uint64_t done, uint64_t total) {
    int64_t now = reel_now_ns();
    if (!p->on_terminal || now - p->started_ns < SHOW_AFTER_NS || now - p->last_ns < INTERVAL_NS) {
        return;
    }
    p->last_ns = now;
    p->shown = true;
    unsigned percent = total > 0 ? (unsigned)((double)(done < total ? done : total) / (double)total * 100) : 0;
    fprintf(stderr, "\r\033[K%s %s: %u %%", p->doing, p->subject, percent);
}

static bool progress_report(void *context, uint64_t done, uint64_t total) {
    return cli_progress_step(context, done, total);
}

void cli_progress_start(struct cli_progress *p, const char *doing, const char *subject) {
    *p = (struct cli_progress){.report = {.report = progress_report, .context = p},
                               .doing = doing,
                               .subject = subject,
                               .started_ns = reel_now_ns()};
    p->on_terminal = isatty(STDERR_FILENO) == 1;
}

bool cli_progress_step(struct cli_progress *p, uint64_t done, uint64_t total) {
    progress_show(p, done, total);
    return !cli_interrupted();
}

void cli_progress_end(struct cli_progress *p) {
    if (p->shown) {
        fputs("\r\033[K", stderr);
        p->shown = false;
    }
}
