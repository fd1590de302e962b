/* A line of the log from its fields, as logfmt (key=value) or as a JSON object. Nothing in a value can end the line or
 * a field. */
#ifndef SERVER_HTTP_LINE_H
#define SERVER_HTTP_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct line_field {
    const char *key;  /* of at most 32 bytes */
    const char *text; /* NULL: `number` is used; "": the field is left out */
    int64_t number;
};
void line_write(bool json, const struct line_field *fields, size_t n, char *out, size_t size);

#endif
