/* What is listed elsewhere as parameters of the exports: the options that only some writers have (convert/options.h),
 * and the views. */
#include <pthread.h>
#include <string.h>

#include "api/export/export.h"
#include "stream/view.h"

enum { ROWS_MAX = 64, VIEWS_MAX = 16 };
static struct {
    struct http_param params[ROWS_MAX + 2];
    const struct reel_write_option *options[ROWS_MAX + 1]; /* of the first rows; the last row is that of the views */
    char help[ROWS_MAX][REEL_OPTION_HELP_ROOM + 1];
    const char *views[VIEWS_MAX + 2];
    char views_help[VIEWS_HELP_ROOM + 1];
} rows;

static struct http_param view_row(void) {
    rows.views[0] = "raw";
    views_help(rows.views_help);
    for (size_t i = 0; i < VIEWS_MAX && reel_views[i]; i++) {
        rows.views[i + 1] = reel_views[i]->name;
    }
    return (struct http_param){.name = "view",
                               .type = HTTP_CHOICE,
                               .choices = rows.views,
                               .fallback = "raw",
                               .help = strcat(rows.views_help, ".")};
}

static void make_rows(void) {
    static const enum http_type types[] = {
        [REEL_OPTION_FLAG] = HTTP_BOOL,         [REEL_OPTION_UINT] = HTTP_UINT,     [REEL_OPTION_BYTES] = HTTP_UINT,
        [REEL_OPTION_DURATION] = HTTP_DURATION, [REEL_OPTION_CHOICE] = HTTP_CHOICE, [REEL_OPTION_GLOBS] = HTTP_GLOB};
    const struct reel_write_option *o;
    size_t i = 0;
    for (; i < ROWS_MAX && (o = reel_write_option_at(i, rows.help[i])) != NULL; i++) {
        bool counts = o->type != REEL_OPTION_DURATION; /* the bounds of a duration are not numbers to the client */
        strcat(rows.help[i], ".");
        rows.options[i] = o;
        rows.params[i] = (struct http_param){.name = o->name,
                                             .type = types[o->type],
                                             .repeats = o->type == REEL_OPTION_GLOBS,
                                             .choices = o->choices,
                                             .help = rows.help[i],
                                             .fallback = o->initial,
                                             .min = counts ? o->least : 0,
                                             .max = counts ? o->most : 0};
    }
    rows.params[i] = view_row();
}

const struct http_param *api_write_params(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, make_rows);
    return rows.params;
}

const char *api_write_variant(const struct http_request *r) {
    api_write_params();
    for (size_t i = 0; rows.options[i]; i++) {
        const struct reel_write_option *o = rows.options[i];
        const char *text = o->is_variant ? http_param(r, o->name) : NULL;
        if (text && strcmp(text, o->choices[0]) != 0) {
            return text;
        }
    }
    return NULL;
}

bool api_read_write_options(struct http_request *r, const struct reel_writer *writer,
                            struct reel_write_values *values) {
    struct reel_error err = {0};
    const char *texts[REEL_WRITE_VALUES_MAX];
    const struct http_param *p = api_write_params();
    for (size_t k = 0; rows.options[k]; k++, p++) {
        size_t n = http_params(r, p->name, texts, REEL_WRITE_VALUES_MAX);
        for (size_t i = 0; i < n; i++) {
            if (!reel_writer_set_option(writer, p->name, texts[i], false, values, &err)) {
                http_reply_bad_param(r, p->name, "%s", err.text);
                return false;
            }
        }
    }
    return true;
}
