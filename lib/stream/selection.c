/* See selection.h. */
#include "stream/selection.h"

#include "base/options.h"

bool selection_read(struct reel_selection *out, const struct reel_selection *given, struct reel_error *err) {
    return options_copy(out, sizeof *out, given ? given : &selection_all, "reel_selection", err);
}

static bool copy_texts(const char *const **texts, uint32_t n, struct arena *arena) {
    return n == 0 || (*texts = arena_texts(arena, *texts, n));
}

bool selection_copy(struct reel_selection *copy, const struct reel_selection *selection, uint32_t n_recordings,
                    struct arena *arena) {
    *copy = *selection;
    copy->initial = NULL;
    if (selection->n_channels > 0) {
        copy->channels = arena_copy(arena, selection->channels, selection->n_channels * sizeof *selection->channels);
    }
    if (selection->sources) {
        copy->sources = arena_copy(arena, selection->sources, n_recordings * sizeof *selection->sources);
    }
    if (selection->since) {
        copy->since = arena_copy(arena, selection->since, sizeof *selection->since);
    }
    copy->encoding = selection->encoding ? arena_text(arena, selection->encoding) : NULL;
    return (copy->encoding || !selection->encoding) && (selection->n_channels == 0 || copy->channels) &&
           (!selection->sources || copy->sources) && (!selection->since || copy->since) &&
           copy_texts(&copy->topics, selection->n_topics, arena) &&
           copy_texts(&copy->exclude, selection->n_exclude, arena) &&
           copy_texts(&copy->where, selection->n_where, arena) &&
           copy_texts(&copy->renames, selection->n_renames, arena);
}
