/* Accept and Accept-Encoding: the most specific range that matches an offer sets its weight (RFC 9110, 12.5). */
#include "base/ascii.h"
#include "base/bytes.h"
#include "http/http_internal.h"

#include <string.h>

enum { WEIGHT_ONE = 1000 };

static struct reel_bytes trimmed(struct reel_bytes text) {
    while (text.size > 0 && (text.data[0] == ' ' || text.data[0] == '\t')) {
        text.data++;
        text.size--;
    }
    while (text.size > 0 && (text.data[text.size - 1] == ' ' || text.data[text.size - 1] == '\t')) {
        text.size--;
    }
    return text;
}

/* Splits the next piece off `rest` at an unquoted `separator`. */
static bool accept_next_piece(struct reel_bytes *rest, char separator, struct reel_bytes *piece) {
    if (rest->size == 0) {
        return false;
    }
    bool quoted = false;
    size_t i = 0;
    for (; i < rest->size && (quoted || rest->data[i] != separator); i++) {
        if (rest->data[i] == '"') {
            quoted = !quoted;
        } else if (rest->data[i] == '\\' && quoted && i + 1 < rest->size) {
            i++;
        }
    }
    *piece = trimmed(bytes_of(rest->data, i));
    size_t step = i < rest->size ? i + 1 : i;
    *rest = bytes_of(rest->data + step, rest->size - step);
    return true;
}

static bool accept_same(struct reel_bytes a, struct reel_bytes b) {
    return a.size == b.size && ascii_ncasecmp((const char *)a.data, (const char *)b.data, a.size) == 0;
}

/* "0.25" is 250; an invalid weight counts as 1. */
static int weight_of(struct reel_bytes text) {
    if (text.size == 0 || (text.data[0] != '0' && text.data[0] != '1') || (text.size > 1 && text.data[1] != '.')) {
        return WEIGHT_ONE;
    }
    int weight = text.data[0] == '1' ? WEIGHT_ONE : 0;
    int unit = 100;
    for (size_t i = 2; i < text.size && unit > 0; i++, unit /= 10) {
        if (text.data[i] < '0' || text.data[i] > '9') {
            return WEIGHT_ONE;
        }
        weight += (text.data[i] - '0') * unit;
    }
    return weight < WEIGHT_ONE ? weight : WEIGHT_ONE;
}

/* Splits "text/csv;header=absent;q=0.5" into its name and weight; other parameters are ignored. */
static struct reel_bytes name_and_weight(struct reel_bytes item, int *weight) {
    struct reel_bytes name = bytes_of("", 0), parameter;
    *weight = WEIGHT_ONE;
    accept_next_piece(&item, ';', &name);
    while (accept_next_piece(&item, ';', &parameter)) {
        if (parameter.size >= 2 && (parameter.data[0] | 0x20) == 'q' && parameter.data[1] == '=') {
            *weight = weight_of(bytes_of(parameter.data + 2, parameter.size - 2));
        }
    }
    return name;
}

/* 3: exact type, 2: "text/…", 1: any type, 0: no match. */
static int fit_of(struct reel_bytes range, struct reel_bytes offer) {
    if (accept_same(range, offer)) {
        return 3;
    }
    if (bytes_is(range, "*/*")) {
        return 1;
    }
    bool family = range.size >= 3 && range.data[range.size - 2] == '/' && range.data[range.size - 1] == '*';
    return family && offer.size > range.size - 1 &&
                   accept_same(bytes_of(range.data, range.size - 1), bytes_of(offer.data, range.size - 1))
               ? 2
               : 0;
}

static int weight_for(const char *header, const char *offer) {
    struct reel_bytes type = trimmed(bytes_of(offer, strcspn(offer, ";")));
    struct reel_bytes rest = bytes_text(header), item;
    int best_fit = 0, best_weight = 0;
    while (accept_next_piece(&rest, ',', &item)) {
        int weight;
        int fit = fit_of(name_and_weight(item, &weight), type);
        if (fit > best_fit) {
            best_fit = fit;
            best_weight = weight;
        }
    }
    return best_weight;
}

const char *accept_best(const char *header, const char *const *offers) {
    if (!header || header[strspn(header, " \t,")] == '\0') {
        return offers[0];
    }
    const char *best = NULL;
    int best_weight = 0;
    for (size_t i = 0; offers[i]; i++) {
        int weight = weight_for(header, offers[i]);
        if (weight > best_weight) {
            best = offers[i];
            best_weight = weight;
        }
    }
    return best;
}

bool accept_coding(const char *header, const char *coding) {
    struct reel_bytes rest = bytes_text(header ? header : ""), item;
    int any = 0;
    while (accept_next_piece(&rest, ',', &item)) {
        int weight;
        struct reel_bytes name = name_and_weight(item, &weight);
        if (accept_same(name, bytes_text(coding))) {
            return weight > 0;
        }
        if (bytes_is(name, "*")) {
            any = weight;
        }
    }
    return any > 0;
}

bool http_accepts_coding(const struct http_request *r, const char *coding) {
    return accept_coding(http_header(r, "Accept-Encoding"), coding);
}
