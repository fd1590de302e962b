/* See quota.h. */
#include "catalog/quota.h"

#include <inttypes.h>
#include <string.h>

#include "base/size_text.h"
#include "catalog/retention_rows.h"
#include "catalog/retention_rules.h"

bool quota_check(struct catalog *c, const char *collection, uint64_t bytes, bool added, struct reel_error *err) {
    json_auto_t *document = retention_get(c, err);
    const json_t *quota = document ? retention_of(document, "quotas", collection) : NULL;
    uint64_t recordings = 0, used = 0;
    if (!quota) {
        return document;
    }
    const json_t *most = json_object_get(quota, "size"), *many = json_object_get(quota, "recordings");
    if (!catalog_quota_used(c, collection, &recordings, &used, err)) {
        return false;
    }
    if (many && added && recordings >= (uint64_t)json_integer_value(many)) {
        return reel_fail(err, REEL_NO_SPACE,
                         "the collection %.100s is full: its quota is %" PRIu64 " recordings, and it has %" PRIu64,
                         collection, (uint64_t)json_integer_value(many), recordings);
    }
    char texts[3][16];
    uint64_t room = most ? (uint64_t)json_integer_value(most) : UINT64_MAX;
    return (used <= room && bytes <= room - used) ||
           reel_fail(err, REEL_NO_SPACE,
                     "the collection %.100s is full: its quota is %s, it has %s, and %s more do not fit", collection,
                     size_text(room, texts[0]), size_text(used, texts[1]), size_text(bytes, texts[2]));
}

bool quota_check_move(struct catalog *c, const char *id, const char *collection, struct reel_error *err) {
    struct catalog_recording r = {0};
    if (!catalog_get(c, id, &r, err)) {
        return false;
    }
    bool trashed = r.state == STATE_TRASHED; /* what is there takes no room, wherever it is moved to */
    bool takes = collection ? !trashed && strcmp(collection, r.collection) != 0 : trashed;
    uint64_t bytes = r.announced && r.announced[0] ? 0 : r.size; /* a file that is still on a robot takes none */
    bool good = !takes || quota_check(c, collection ? collection : r.collection, bytes, true, err);
    catalog_recording_done(&r);
    return good;
}
