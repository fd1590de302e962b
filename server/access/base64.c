/* See base64.h. */
#include "access/base64.h"

#include <openssl/evp.h>
#include <string.h>

bool base64_decode(const char *text, size_t size, uint8_t *out, size_t *out_size) {
    size_t padding = size > 0 && text[size - 1] == '=' ? 1 + (size > 1 && text[size - 2] == '=') : 0;
    *out_size = 0;
    if (size == 0) {
        return true;
    }
    for (size_t i = 0; i < size - padding; i++) { /* EVP_DecodeBlock() passes blanks over */
        char c = text[i];
        if (!((c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '+' || c == '/')) {
            return false;
        }
    }
    int n = size % 4 == 0 && size <= INT32_MAX ? EVP_DecodeBlock(out, (const unsigned char *)text, (int)size) : -1;
    if (n < 0 || (size_t)n < padding) {
        return false;
    }
    *out_size = (size_t)n - padding;
    return true;
}

static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/* libcrypto knows the other alphabet, with padding. */
void base64url_write(const uint8_t data[BASE64URL_BYTES], char out[BASE64URL_TEXT]) {
    char text[BASE64URL_TEXT + 1];
    EVP_EncodeBlock((unsigned char *)text, data, BASE64URL_BYTES);
    for (unsigned i = 0; i < BASE64URL_TEXT - 1; i++) {
        out[i] = (char)(text[i] == '+' ? '-' : text[i] == '/' ? '_' : text[i]);
    }
    out[BASE64URL_TEXT - 1] = '\0';
}

bool base64url_only(const char *text, size_t size) {
    for (size_t i = 0; i < size; i++) {
        if (!text[i] || !strchr(alphabet, text[i])) {
            return false;
        }
    }
    return true;
}
