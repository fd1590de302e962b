/* See files.h. */
#include "definitions/files.h"

#include <fts.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/grow.h"
#include "base/limits.h"
#include "base/source.h"
#include "chunks/codec.h"
#include "formats/ros/definition.h"
#include "syntax/zip.h"

void definition_files_done(struct definition_files *files) {
    free(files->items);
    arena_free(&files->arena);
    *files = (struct definition_files){0};
}

bool definition_check(struct arena *arena, const char *name, struct reel_bytes raw, const char **text,
                      struct reel_error *err) {
    struct reel_error why = {0};
    if (raw.size > REEL_OWN_DEFINITION_MAX) {
        return reel_fail(err, REEL_ARGUMENT, "it has %zu bytes, at most %d are taken", raw.size,
                         REEL_OWN_DEFINITION_MAX);
    }
    if (!(*text = arena_utf8(arena, raw))) {
        return arena_fail(arena, err);
    }
    if (strlen(*text) > REEL_OWN_DEFINITION_MAX) {
        return reel_fail(err, REEL_ARGUMENT, "it is no text");
    }
    if (!ros_definition_check(name, bytes_text(*text), &why)) {
        return reel_is_transient(why.code) ? reel_error_pass(err, &why) : reel_fail(err, REEL_ARGUMENT, "%s", why.text);
    }
    return true;
}

static bool skip(struct definition_files *files, const char *path, const char *why, struct reel_error *err) {
    if (files->n_skipped < DEFINITION_FILES_SKIPPED) {
        struct definition_skipped *s = &files->skipped[files->n_skipped];
        s->path = arena_utf8(&files->arena, bytes_text(path));
        s->why = arena_text(&files->arena, why);
        if (!s->path || !s->why) {
            return arena_fail(&files->arena, err);
        }
    }
    files->n_skipped++;
    return true;
}

/* Adds a file; a definition that cannot be read is skipped. */
static bool add(struct definition_files *files, const char *path, const char *name, struct reel_bytes raw,
                struct reel_error *err) {
    struct reel_error why = {0};
    const char *text, *kept = arena_text(&files->arena, name);
    if (!kept) {
        return arena_fail(&files->arena, err);
    }
    if (!definition_check(&files->arena, name, raw, &text, &why)) {
        return reel_is_transient(why.code) || why.code == REEL_LIMIT ? reel_error_pass(err, &why)
                                                                     : skip(files, path, why.text, err);
    }
    if (files->n >= REEL_OWN_DEFINITIONS_MAX) {
        return reel_fail(err, REEL_ARGUMENT, "more than %d definitions", REEL_OWN_DEFINITIONS_MAX);
    }
    if (!GROW_ARRAY(files->items, files->n, files->room)) {
        return reel_fail_memory(err);
    }
    files->items[files->n++] = (struct own_definition){.name = kept, .text = bytes_text(text)};
    return true;
}

/* ---- folders */

static bool add_file(struct definition_files *files, const char *path, const char *name, struct reel_error *err) {
    AUTO(reel_source_free) struct reel_source *source = reel_source_open(path, NULL, err);
    char data[REEL_OWN_DEFINITION_MAX + 1];
    if (!source) {
        return false;
    }
    size_t size = source->size < sizeof data ? (size_t)source->size : sizeof data;
    return reel_source_read(source, 0, data, size, err) && add(files, path, name, bytes_of(data, size), err);
}

static bool add_entry(struct definition_files *files, FTS *tree, FTSENT *entry, struct reel_error *err) {
    char name[OWN_DEFINITION_NAME_ROOM];
    bool is_folder = entry->fts_info == FTS_D, is_hidden = entry->fts_level > 0 && entry->fts_name[0] == '.'; /* .git,
                                                                                                                 and the
                                                                                                                 like */
    if (is_folder && (is_hidden || entry->fts_level > DEFINITION_FILES_DEPTH)) {
        fts_set(tree, entry, FTS_SKIP);
    }
    return entry->fts_info != FTS_F || is_hidden || !own_definition_name(entry->fts_path, name) ||
           add_file(files, entry->fts_path, name, err);
}

static int by_name(const FTSENT **a, const FTSENT **b) {
    return strcmp((*a)->fts_name, (*b)->fts_name);
}

bool definition_files_of_folder(struct definition_files *files, const char *folder, struct reel_error *err) {
    char *const paths[] = {(char *)folder, NULL};
    FTS *tree = fts_open(paths, FTS_PHYSICAL | FTS_NOCHDIR, by_name);
    bool good = tree || reel_fail_errno(err, "%.200s", folder);
    unsigned visited = 0;
    for (FTSENT *entry; good && (entry = fts_read(tree));) {
        if (entry->fts_level == 0 && entry->fts_info != FTS_D && entry->fts_info != FTS_DP) {
            good = reel_fail(err, REEL_NOT_FOUND, "%.200s is not a folder", folder);
        } else if (++visited > DEFINITION_FILES_VISITED) {
            good = reel_fail(err, REEL_LIMIT, "%.200s has more than %d files", folder, DEFINITION_FILES_VISITED);
        } else {
            good = add_entry(files, tree, entry, err);
        }
    }
    if (tree) {
        fts_close(tree);
    }
    return good;
}

/* ---- ZIP */

static bool add_member(struct definition_files *files, struct reel_source *source, const struct zip_member *m,
                       struct reel_error *err) {
    char path[1024], name[OWN_DEFINITION_NAME_ROOM];
    uint8_t data[REEL_OWN_DEFINITION_MAX];
    struct reel_error why = {0};
    if (m->name.size >= sizeof path) {
        return true;
    }
    memcpy(path, m->name.data, m->name.size);
    path[m->name.size] = '\0';
    if (!own_definition_name(path, name)) {
        return true;
    }
    if (m->problem || m->raw > sizeof data) {
        return skip(files, path, m->problem ? m->problem : "it is too large", err);
    }
    const struct reel_chunk chunk = {.codec = m->codec, .offset = m->offset, .stored = m->stored, .raw = m->raw};
    if (!codec_decode_chunk(&chunk, source, data, NULL, &why)) {
        return reel_is_transient(why.code) ? reel_error_pass(err, &why) : skip(files, path, why.text, err);
    }
    return add(files, path, name, bytes_of(data, (size_t)m->raw), err);
}

bool definition_files_of_zip(struct definition_files *files, struct reel_bytes zip, struct reel_error *err) {
    AUTO(reel_source_free) struct reel_source *source = reel_source_from_memory(zip, "the ZIP archive", err);
    struct zip_contents contents = {0};
    struct reel_error why = {0};
    if (!source) {
        return false;
    }
    files->arena.max = 2 * REEL_OWN_DEFINITIONS_BYTES_MAX; /* also of what is skipped */
    bool good = zip_contents_read(&contents, source, &why);
    for (size_t i = 0; good && i < contents.count; i++) {
        good = add_member(files, source, &contents.members[i], &why);
    }
    zip_contents_free(&contents);
    return good ||
           (reel_is_transient(why.code) ? reel_error_pass(err, &why) : reel_fail(err, REEL_ARGUMENT, "%s", why.text));
}
