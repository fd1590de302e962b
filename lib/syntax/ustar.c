/* See ustar.h. Values that do not fit a field go into the pax header; the field then holds a shortened value for old
 * programs. */
#include "syntax/ustar.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME = 100, SIZE_MAX_BITS = 33 }; /* 11 octal digits */

static void put_octal(uint8_t *field, size_t width, uint64_t value) {
    char text[32];
    snprintf(text, sizeof text, "%0*llo", (int)width - 1, (unsigned long long)value);
    memcpy(field, text, width);
}

static void ustar_put_header(uint8_t *block, const char *name, uint64_t size, int64_t modified_s, char type) {
    unsigned sum = 0;
    size_t length = strlen(name);
    memset(block, 0, USTAR_BLOCK);
    memcpy(block, name, length < NAME ? length : NAME);
    put_octal(block + 100, 8, 0644);
    put_octal(block + 108, 8, 0);
    put_octal(block + 116, 8, 0);
    put_octal(block + 124, 12, size >> SIZE_MAX_BITS ? 0 : size);
    put_octal(block + 136, 12, modified_s > 0 && !((uint64_t)modified_s >> SIZE_MAX_BITS) ? (uint64_t)modified_s : 0);
    memset(block + 148, ' ', 8);
    block[156] = (uint8_t)type;
    memcpy(block + 257,
           "ustar\0"
           "00",
           8);
    for (size_t i = 0; i < USTAR_BLOCK; i++) {
        sum += block[i];
    }
    put_octal(block + 148, 7, sum);
}

/* "LENGTH key=value\n", LENGTH counting itself. */
static size_t ustar_put_record(char *out, size_t room, const char *key, const char *value) {
    size_t rest = strlen(key) + strlen(value) + 3, length = rest + 1;
    for (char digits[24]; length != rest + (size_t)snprintf(digits, sizeof digits, "%zu", length);) {
        length = rest + (size_t)snprintf(digits, sizeof digits, "%zu", length);
    }
    int n = snprintf(out, room, "%zu %s=%s\n", length, key, value);
    return n > 0 && (size_t)n < room ? (size_t)n : 0;
}

static bool ustar_is_plain(const char *name) {
    size_t n = 0;
    for (; name[n]; n++) {
        if ((unsigned char)name[n] >= 0x80) {
            return false;
        }
    }
    return n <= NAME;
}

static size_t put_head(const char *name, uint64_t size, bool wide, int64_t modified_s, uint8_t out[USTAR_HEAD_MAX]) {
    char records[4 * USTAR_BLOCK] = "", digits[24];
    size_t used = 0, blocks = 0;
    if (!ustar_is_plain(name)) {
        used += ustar_put_record(records, sizeof records, "path", name);
    }
    if (wide || size >> SIZE_MAX_BITS) {
        snprintf(digits, sizeof digits, wide ? "%020llu" : "%llu", (unsigned long long)size);
        used += ustar_put_record(records + used, sizeof records - used, "size", digits);
    }
    if (used > 0) {
        ustar_put_header(out, "pax_header", used, modified_s, 'x');
        blocks = 1 + (used + USTAR_BLOCK - 1) / USTAR_BLOCK;
        memset(out + USTAR_BLOCK, 0, (blocks - 1) * USTAR_BLOCK);
        memcpy(out + USTAR_BLOCK, records, used);
    }
    ustar_put_header(out + blocks * USTAR_BLOCK, name, size, modified_s, '0');
    return (blocks + 1) * USTAR_BLOCK;
}

size_t ustar_head(const char *name, uint64_t size, int64_t modified_s, uint8_t out[USTAR_HEAD_MAX]) {
    return put_head(name, size, false, modified_s, out);
}
size_t ustar_head_wide(const char *name, uint64_t size, int64_t modified_s, uint8_t out[USTAR_HEAD_MAX]) {
    return put_head(name, size, true, modified_s, out);
}

/* ---- names */

/* Compares with "/" before all other characters, so that "a" is directly followed by "a/b". */
static int ustar_compare(const void *a, const void *b) {
    const struct ustar_name *m = a, *n = b;
    const unsigned char *x = (const unsigned char *)m->name, *y = (const unsigned char *)n->name;
    while (*x && *x == *y) {
        x++;
        y++;
    }
    int p = *x == '/' ? 1 : *x ? *x + 1 : 0, q = *y == '/' ? 1 : *y ? *y + 1 : 0;
    return p != q ? p - q : strcmp(m->tag, n->tag);
}

static bool in_the_way(const struct ustar_name *a, const struct ustar_name *b) {
    size_t n = strlen(a->name);
    return strncmp(a->name, b->name, n) == 0 && (b->name[n] == '\0' || b->name[n] == '/');
}

bool ustar_part(struct ustar_name *names, size_t n, struct reel_error *err) {
    enum { ROUNDS = 8 }; /* for names chosen to collide */
    for (int round = 0; round < ROUNDS; round++) {
        size_t changed = 0;
        if (n > 1) {
            qsort(names, n, sizeof *names, ustar_compare);
        }
        for (size_t i = 0; i + 1 < n; i++) {
            char *other = NULL;
            if (!in_the_way(&names[i], &names[i + 1])) {
                continue;
            }
            if (asprintf(&other, "%s~%s", names[i].name, names[i].tag) < 0) {
                return reel_fail_memory(err);
            }
            free(names[i].name);
            names[i].name = other;
            changed++;
        }
        if (changed == 0) {
            return true;
        }
    }
    return reel_fail(err, REEL_CONFLICT,
                     "the names of these recordings collide when unpacked; choose fewer recordings");
}

void archive_make_safe(char *name) {
    for (char *at = name; *at; at++) {
        bool begins = at == name || at[-1] == '/';
        bool dots = begins && at[0] == '.' && (at[1] == '/' || !at[1] || (at[1] == '.' && (at[2] == '/' || !at[2])));
        if ((unsigned char)*at < 0x20 || *at == 0x7f || *at == '\\' || dots || (begins && *at == '/')) {
            *at = '_';
        }
    }
}
