/* reel serve: the server, until SIGTERM or SIGINT. Its one rule: signals are blocked in every thread and waited for here, so that stopping
 * is an ordinary return – what runs is drained, then all is closed in order. */
#include <arpa/inet.h>
#include <signal.h>
#include <string.h>

#include "api/routes.h"
#include "app.h"
#include "cli/cli.h"

enum { MB = 1000000 };

static bool is_loopback(const char *listen) {
    char host[64];
    const char *colon = strrchr(listen, ':');
    size_t n = colon ? (size_t)(colon - listen) : strlen(listen);
    bool bracketed = n > 1 && listen[0] == '[' && listen[n - 1] == ']';
    struct in_addr v4;
    struct in6_addr v6;
    if (n >= sizeof host) {
        return false;
    }
    memcpy(host, listen + bracketed, n - 2 * bracketed);
    host[n - 2 * bracketed] = '\0';
    if (inet_pton(AF_INET, host, &v4) == 1) {
        return ntohl(v4.s_addr) >> 24 == 127;
    }
    return inet_pton(AF_INET6, host, &v6) == 1 ? IN6_IS_ADDR_LOOPBACK(&v6) : strcmp(host, "localhost") == 0;
}

static void block_signals(sigset_t *stop) {
    sigemptyset(stop);
    sigaddset(stop, SIGINT);
    sigaddset(stop, SIGTERM);
    pthread_sigmask(SIG_BLOCK, stop, NULL); /* before the first thread, which all inherit */
    signal(SIGPIPE, SIG_IGN);
}

/* Who asks a second time does not want to wait for the drain. */
static void wait_for_stop(const sigset_t *stop) {
    int number;
    while (sigwait(stop, &number) != 0) {
    }
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    pthread_sigmask(SIG_UNBLOCK, stop, NULL);
}

static int serve(const struct app_config *config) {
    struct app app = {0};
    struct reel_error err = {0};
    sigset_t stop;
    block_signals(&stop);
    int code = CLI_FAILED;
    if (app_open(&app, config, &err) && app_serve(&app, api_routes, &err)) {
        printf("listening on %s\n", http_server_url(app.http));
        fflush(stdout);
        wait_for_stop(&stop);
        code = CLI_DONE;
    }
    if (code != CLI_DONE) {
        cli_fail(&cli_serve, NULL, &err);
    }
    app_close(&app);
    return code;
}

struct wishes { /* as the command line has them */
    const char *data, *listen, *viewer;
    struct cli_list hosts, origins;
    uint64_t cache_mb, derived_mb, upload_max_mb, header_timeout, idle_timeout, drain, connections, scan_threads, body_min_rate;
    bool insecure_open;
};
static inline void reel_auto_wishes_done(struct wishes *w) {
    reel_auto_cli_list_done(&w->hosts);
    reel_auto_cli_list_done(&w->origins);
}

static struct app_config config_of(const struct wishes *w) {
    return (struct app_config){
        .data = w->data,
        .listen = w->listen,
        .viewer = w->viewer,
        .hosts = w->hosts.items,
        .origins = w->origins.items,
        .cache_bytes = w->cache_mb * MB,
        .derived_bytes = w->derived_mb * MB,
        .upload_max_bytes = w->upload_max_mb * MB,
        .header_timeout_s = (unsigned)w->header_timeout,
        .idle_timeout_s = (unsigned)w->idle_timeout,
        .drain_s = (unsigned)w->drain,
        .connections_max = (unsigned)w->connections,
        .scan_threads = (unsigned)w->scan_threads,
        .body_min_rate = w->body_min_rate,
    };
}

#define BYTES_MB_MAX (UINT64_MAX / MB)
enum { DAY_S = 86400 };

/* clang-format off */
#define WORD(name_, kind_, to_, value_, help_) {.name = name_, .kind = kind_, .to = to_, .value = value_, .help = help_}
#define NUMBER(name_, to_, value_, least_, most_, help_) \
    {.name = name_, .kind = CLI_UINT, .to = to_, .value = value_, .help = help_, .least = least_, .most = most_}

static int run(int argc, char **argv) {
    AUTO(wishes_done) struct wishes w = {
        .data = "./data", .listen = "127.0.0.1:8040", .cache_mb = 256, .derived_mb = 10000, .header_timeout = 15, .idle_timeout = 60,
        .drain = 30, .connections = 1000, .scan_threads = 2, .body_min_rate = 1000};
    int first, code;
    const struct cli_option options[] = {
        WORD("data", CLI_TEXT, &w.data, "DIR", "folder of the archive, made when missing (./data)"),
        WORD("listen", CLI_TEXT, &w.listen, "ADDRESS:PORT", "where to answer (127.0.0.1:8040); port 0 takes a free one"),
        WORD("insecure-open", CLI_FLAG, &w.insecure_open, NULL, "allow an address that others reach: anybody there may read and write"),
        WORD("host", CLI_LIST, &w.hosts, "NAME", "a further name this server is reached by; may be repeated"),
        WORD("origin", CLI_LIST, &w.origins, "ORIGIN", "a web page's origin that may read and write (\"*\": any may read)"),
        WORD("viewer", CLI_TEXT, &w.viewer, "URL", "where recordings open with pictures (a viewer of the Foxglove lineage): each gets links; allow its --origin"),
        NUMBER("cache-mb", &w.cache_mb, "N", 1, BYTES_MB_MAX, "memory for decompressed chunks (256)"),
        NUMBER("derived-mb", &w.derived_mb, "N", 0, BYTES_MB_MAX, "disk for files that can be made again (10000)"),
        NUMBER("upload-max-mb", &w.upload_max_mb, "N", 0, BYTES_MB_MAX, "largest upload (0: what the disk holds)"),
        NUMBER("header-timeout", &w.header_timeout, "S", 1, DAY_S, "seconds for a request's header (15)"),
        NUMBER("idle-timeout", &w.idle_timeout, "S", 1, DAY_S, "seconds a connection may do nothing (60)"),
        NUMBER("drain", &w.drain, "S", 0, DAY_S, "seconds that running requests get when the server ends (30)"),
        NUMBER("connections", &w.connections, "N", 1, 100000, "at most so many at once (1000)"),
        NUMBER("scan-threads", &w.scan_threads, "N", 1, 64, "scans and other jobs at once (2)"),
        NUMBER("body-min-rate", &w.body_min_rate, "B/S", 0, 0, "slower uploads are cut (1000; 0: never)"),
        {0},
    };
    /* clang-format on */
    if (!cli_options(&cli_serve, options, 0, argc, argv, &first, &code)) {
        return code;
    }
    if (first < argc) {
        return cli_misused(&cli_serve, "\"%s\" is no option", argv[first]);
    }
    if (!is_loopback(w.listen) && !w.insecure_open) {
        return cli_misused(&cli_serve, "others reach %s, and anybody who does may read and write: add --insecure-open if that is meant",
                           w.listen);
    }
    if (w.viewer && strncmp(w.viewer, "http://", 7) != 0 && strncmp(w.viewer, "https://", 8) != 0) {
        return cli_misused(&cli_serve, "--viewer takes the address of a page: http://… or https://…");
    }
    const struct app_config config = config_of(&w);
    return serve(&config);
}

const struct cli_command cli_serve = {
    .name = "serve",
    .arguments = "[OPTION]…",
    .summary = "the archive as a web server",
    .details =
        "Prints \"listening on http://…\" when it is ready. SIGTERM or Ctrl-C: running requests end, then it does, with exit code 0.",
    .run = run,
};
