/* The certificate of a server that speaks TLS itself. It can be replaced while the server runs: connections that are
 * being set up keep the one they began with. */
#ifndef SERVER_HTTP_TLS_H
#define SERVER_HTTP_TLS_H

#include <gnutls/abstract.h>

#include "reel/cleanup.h"
#include "reel/error.h"

struct tls;
/* PEM files: the certificate with its chain, and its key. The paths must stay valid. */
struct tls *tls_open(const char *cert_path, const char *key_path, struct reel_error *err);
void tls_close(struct tls *tls); /* NULL is allowed; no connection may be open */
REEL_DEFINE_AUTO(struct tls, tls_close);

bool tls_reload(struct tls *tls, struct reel_error *err); /* false: the old certificate stays */
/* What a connection presents; valid until tls_close(). */
void tls_certificate(struct tls *tls, gnutls_pcert_st **chain, unsigned *n, gnutls_privkey_t *key);

#endif
