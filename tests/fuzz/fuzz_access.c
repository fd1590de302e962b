/* What strangers may write: the Authorization header, a signed target, X-Forwarded-For. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "access/credentials.h"
#include "access/link_text.h"
#include "access/network.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds) {
    if (!holds) {
        abort();
    }
}

static void try_header(const char *text) {
    char token[TOKEN_TEXT];
    if (credentials_read(text, token) != CREDENTIALS_WRONG) {
        must(token_well_formed(token, strlen(token)));
    }
}

static void try_key(const char *text) {
    struct link_claim claim;
    char recording[LINK_RECORDING];
    const char *sent = credentials_link(text), *key = sent ? sent : text;
    if (link_key_read(key, recording, &claim)) {
        must(strlen(key) < LINK_KEY_TEXT && strlen(recording) == LINK_RECORDING - 1 && claim.expires_s >= 0 &&
             claim.token >= 0);
    }
}

/* A target that is one has the same text again, whatever it claims; with a claim it is none without. */
static void try_target(const char *text) {
    struct link_claim claim;
    char *first, *second;
    size_t a, b;
    if (link_text(text, &claim, &first, &a)) {
        must(claim.expires_s >= 0 && claim.token >= 0 && strlen(claim.mac) == LINK_MAC_TEXT - 1);
        must(link_text(text, &claim, &second, &b) && a == b && memcmp(first, second, a) == 0);
        free(first);
        free(second);
        must(!link_text(text, NULL, &first, &a));
    } else if (link_text(text, NULL, &first, &a)) {
        must(a > 0);
        free(first);
    }
}

static void try_addresses(const char *text) {
    struct network n[2];
    char out[ADDRESS_TEXT];
    struct address address;
    struct reel_error err;
    network_parse("10.0.0.0/8", &n[0], &err);
    if (network_parse(text, &n[1], &err)) {
        must(n[1].bits <= 128 && network_holds(&n[1], 1, &n[1].address));
    } else {
        n[1] = n[0];
    }
    if (forwarded_for(text, n, 2, out)) {
        must(address_parse(out, &address) && !network_holds(n, 2, &address));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char *text = malloc(size + 1);
    memcpy(text, data, size);
    text[size] = '\0';
    try_header(text);
    try_key(text);
    try_target(text);
    try_addresses(text);
    free(text);
    return 0;
}
