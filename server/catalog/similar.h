/* "did you mean …?" for a name that does not exist. */
#ifndef SERVER_CATALOG_SIMILAR_H
#define SERVER_CATALOG_SIMILAR_H

#include <jansson.h>

/* ": did you mean a, b?" of up to four of `names` (texts) that contain the text or differ from it in two characters at
 * most; "" when there is none. Written to `out` and returned. */
const char *similar_text(const char *text, const json_t *names, char *out, size_t size);

#endif
