/* See network.h. */
#include "access/network.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/ascii.h"

static const uint8_t v4_mapped[12] = {[10] = 0xff, [11] = 0xff};

bool address_parse(const char *text, struct address *out) {
    if (inet_pton(AF_INET, text, out->bytes + 12) == 1) {
        memcpy(out->bytes, v4_mapped, sizeof v4_mapped);
        return true;
    }
    return inet_pton(AF_INET6, text, out->bytes) == 1;
}

static bool is_v4(const struct address *a) {
    return memcmp(a->bytes, v4_mapped, sizeof v4_mapped) == 0;
}

bool network_parse(const char *text, struct network *out, struct reel_error *err) {
    char address[ADDRESS_TEXT];
    size_t size = strcspn(text, "/");
    bool good = size < sizeof address;
    if (good) {
        memcpy(address, text, size);
        address[size] = '\0';
        good = address_parse(address, &out->address);
    }
    unsigned most = good && is_v4(&out->address) ? 32 : 128;
    out->bits = most;
    if (good && text[size] == '/') {
        const char *digits = text + size + 1;
        size_t n = strlen(digits);
        out->bits = (unsigned)strtoul(digits, NULL, 10);
        good = n >= 1 && n <= 3 && strspn(digits, "0123456789") == n && out->bits <= most;
    }
    out->bits += 128 - most;
    return good || reel_fail(err, REEL_ARGUMENT,
                             "\"%.60s\" is not an address or network such as 10.0.0.7, 10.0.0.0/8 or fd00::/8", text);
}

static bool same_bits(const struct address *a, const struct address *b, unsigned bits) {
    unsigned whole = bits / 8, rest = bits % 8;
    return memcmp(a->bytes, b->bytes, whole) == 0 &&
           (rest == 0 || (a->bytes[whole] ^ b->bytes[whole]) >> (8 - rest) == 0);
}

bool network_holds(const struct network *networks, size_t n, const struct address *address) {
    for (size_t i = 0; i < n; i++) {
        if (same_bits(&networks[i].address, address, networks[i].bits)) {
            return true;
        }
    }
    return false;
}

struct address address_prefix(const struct address *a) {
    struct address out = *a;
    if (!is_v4(a)) {
        memset(out.bytes + 8, 0, 8);
    }
    return out;
}

/* Parses one entry: an address, possibly in brackets or with a port. */
static bool network_read_entry(const char *text, size_t size, char out[ADDRESS_TEXT], struct address *address) {
    const char *end = text + size, *colon;
    if (size > 0 && *text == '[') {
        text++;
        end = memchr(text, ']', size - 1);
    } else if ((colon = memchr(text, ':', size)) && !memchr(colon + 1, ':', (size_t)(end - colon - 1))) {
        end = colon;
    }
    if (!end || end - text >= ADDRESS_TEXT) {
        return false;
    }
    memcpy(out, text, (size_t)(end - text));
    out[end - text] = '\0';
    return address_parse(out, address);
}

bool forwarded_for(const char *header, const struct network *trusted, size_t n, char out[ADDRESS_TEXT]) {
    struct address address;
    for (const char *end = header + strlen(header); end > header;) {
        const char *begin = end;
        while (begin > header && begin[-1] != ',') {
            begin--;
        }
        const char *first = begin, *last = end;
        while (first < last && (*first == ' ' || *first == '\t')) {
            first++;
        }
        while (last > first && (last[-1] == ' ' || last[-1] == '\t')) {
            last--;
        }
        if (!network_read_entry(first, (size_t)(last - first), out, &address)) {
            break;
        }
        if (!network_holds(trusted, n, &address)) {
            return true;
        }
        end = begin > header ? begin - 1 : header;
    }
    out[0] = '\0';
    return false;
}

/* The first of some entries with a separator between them, without spaces around it; *text moves on, to NULL after the
 * last one. */
static const char *network_next(const char **text, char separator, size_t *size) {
    const char *first = *text, *end = strchrnul(first, separator);
    *text = *end ? end + 1 : NULL;
    while (first < end && (*first == ' ' || *first == '\t')) {
        first++;
    }
    while (end > first && (end[-1] == ' ' || end[-1] == '\t')) {
        end--;
    }
    *size = (size_t)(end - first);
    return first;
}

static bool entry_is_within(const char *entry, size_t size, const struct network *networks, size_t n) {
    char text[ADDRESS_TEXT];
    struct address address;
    return network_read_entry(entry, size, text, &address) && network_holds(networks, n, &address);
}

bool forwarded_for_is_within(const char *header, const struct network *networks, size_t n) {
    bool within = true;
    while (within && header) {
        size_t size;
        const char *entry = network_next(&header, ',', &size);
        within = entry_is_within(entry, size, networks, n);
    }
    return within;
}

/* The pairs of one entry of Forwarded: false as well when none of them names the client. */
static bool pairs_are_within(const char *pairs, const struct network *networks, size_t n) {
    bool named = false;
    while (pairs) {
        size_t size;
        const char *pair = network_next(&pairs, ';', &size);
        if (size < 4 || ascii_ncasecmp(pair, "for=", 4) != 0) {
            continue;
        }
        bool quoted = size >= 6 && pair[4] == '"' && pair[size - 1] == '"';
        named = entry_is_within(pair + 4 + quoted, size - 4 - 2 * quoted, networks, n);
        if (!named) {
            return false;
        }
    }
    return named;
}

/* for=192.0.2.43;proto=http, for="[2001:db8::17]:4711". A separator in a quoted string ends an entry, which then cannot
 * be read. */
bool forwarded_is_within(const char *header, const struct network *networks, size_t n) {
    bool within = true;
    while (within && header) {
        size_t size;
        char pairs[256];
        const char *entry = network_next(&header, ',', &size);
        within = size < sizeof pairs;
        if (within) {
            memcpy(pairs, entry, size);
            pairs[size] = '\0';
            within = pairs_are_within(pairs, networks, n);
        }
    }
    return within;
}
