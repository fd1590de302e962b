/* See tls.h. */
#include "http/tls.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"

enum { CHAIN_MAX = 16, KEY_ID_MAX = 64 };

struct certificate {
    struct certificate *older; /* connections may still use it: a few kilobytes for each reload */
    gnutls_pcert_st chain[CHAIN_MAX];
    unsigned n;
    gnutls_privkey_t key;
};

struct tls {
    const char *cert_path, *key_path;
    pthread_mutex_t mutex; /* guards what follows */
    struct certificate *current;
};

static void certificate_free(struct certificate *c) {
    while (c) {
        struct certificate *older = c->older;
        for (unsigned i = 0; i < c->n; i++) {
            gnutls_pcert_deinit(&c->chain[i]);
        }
        if (c->key) {
            gnutls_privkey_deinit(c->key);
        }
        free(c);
        c = older;
    }
}
REEL_DEFINE_AUTO(struct certificate, certificate_free);

static void datum_free(gnutls_datum_t *d) {
    if (d->data) {
        gnutls_memset(d->data, 0, d->size);
        gnutls_free(d->data);
    }
}

static bool tls_refuse(struct reel_error *err, const char *option, const char *path, int code) {
    return reel_fail(err, REEL_ARGUMENT, "--%s: %s: %s", option, path, gnutls_strerror(code));
}

/* Whether the key is the certificate's. */
static bool belongs(const struct certificate *c) {
    unsigned char ours[KEY_ID_MAX], its[KEY_ID_MAX];
    size_t n_ours = sizeof ours, n_its = sizeof its;
    gnutls_pubkey_t key;
    if (gnutls_pubkey_init(&key) != 0) {
        return false;
    }
    bool same = gnutls_pubkey_import_privkey(key, c->key, 0, 0) == 0 &&
                gnutls_pubkey_get_key_id(key, GNUTLS_KEYID_USE_SHA256, ours, &n_ours) == 0 &&
                gnutls_pubkey_get_key_id(c->chain[0].pubkey, GNUTLS_KEYID_USE_SHA256, its, &n_its) == 0 &&
                n_ours == n_its && memcmp(ours, its, n_ours) == 0;
    gnutls_pubkey_deinit(key);
    return same;
}

static struct certificate *read_certificate(const struct tls *tls, struct reel_error *err) {
    __attribute__((cleanup(datum_free))) gnutls_datum_t chain = {0}, key = {0};
    AUTO(certificate_free) struct certificate *c = calloc(1, sizeof *c);
    if (!c) {
        reel_fail_memory(err);
        return NULL;
    }
    unsigned n = CHAIN_MAX;
    int code = gnutls_load_file(tls->cert_path, &chain);
    code = code == 0 ? gnutls_pcert_list_import_x509_raw(c->chain, &n, &chain, GNUTLS_X509_FMT_PEM, 0) : code;
    if (code != 0) {
        tls_refuse(err, "tls-cert", tls->cert_path, code);
        return NULL;
    }
    c->n = n;
    code = gnutls_load_file(tls->key_path, &key);
    code = code == 0 ? gnutls_privkey_init(&c->key) : code;
    code = code == 0 ? gnutls_privkey_import_x509_raw(c->key, &key, GNUTLS_X509_FMT_PEM, NULL, 0) : code;
    if (code != 0) {
        tls_refuse(err, "tls-key", tls->key_path, code);
        return NULL;
    }
    if (!belongs(c)) {
        reel_fail(err, REEL_ARGUMENT, "--tls-key: %s is not the key of the certificate %s", tls->key_path,
                  tls->cert_path);
        return NULL;
    }
    return TAKE(c);
}

bool tls_reload(struct tls *tls, struct reel_error *err) {
    struct certificate *c = read_certificate(tls, err);
    if (c) {
        pthread_mutex_lock(&tls->mutex);
        c->older = tls->current;
        tls->current = c;
        pthread_mutex_unlock(&tls->mutex);
    }
    return c != NULL;
}

void tls_certificate(struct tls *tls, gnutls_pcert_st **chain, unsigned *n, gnutls_privkey_t *key) {
    pthread_mutex_lock(&tls->mutex);
    struct certificate *c = tls->current;
    pthread_mutex_unlock(&tls->mutex);
    *chain = c->chain;
    *n = c->n;
    *key = c->key;
}

struct tls *tls_open(const char *cert_path, const char *key_path, struct reel_error *err) {
    AUTO(tls_close) struct tls *tls = calloc(1, sizeof *tls);
    if (!tls) {
        reel_fail_memory(err);
        return NULL;
    }
    tls->cert_path = cert_path;
    tls->key_path = key_path;
    pthread_mutex_init(&tls->mutex, NULL);
    return tls_reload(tls, err) ? TAKE(tls) : NULL;
}

void tls_close(struct tls *tls) {
    if (tls) {
        certificate_free(tls->current);
        pthread_mutex_destroy(&tls->mutex);
        free(tls);
    }
}
