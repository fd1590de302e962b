/* Memory that is freed all at once. Small requests are cut from the first block; a request too large to share a block
 * gets its own block, inserted after the first. */
#include "base/arena.h"

#include "base/hex.h"
#include "syntax/utf8.h"

#include <stdalign.h>
#include <stdlib.h>
#include <string.h>

struct arena_block {
    struct arena_block *next;
    size_t size; /* of data */
    alignas(16) uint8_t data[];
};

enum { BLOCK_MIN = 4 << 10, BLOCK_MAX = 1 << 20 };

static struct arena_block *arena_block_new(struct arena *a, size_t size) {
    if (size > SIZE_MAX - sizeof(struct arena_block)) {
        return NULL;
    }
    size_t total = sizeof(struct arena_block) + size;
    if (a->max > 0 && (a->used > a->max || total > a->max - a->used)) {
        return NULL;
    }
    struct arena_block *block = (struct arena_block *)calloc(1, total);
    if (!block) {
        a->no_memory = true;
        return NULL;
    }
    block->size = size;
    a->used += total;
    return block;
}

/* Adds a separate block after the first, from which small requests are still cut. */
static void *arena_alloc_alone(struct arena *a, size_t size) {
    struct arena_block *block = arena_block_new(a, size);
    if (!block) {
        return NULL;
    }
    if (a->blocks) {
        block->next = a->blocks->next;
        a->blocks->next = block;
    } else {
        a->blocks = block; /* and `left` stays 0 */
    }
    return block->data;
}

void *arena_alloc(struct arena *a, size_t size) {
    if (size > SIZE_MAX - 15) {
        return NULL;
    }
    size = size == 0 ? 16 : (size + 15) & ~(size_t)15;
    if (size > a->left) {
        size_t fresh = a->used < BLOCK_MIN ? BLOCK_MIN : a->used < BLOCK_MAX ? a->used : BLOCK_MAX;
        fresh &= ~(size_t)15;
        struct arena_block *block = size <= fresh / 4 ? arena_block_new(a, fresh) : NULL;
        if (!block) {
            return arena_alloc_alone(a, size); /* the request is large, or a whole new block would exceed the ceiling */
        }
        block->next = a->blocks;
        a->blocks = block;
        a->left = fresh;
    }
    uint8_t *p = a->blocks->data + (a->blocks->size - a->left);
    a->left -= size;
    return p;
}

void *arena_copy(struct arena *a, const void *data, size_t size) {
    void *p = arena_alloc(a, size);
    if (p && size > 0) {
        memcpy(p, data, size);
    }
    return p;
}

const char *arena_text(struct arena *a, const char *text) {
    return (const char *)arena_copy(a, text, strlen(text) + 1);
}

const char *const *arena_texts(struct arena *a, const char *const *texts, size_t n) {
    const char **copies = arena_alloc(a, (n + 1) * sizeof *copies);
    for (size_t i = 0; copies && i < n; i++) {
        if (!(copies[i] = arena_text(a, texts[i]))) {
            return NULL;
        }
    }
    return copies;
}

/* Size of the character at p if it is allowed in model text unescaped, else 0. */
static size_t arena_utf8_plain(const uint8_t *p, size_t left) {
    return *p == 0 ? 0 : utf8_length(p, left);
}

const char *arena_utf8(struct arena *a, struct reel_bytes raw) {
    size_t size = 0;
    for (size_t i = 0; i < raw.size;) {
        size_t plain = arena_utf8_plain(raw.data + i, raw.size - i);
        size += plain > 0 ? plain : 4;
        i += plain > 0 ? plain : 1;
    }
    char *text = (char *)arena_alloc(a, size + 1);
    if (!text) {
        return NULL;
    }
    char *at = text;
    for (size_t i = 0; i < raw.size;) {
        size_t plain = arena_utf8_plain(raw.data + i, raw.size - i);
        if (plain > 0) {
            memcpy(at, raw.data + i, plain);
            at += plain;
            i += plain;
        } else {
            *at++ = '\\';
            *at++ = 'x';
            hex_byte(raw.data[i++], at);
            at += 2;
        }
    }
    return text;
}

bool arena_fail(const struct arena *a, struct reel_error *err) {
    if (a->no_memory) {
        return reel_fail_memory(err);
    }
    return reel_fail(err, REEL_LIMIT, "names, texts and definitions need more than %zu MiB", a->max >> 20);
}

void arena_free(struct arena *a) {
    for (struct arena_block *block = a->blocks; block;) {
        struct arena_block *next = block->next;
        free(block);
        block = next;
    }
    *a = (struct arena){.max = a->max};
}
