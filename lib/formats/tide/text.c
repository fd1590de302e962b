/* Converts bytes of a TIDE log to text and back. Text converted back is checked like any untrusted input: metadata may
 * come from other files. */
#include "formats/tide/container.h"
#include "syntax/base64.h"

#include "base/bytes.h"
#include "base/hex.h"
#include "syntax/utf8.h"

bool tide_is_text(struct reel_bytes b) {
    for (size_t i = 0; i < b.size;) {
        size_t n = b.data[i] == 0 ? 0 : utf8_length(b.data + i, b.size - i);
        if (n == 0) {
            return false;
        }
        i += n;
    }
    return true;
}

struct reel_bytes tide_base64(struct arena *arena, struct reel_bytes b) {
    char *text = arena_alloc(arena, BASE64_TEXT(b.size) + 1);
    if (text) {
        base64_write(b, text);
    }
    return bytes_of(text, BASE64_TEXT(b.size));
}

struct reel_bytes tide_base64_back(struct arena *arena, const char *text) {
    size_t size = strlen(text), decoded = 0;
    uint8_t *out = arena_alloc(arena, BASE64_ROOM(size));
    return out && base64_read(bytes_of(text, size), out, &decoded) ? bytes_of(out, decoded) : bytes_of(NULL, 0);
}

const char *tide_hex(struct arena *arena, struct reel_bytes b) {
    char *text = arena_alloc(arena, b.size * 2 + 1);
    if (text) {
        hex_write(b.data, b.size, text);
    }
    return text;
}

struct reel_bytes tide_hex_back(struct arena *arena, const char *text, size_t size) {
    uint8_t *out = size % 2 == 0 ? arena_alloc(arena, size / 2 + 1) : NULL;
    return out && hex_read(text, size / 2, out) ? bytes_of(out, size / 2) : bytes_of(NULL, 0);
}
