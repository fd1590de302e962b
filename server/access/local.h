/* A server for its own machine only, on which requests need no token until there is one. */
#ifndef SERVER_ACCESS_LOCAL_H
#define SERVER_ACCESS_LOCAL_H

#include "app.h"

/* Whether the server listens on loopback and no option says that a proxy offers it to others: every request that a
 * proxy passes on comes from loopback, too. */
bool local_is_server(const struct app_config *config);
/* Whether the request comes from this machine, by the address of its connection and by all that proxies say, even if
 * they are not trusted. */
bool local_is_request(const struct http_request *r);

#endif
