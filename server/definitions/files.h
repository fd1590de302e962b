/* Definitions of message types in files: those of a workspace's folders, or of a ZIP of it. */
#ifndef SERVER_DEFINITIONS_FILES_H
#define SERVER_DEFINITIONS_FILES_H

#include "base/arena.h"
#include "decode/own_definitions.h"

enum {
    DEFINITION_FILES_SKIPPED = 20, /* that are named */
    DEFINITION_FILES_DEPTH = 32,   /* folders in folders */
    DEFINITION_FILES_VISITED = 1000000,
};

struct definition_skipped {
    const char *path, *why;
};
struct definition_files { /* zeroed = empty */
    struct own_definition *items;
    size_t n, room;
    struct definition_skipped skipped[DEFINITION_FILES_SKIPPED]; /* files that look like definitions, but are none */
    size_t n_skipped;                                            /* more may have been skipped than are named */
    struct arena arena;
};
void definition_files_done(struct definition_files *files);

/* Checks one definition; what is no UTF-8 becomes \xNN. REEL_ARGUMENT: it is none. *text is in the arena. */
bool definition_check(struct arena *arena, const char *name, struct reel_bytes raw, const char **text,
                      struct reel_error *err);

/* Adds all .msg, .srv, .action and .idl files below a folder, by path. */
bool definition_files_of_folder(struct definition_files *files, const char *folder, struct reel_error *err);
/* … of a ZIP archive. REEL_ARGUMENT: it is none. */
bool definition_files_of_zip(struct definition_files *files, struct reel_bytes zip, struct reel_error *err);

#endif
