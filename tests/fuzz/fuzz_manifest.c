/* Fuzzes manifests: what a lost catalog is rebuilt from. An entry is refused with a reason, or read whole. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "maintenance/rebuild.h"
#include "recordings/names.h"
#include "store/manifest.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds, const char *what) {
    if (!holds) {
        fprintf(stderr, "%s\n", what);
        abort();
    }
}

static void check_recording(const struct rebuilt *b) {
    struct reel_error err = {0};
    must(names_check(b->r.collection, b->r.name, &err), "names are names");
    must(strlen(b->r.id) == RECORDING_ID_TEXT - 1 && b->r.revision >= 1, "it has an id and a revision");
    must(b->r.n_parts > 0 || b->r.state == STATE_RECORDING, "it has files");
    for (uint32_t i = 0; i < b->r.n_parts; i++) {
        must(strlen(b->r.parts[i].sha256) == SHA256_HEX - 1 && b->r.parts[i].file_name, "a file has a hash and a name");
    }
    must(b->r.annotations.n_tags <= TAGS_MAX && b->notes.n <= NOTES_MAX && b->events.n <= EVENTS_MAX,
         "there are no more annotations than allowed");
    for (size_t i = 0; i < b->notes.n; i++) {
        must(b->notes.items[i].text[0] && b->notes.items[i].author, "a note has a text");
    }
    for (size_t i = 0; i < b->events.n; i++) {
        must(b->events.items[i].end_ns >= b->events.items[i].start_ns, "an event ends after it begins");
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    json_auto_t *manifest = json_loadb((const char *)data, size, 0, NULL);
    const json_t *item;
    size_t i;
    json_array_foreach(json_object_get(manifest, "recordings"), i, item) {
        struct reel_error err = {0};
        struct rebuilt b;
        if (rebuild_read(manifest, item, &b, &err)) {
            check_recording(&b);
            json_auto_t *others = store_manifest_with(manifest, b.r.id, json_object());
            must(json_is_array(others) && store_manifest_entry(manifest, b.r.id), "the entry is found by its id");
            rebuilt_done(&b);
        } else {
            must(err.code != REEL_OK && err.text[0], "an entry that is refused says why");
        }
    }
    return 0;
}
