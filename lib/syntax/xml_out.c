/* See xml_out.h. */
#include "syntax/xml_out.h"

#include <stdint.h>
#include <string.h>

#include "syntax/utf8.h"

static const char *entity_of(const uint8_t *p, size_t size) {
    switch (p[0]) {
    case '&':
        return "&amp;";
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '"':
        return "&quot;";
    case '\t':
        return "&#9;";
    case '\n':
        return "&#10;";
    case '\r':
        return "&#13;";
    default: /* U+FFFE and U+FFFF are no characters of XML */
        return size == 0 || p[0] < 0x20 || p[0] == 0x7f || (size == 3 && p[0] == 0xef && p[1] == 0xbf && p[2] >= 0xbe)
                   ? "\xef\xbf\xbd"
                   : NULL;
    }
}

void xml_put_text(FILE *out, const char *text) {
    size_t left = strlen(text);
    for (const uint8_t *p = (const uint8_t *)text; left > 0;) {
        size_t size = utf8_length(p, left);
        const char *entity = entity_of(p, size);
        size = size ? size : 1;
        entity ? fputs(entity, out) : (int)fwrite(p, 1, size, out);
        p += size;
        left -= size;
    }
}
