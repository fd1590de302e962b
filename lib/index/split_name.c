/* See split_name.h. */
#include "index/split_name.h"

#include "base/bytes.h"

enum { DIGITS_MAX = 3, OWN_DIGITS = 4 };

static size_t count_digits(const uint8_t *text, const uint8_t *end) {
    size_t n = 0;
    while (text + n < end && text[n] >= '0' && text[n] <= '9') {
        n++;
    }
    return n;
}

bool split_name_of(struct reel_bytes name, struct split_name *out) {
    const uint8_t *line = name.size > 0 ? memrchr(name.data, '_', name.size) : NULL, *end = name.data + name.size;
    if (!line) {
        return false;
    }
    const uint8_t *digits = line + 1;
    size_t n = count_digits(digits, end);
    bool plain = n > 0 && n <= DIGITS_MAX && (n == 1 || digits[0] != '0'), own = n == OWN_DIGITS && digits[0] == '0';
    if ((!plain && !own) || digits + n == end || digits[n] != '.') {
        return false;
    }
    *out = (struct split_name){.stem = bytes_of(name.data, (size_t)(line - name.data)),
                               .ending = bytes_of(digits + n, (size_t)(end - digits) - n)};
    for (size_t i = 0; i < n; i++) {
        out->number = 10 * out->number + (digits[i] - '0');
    }
    return true;
}

bool split_names_match(const struct split_name *a, const struct split_name *b) {
    return a->number != b->number && bytes_equal(a->stem, b->stem) && bytes_equal(a->ending, b->ending);
}
