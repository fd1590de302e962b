/* See annotations.h. */
#include "views/annotations.h"

#include <stdio.h>

#include "catalog/notes.h"
#include "views/views.h"

/* A text that holds an object; {} for "". */
static json_t *object_in(const char *text) {
    return text && text[0] ? json_loads(text, 0, NULL) : json_object();
}

static json_t *view_tags(const struct catalog_annotations *annotations) {
    json_t *tags = json_object();
    for (uint32_t i = 0; i < annotations->n_tags && tags; i++) {
        if (json_object_set_new(tags, annotations->tags[i].key, json_string(annotations->tags[i].value)) != 0) {
            json_decref(tags);
            tags = NULL;
        }
    }
    return tags;
}

static json_t *view_calendar(const struct catalog_recording *r, int64_t own_ns) {
    int64_t ns;
    return r->messages > 0 && catalog_on_calendar(r, own_ns, &ns) ? view_time(ns, REEL_CLOCK_WALL) : json_null();
}

static json_t *view_cut(const struct catalog_annotations *annotations) {
    json_t *names = json_array();
    if (annotations->cut_description) {
        json_array_append_new(names, json_string("description"));
    }
    if (annotations->cut_custom) {
        json_array_append_new(names, json_string("custom"));
    }
    return names;
}

bool view_add_annotations(json_t *recording, const struct catalog_recording *r) {
    const struct catalog_annotations *annotations = &r->annotations;
    json_t *o = json_pack(
        "{s:o, s:o, s:o, s:o, s:s, s:o, s:o, s:o}", "epoch",
        annotations->has_epoch ? view_time(annotations->epoch_ns, REEL_CLOCK_WALL) : json_null(), "calendar_start",
        view_calendar(r, r->start_ns), "calendar_end", view_calendar(r, r->end_ns), "tags", view_tags(annotations),
        "description", annotations->description ? annotations->description : "", "custom",
        object_in(annotations->custom), "notes", view_u64(annotations->notes), "events", view_u64(annotations->events));
    if (o && (annotations->cut_description || annotations->cut_custom)) {
        json_object_set_new(o, "cut", view_cut(annotations));
    }
    bool good = o && json_object_update(recording, o) == 0;
    json_decref(o);
    return good;
}

json_t *view_note(const struct catalog_note *n) {
    return json_pack("{s:s, s:s, s:s, s:o, s:o}", "id", n->id, "author", n->author, "text", n->text, "created",
                     view_time(n->created_ns, REEL_CLOCK_WALL), "updated", view_time(n->updated_ns, REEL_CLOCK_WALL));
}

json_t *view_event(const struct catalog_event *e) {
    enum reel_clock clock = e->relative ? REEL_CLOCK_RELATIVE : REEL_CLOCK_WALL;
    char start[24], end[24];
    snprintf(start, sizeof start, "%lld", (long long)e->start_ns);
    snprintf(end, sizeof end, "%lld", (long long)e->end_ns);
    json_t *o = json_pack("{s:s, s:s, s:s, s:s, s:o, s:o, s:s, s:s}", "id", e->id, "recording", e->recording,
                          "collection", e->collection, "name", e->name, "start", view_time(e->start_ns, clock), "end",
                          view_time(e->end_ns, clock), "start_ns", start, "end_ns", end);
    json_t *more =
        json_pack("{s:o, s:o, s:s, s:o, s:s, s:o, s:o}", "calendar_start",
                  e->on_calendar ? view_time(e->wall_start_ns, REEL_CLOCK_WALL) : json_null(), "calendar_end",
                  e->on_calendar ? view_time(e->wall_end_ns, REEL_CLOCK_WALL) : json_null(), "title", e->title, "tags",
                  object_in(e->tags), "author", e->author, "created", view_time(e->created_ns, REEL_CLOCK_WALL),
                  "updated", view_time(e->updated_ns, REEL_CLOCK_WALL));
    bool good = o && more && json_object_update(o, more) == 0;
    json_decref(more);
    if (!good) {
        json_decref(o);
    }
    return good ? o : NULL;
}

json_t *view_collection(const struct catalog_collection *c) {
    return json_pack("{s:s, s:s, s:o, s:o, s:o, s:f, s:o, s:o}", "name", c->name, "description", c->description,
                     "recordings", view_u64(c->recordings), "size", view_u64(c->bytes), "messages",
                     view_u64(c->messages), "duration_s", (double)c->duration_ms / 1e3, "start",
                     c->on_calendar ? view_time(c->first_ns, REEL_CLOCK_WALL) : json_null(), "end",
                     c->on_calendar ? view_time(c->last_ns, REEL_CLOCK_WALL) : json_null());
}
