/* See base64.h. */
#include "access/base64.h"

#include <openssl/evp.h>
#include <string.h>

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
