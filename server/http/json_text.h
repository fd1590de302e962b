/* jansson's values as JSON text, with reals as the shortest decimals that read back to the same number (jansson prints
 * 17 digits). */
#ifndef SERVER_HTTP_JSON_TEXT_H
#define SERVER_HTTP_JSON_TEXT_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

/* `indent`: blanks per level, 0 = all in one line. False: `put` failed, or there is no memory. */
bool json_text_write(const json_t *value, unsigned indent, json_dump_callback_t put, void *context);
bool json_text_print(const json_t *value, unsigned indent, FILE *out);
/* In one line, from malloc. NULL: no memory, or `value` is NULL. */
char *json_text(const json_t *value);

#endif
