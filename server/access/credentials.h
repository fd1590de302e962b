/* The Authorization header. */
#ifndef SERVER_ACCESS_CREDENTIALS_H
#define SERVER_ACCESS_CREDENTIALS_H

#include "access/token.h"

enum credentials { CREDENTIALS_WRONG, CREDENTIALS_BEARER, CREDENTIALS_BASIC };
/* "Bearer TOKEN", or "Basic BASE64" of ANYBODY:TOKEN. On anything but CREDENTIALS_WRONG `token` is well formed; whether there is such a
 * one, the catalog knows. */
enum credentials credentials_read(const char *header, char token[TOKEN_TEXT]);

#endif
