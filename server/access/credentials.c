/* See credentials.h. A header longer than any name and token is rejected before it is read. */
#include "access/credentials.h"
#include "base/ascii.h"
#include "base/bytes.h"
#include "syntax/base64.h"

#include <openssl/crypto.h>
#include <string.h>

enum { CODED_MAX = 512 };

/* The text after the scheme's name, trimmed; NULL: another scheme. */
static const char *after_scheme(const char *header, const char *scheme, size_t *size) {
    size_t n = strlen(scheme);
    if (ascii_ncasecmp(header, scheme, n) != 0 || header[n] != ' ') {
        return NULL;
    }
    const char *text = header + n + strspn(header + n, " ");
    *size = strlen(text);
    while (*size > 0 && text[*size - 1] == ' ') {
        --*size;
    }
    return text;
}

static bool credentials_take(const char *text, size_t size, char token[TOKEN_TEXT]) {
    if (!token_well_formed(text, size)) {
        return false;
    }
    memcpy(token, text, size);
    token[size] = '\0';
    return true;
}

static bool take_basic(const char *coded, size_t size, char token[TOKEN_TEXT]) {
    uint8_t text[CODED_MAX / 4 * 3];
    size_t n;
    if (size > CODED_MAX || !base64_read(bytes_of(coded, size), text, &n)) {
        return false;
    }
    const char *colon = memchr(text, ':', n);
    bool good = colon && credentials_take(colon + 1, n - (size_t)(colon + 1 - (const char *)text), token);
    OPENSSL_cleanse(text, sizeof text);
    return good;
}

enum credentials credentials_read(const char *header, char token[TOKEN_TEXT]) {
    size_t size;
    const char *text = after_scheme(header, "Bearer", &size);
    if (text) {
        size_t skip = strncmp(text, "hf_", 3) == 0 ? 3 : 0; /* some clients of the Hub take no token without it */
        text += skip;
        size -= skip;
        return credentials_take(text, size, token) ? CREDENTIALS_BEARER : CREDENTIALS_WRONG;
    }
    text = after_scheme(header, "Basic", &size);
    return text && take_basic(text, size, token) ? CREDENTIALS_BASIC : CREDENTIALS_WRONG;
}

const char *credentials_link(const char *header) {
    size_t size;
    return after_scheme(header, "Link", &size);
}
