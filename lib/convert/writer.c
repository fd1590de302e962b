/* What is known of writers before one runs: their stream (the requested view first, then the conversion of encodings,
 * then the view that the writer itself adds) and their options. */
#include "convert/writer.h"
#include "base/cleanup.h"
#include "chunks/codec.h"
#include "decode/encoding.h"
#include "stream/rules.h"
#include "stream/selection.h"
#include "stream/view.h"

#include <stdio.h>
#include <string.h>

static struct reel_stream *convert_to(const char *name, struct reel_stream *stream, struct reel_error *err) {
    for (size_t i = 0; reel_encodings[i]; i++) {
        if (strcmp(reel_encodings[i]->name, name) == 0 && reel_encodings[i]->convert) {
            return reel_encodings[i]->convert(stream, err);
        }
    }
    reel_stream_free(stream);
    reel_fail(err, REEL_ARGUMENT, "messages are not converted to the encoding \"%.32s\"", name);
    return NULL;
}

struct opened_selection *writer_selection(const struct reel_writer *writer, struct reel_recording *const *recordings,
                                          uint32_t n, const struct reel_selection *selection, struct reel_error *err) {
    struct reel_selection q = *selection;
    if (writer->needs & REEL_KEEPS_TOPICS) {
        q.prefixing = REEL_PREFIX_NEVER;
    }
    return selection_open(recordings, n, &q, err);
}

struct reel_stream *writer_stream(const struct reel_writer *writer, struct opened_selection *o, bool with_initial_state,
                                  struct reel_error *err) {
    const struct reel_selection *q = &o->selection;
    struct reel_stream *stream = selection_stream(o, with_initial_state, err);
    if (stream && q->rules) {
        stream = q->rules->open(q->rules, stream, err);
    }
    if (stream && q->view) {
        stream = q->view->open(stream, o->recordings, o->n_recordings, q, err);
    }
    const char *encoding = q->encoding ? q->encoding : writer->encoding;
    if (stream && encoding && encoding[0]) {
        stream = convert_to(encoding, stream, err);
    }
    stream = stream && writer->view ? writer->view(stream, err) : stream;
    if (stream && (writer->needs & REEL_COMPRESSES)) {
        stream->view_version ^= codec_encode_version();
    }
    return stream;
}

struct reel_stream *reel_writer_stream(const struct reel_writer *writer, struct reel_recording *const *recordings,
                                       uint32_t n_recordings, const struct reel_selection *selection,
                                       struct reel_error *err) {
    AUTO(selection_free)
    struct opened_selection *o = writer_selection(writer, recordings, n_recordings, selection, err);
    return o && selection_make_initial_state(o, selection->initial, err) ? writer_stream(writer, o, true, err) : NULL;
}

/* ---- options */

/* ".rosbag2.zip" once, though two writers have it. */
static bool is_listed(const char *list, const char *extension) {
    const char *at = strstr(list, extension);
    size_t n = strlen(extension);
    return at && (at[n] == ',' || at[n] == '\0');
}

static void list_outputs(const char *option, char out[REEL_OPTION_HELP_ROOM]) {
    out[0] = '\0';
    for (size_t i = 0; reel_writers[i]; i++) {
        const struct reel_writer *w = reel_writers[i];
        if (reel_write_option_find(w->options, option) && !is_listed(out, w->extension)) {
            size_t used = strlen(out);
            snprintf(out + used, REEL_OPTION_HELP_ROOM - used, "%s%s", used > 0 ? ", " : "", w->extension);
        }
    }
}

static bool has_earlier(size_t writer, const char *option) {
    size_t i = 0;
    while (i < writer && !reel_write_option_find(reel_writers[i]->options, option)) {
        i++;
    }
    return i < writer;
}

const struct reel_write_option *reel_write_option_at(size_t i, char help[REEL_OPTION_HELP_ROOM]) {
    for (size_t w = 0; reel_writers[w]; w++) {
        for (const struct reel_write_option *o = reel_writers[w]->options; o && o->name; o++) {
            if (!has_earlier(w, o->name) && i-- == 0) {
                list_outputs(o->name, help);
                size_t used = strlen(help);
                snprintf(help + used, REEL_OPTION_HELP_ROOM - used, ": %s", o->help);
                return o;
            }
        }
    }
    return NULL;
}

static bool writer_fail_unknown(const struct reel_writer *writer, bool command_line, struct reel_error *err) {
    char list[256] = "no options of their own";
    size_t used = 0;
    for (const struct reel_write_option *o = writer->options; o && o->name && used < sizeof list; o++) {
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%s%s", used > 0 ? ", " : "",
                                 command_line ? "--" : "", o->name);
    }
    for (char *p = list; command_line && writer->options && (p = strchr(p, '_')) != NULL;) {
        *p = '-';
    }
    return reel_fail(err, REEL_ARGUMENT, "means nothing for %s files, which take %s", writer->name, list);
}

bool reel_writer_set_option(const struct reel_writer *writer, const char *name, const char *text, bool command_line,
                            struct reel_write_values *values, struct reel_error *err) {
    const struct reel_write_option *option = reel_write_option_find(writer->options, name);
    return option ? reel_write_values_add(values, option, text, err) : writer_fail_unknown(writer, command_line, err);
}
