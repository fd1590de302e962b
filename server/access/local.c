/* See local.h. */
#include "access/local.h"

#include <string.h>

#include "access/network.h"
#include "base/cleanup.h"

static const struct network loopback[] = {
    {.address = {{[10] = 0xff, 0xff, 127}}, .bits = 96 + 8}, /* 127.0.0.0/8 */
    {.address = {{[15] = 1}}, .bits = 128},                  /* ::1 */
};
enum { LOOPBACK = sizeof loopback / sizeof *loopback };

static bool is_loopback(const char *text) {
    struct address address;
    return address_parse(text, &address) && network_holds(loopback, LOOPBACK, &address);
}

/* "127.0.0.1:8040", "[::1]:8040", "localhost:8040" */
static bool listens_on_loopback(const char *listen) {
    char host[ADDRESS_TEXT];
    const char *colon = strrchr(listen, ':');
    size_t n = colon ? (size_t)(colon - listen) : strlen(listen);
    bool bracketed = n > 1 && listen[0] == '[' && listen[n - 1] == ']';
    if (n >= sizeof host) {
        return false;
    }
    memcpy(host, listen + bracketed, n - 2 * bracketed);
    host[n - 2 * bracketed] = '\0';
    return is_loopback(host) || strcmp(host, "localhost") == 0;
}

bool local_is_server(const struct app_config *config) {
    return listens_on_loopback(config->listen) && config->hosts.count == 0 && config->trusted_proxies.count == 0 &&
           !config->public_url;
}

static bool header_is_local(const struct http_request *r, const char *name,
                            bool (*is_within)(const char *header, const struct network *networks, size_t n)) {
    if (http_header_count(r, name) == 0) {
        return true;
    }
    AUTO_MEM char *lines = http_header_lines(r, name); /* NULL: no memory */
    return lines && is_within(lines, loopback, LOOPBACK);
}

bool local_is_request(const struct http_request *r) {
    return is_loopback(http_remote(r)) && header_is_local(r, "X-Forwarded-For", forwarded_for_is_within) &&
           header_is_local(r, "X-Real-IP", forwarded_for_is_within) &&
           header_is_local(r, "Forwarded", forwarded_is_within);
}
