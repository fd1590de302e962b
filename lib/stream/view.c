/* The views by their names. */
#include <stdio.h>
#include <string.h>

#include "stream/view.h"

const struct reel_view *reel_view_named(const char *name, struct reel_error *err) {
    char list[128] = "";
    size_t used = 0;
    for (size_t i = 0; reel_views[i]; i++) {
        if (strcmp(reel_views[i]->name, name) == 0) {
            return reel_views[i];
        }
        int n = snprintf(list + used, sizeof list - used, "%s%s", used > 0 ? ", " : "", reel_views[i]->name);
        used += n > 0 && used + (size_t)n < sizeof list ? (size_t)n : 0;
    }
    reel_fail(err, REEL_ARGUMENT, "\"%.32s\" is not a view; there is: %s", name, list);
    return NULL;
}

const struct reel_view *view_named(const char *name, bool raw, struct reel_error *err) {
    const struct reel_view *view = reel_view_named(name, err);
    return view && raw && view->raw ? view->raw : view;
}

const char *views_help(char out[VIEWS_HELP_ROOM]) {
    out[0] = '\0';
    for (size_t i = 0; reel_views[i]; i++) {
        size_t used = strlen(out);
        snprintf(out + used, VIEWS_HELP_ROOM - used, "%s%s: %s", i ? "; " : "", reel_views[i]->name,
                 reel_views[i]->help);
    }
    return out;
}
