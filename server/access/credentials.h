/* The Authorization header. */
#ifndef SERVER_ACCESS_CREDENTIALS_H
#define SERVER_ACCESS_CREDENTIALS_H

#include "access/token.h"

enum credentials { CREDENTIALS_WRONG, CREDENTIALS_BEARER, CREDENTIALS_BASIC };
/* "Bearer TOKEN", or "Basic BASE64" of USER:TOKEN with any user name. Unless CREDENTIALS_WRONG, `token` is well formed
 * but not yet verified. */
enum credentials credentials_read(const char *header, char token[TOKEN_TEXT]);

/* "Link KEY": the key of a link to a recording, not yet verified; NULL: other credentials. */
const char *credentials_link(const char *header);

#endif
