/* Finds the members of the archive. */
#include "base/bytes.h"
#include "formats/nanover/container.h"

enum { LOCAL_WALK_MAX = 2 }; /* local headers read in a file without a directory: messages and index */

static void find_names(struct nanover_archive *archive) {
    archive->messages = archive->index = NULL;
    for (size_t i = 0; i < archive->zip.count; i++) { /* of two members with one name the later one counts, as in
                                                         Python's zipfile */
        const struct zip_member *m = &archive->zip.members[i];
        archive->messages = bytes_is(m->name, NANOVER_MESSAGES) ? m : archive->messages;
        archive->index = bytes_is(m->name, NANOVER_INDEX) ? m : archive->index;
    }
}

bool nanover_archive_open(struct nanover_archive *archive, struct reel_source *source, struct reel_error *err) {
    struct reel_error why = {.code = REEL_OK};
    *archive = (struct nanover_archive){.lost = NULL};
    bool opened = zip_contents_read(&archive->zip, source, &why);
    if (!opened && why.code != REEL_DAMAGED) {
        return reel_error_pass(err, &why);
    }
    if (opened) {
        find_names(archive);
        if (archive->messages && !archive->messages->problem) {
            return true;
        }
        reel_fail(&why, REEL_DAMAGED, "ZIP directory: %s",
                  archive->messages ? archive->messages->problem : "it does not name " NANOVER_MESSAGES);
    }
    archive->lost = arena_text(&archive->zip.arena, why.text);
    if (!archive->lost) {
        return arena_fail(&archive->zip.arena, err);
    }
    if (!zip_contents_walk(&archive->zip, source, LOCAL_WALK_MAX, err)) {
        return false;
    }
    find_names(archive);
    return archive->messages || reel_fail(err, REEL_NOT_MINE, "ZIP archive without %s", NANOVER_MESSAGES);
}

void nanover_archive_close(struct nanover_archive *archive) {
    zip_contents_free(&archive->zip);
}
