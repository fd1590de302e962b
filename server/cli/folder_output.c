/* See folder_output.h. The archive is written into its first file, without the header before it, which may be replaced
 * at the end; what follows the file's bytes is then taken out of it: the second member, metadata.yaml. */
#include "cli/folder_output.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "base/arena.h"
#include "base/cleanup.h"
#include "base/limits.h"
#include "cli/cli.h"
#include "syntax/tar.h"
#include "syntax/ustar.h"

struct file {
    struct output_file output;
    char *path;
};
struct writing {
    const char *folder;
    bool replace, made; /* made: the folder did not exist */
    struct file first, second;
    uint8_t head[USTAR_HEAD_MAX]; /* the header of the first member */
    size_t head_size;
    struct arena arena; /* names */
};
static void file_done(struct file *f) {
    reel_auto_output_file_done(&f->output);
    free(f->path);
}
static void writing_done(struct writing *w) {
    file_done(&w->first);
    file_done(&w->second);
    arena_free(&w->arena);
    if (w->made) {
        rmdir(w->folder); /* unless there is a file in it */
    }
}

static bool next_member(struct writing *w, struct reel_source *source, uint64_t at, struct tar_member *m,
                        struct reel_error *err) {
    struct tar tar = {.source = source, .arena = &w->arena, .at = at};
    bool more;
    return tar_next(&tar, m, &more, err) && (more || reel_fail(err, REEL_DAMAGED, "the archive has no further file"));
}

static bool open_file(const struct writing *w, struct file *f, const char *member, struct reel_error *err) {
    size_t size = strlen(w->folder);
    const char *slash = size > 0 && w->folder[size - 1] == '/' ? "" : "/";
    if (asprintf(&f->path, "%s%s%s", w->folder, slash, cli_file_name(member)) < 0) {
        f->path = NULL;
        return reel_fail_memory(err);
    }
    return cli_output_open(&f->output, f->path, w->replace, err);
}

/* The first bytes have the whole header. */
static bool begin(struct writing *w, const void *data, size_t size, struct reel_error *err) {
    struct tar_member m;
    AUTO(reel_source_free)
    struct reel_source *source = reel_source_from_memory(bytes_of(data, size), w->folder, err);
    if (!source || !next_member(w, source, 0, &m, err)) {
        return false;
    }
    if (m.offset > sizeof w->head) {
        return reel_fail(err, REEL_LIMIT, "%s: the name is too long", w->folder);
    }
    w->head_size = (size_t)m.offset;
    memcpy(w->head, data, w->head_size);
    w->made = mkdir(w->folder, 0777) == 0;
    return (w->made || errno == EEXIST || reel_fail_errno(err, "%s", w->folder)) &&
           open_file(w, &w->first, m.name, err);
}

static bool folder_write(void *context, const void *data, size_t size, struct reel_error *err) {
    struct writing *w = context;
    bool is_first = w->head_size == 0;
    if (is_first && !begin(w, data, size, err)) {
        return false;
    }
    size_t head = is_first ? w->head_size : 0;
    return cli_output_write(&w->first.output, (const uint8_t *)data + head, size - head, err);
}

static bool folder_rewrite(void *context, const void *data, size_t size, struct reel_error *err) {
    struct writing *w = context;
    memcpy(w->head, data, w->head_size);
    return output_file_rewrite(&w->first.output, (const uint8_t *)data + w->head_size, size - w->head_size, err);
}

/* Moves the second member, behind `size` bytes of the first file, into a file of its own. */
static bool move_second(struct writing *w, uint64_t size, struct reel_error *err) {
    struct tar_member m;
    const char *path = w->first.output.temporary;
    if (!path) {
        return reel_fail(err, REEL_ARGUMENT, "%s is no regular file", w->first.path);
    }
    AUTO(reel_source_free) struct reel_source *source = reel_source_open(path, NULL, err);
    if (!source || !next_member(w, source, size + ustar_padding(size), &m, err) ||
        !open_file(w, &w->second, m.name, err)) {
        return false;
    }
    AUTO_MEM uint8_t *text = m.size <= REEL_MODEL_MAX ? malloc((size_t)m.size + 1) : NULL;
    return (text || reel_fail_memory(err)) && reel_source_read(source, m.offset, text, (size_t)m.size, err) &&
           cli_output_write(&w->second.output, text, (size_t)m.size, err) &&
           (ftruncate(w->first.output.fd, (off_t)size) == 0 || reel_fail_errno(err, "%s", w->first.path));
}

static bool finish(struct writing *w, struct reel_error *err) {
    struct tar_member m;
    AUTO(reel_source_free)
    struct reel_source *head = reel_source_from_memory(bytes_of(w->head, w->head_size), w->folder, err);
    return head && next_member(w, head, 0, &m, err) && move_second(w, m.size + m.missing, err) &&
           output_file_finish(&w->first.output, err) && output_file_finish(&w->second.output, err);
}

bool cli_write_folder(struct reel_conversion *conversion, const char *folder, bool replace, struct reel_loss *losses,
                      const struct reel_progress *progress, struct reel_error *err) {
    AUTO_STRUCT(writing_done)
    struct writing w = {.folder = folder,
                        .replace = replace,
                        .first.output.fd = -1,
                        .second.output.fd = -1,
                        .arena.max = REEL_MODEL_MAX};
    const struct reel_output output = {.write = folder_write, .rewrite = folder_rewrite, .context = &w};
    return conversion_write(conversion, &output, losses, progress, err) && finish(&w, err);
}
