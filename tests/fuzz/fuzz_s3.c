/* What strangers may send to /s3: the header Authorization, and a target whose query has a signature. A line of each.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "access/s3_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds) {
    if (!holds) {
        abort();
    }
}

static void check_claim(const struct s3_claim *claim) {
    must(claim->access[0] && claim->region[0] && strlen(claim->signature) == SHA256_HEX - 1);
    must(strstr(claim->headers, "host") && strlen(claim->headers) <= S3_SIGNED_NAMES_MAX);
    must(claim->lifetime_s >= 0 && claim->lifetime_s <= S3_LIFETIME_MAX_S);
}

/* What is signed is signed in one way: written again it is the same. */
static void check_canonical(const char *target) {
    size_t size = strcspn(target, "?");
    char *path = s3_canonical_path(target, size), *query = s3_canonical_query(target[size] ? target + size + 1 : "");
    char *path_again = path ? s3_canonical_path(path, strlen(path)) : NULL;
    char *query_again = query ? s3_canonical_query(query) : NULL;
    must(!path || (path_again && strcmp(path, path_again) == 0));
    must(!query || (query_again && strcmp(query, query_again) == 0));
    free(path);
    free(query);
    free(path_again);
    free(query_again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct s3_claim claim;
    char *text = strndup((const char *)data, size);
    char *target = text ? strchr(text, '\n') : NULL;
    if (!text) {
        return 0;
    }
    if (target) {
        *target++ = '\0';
    }
    if (s3_claim_header(text, "20130524T000000Z", &claim)) {
        check_claim(&claim);
        must(claim.lifetime_s == 0);
    }
    if (target) {
        const char *query = strchr(target, '?');
        if (query && s3_claim_query(query + 1, &claim)) {
            check_claim(&claim);
        }
        check_canonical(target);
        s3_canonical_value(target);
    }
    free(text);
    return 0;
}
