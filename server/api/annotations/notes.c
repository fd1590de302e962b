/* /recordings/{id}/notes: notes on a recording. */
#include <inttypes.h>
#include <stdio.h>

#include "api/annotations/annotations.h"
#include "api/body.h"
#include "api/paging.h"
#include "api/recording.h"
#include "catalog/notes.h"
#include "manifests/manifests.h"
#include "views/annotations.h"

void api_notes_list(struct http_request *r) {
    struct api_recording a;
    static const char *const columns[] = {"id", "author", "text", "created", "updated", NULL};
    struct catalog_notes notes;
    struct reel_error err = {0};
    uint32_t limit = paging_limit(r);
    int64_t after = 0;
    char next[24];
    if (!paging_after_row(r, &after) || !api_find(r, &a)) {
        return;
    }
    if (!catalog_notes_list(http_app(r)->catalog, a.row.id, after, limit, &notes, &err)) {
        http_reply_error(r, &err);
    } else {
        json_t *items = json_array();
        for (uint32_t i = 0; i < notes.n; i++) {
            json_array_append_new(items, view_note(&notes.items[i]));
        }
        snprintf(next, sizeof next, "%" PRId64, notes.more ? notes.items[notes.n - 1].row : 0);
        paging_reply(r, items, notes.more ? next : NULL, columns);
        catalog_notes_done(&notes);
    }
    api_recording_done(&a);
}

/* The text in the body; NULL: replied. */
static const char *notes_text_of(struct http_request *r) {
    static const char *const known[] = {"text", NULL};
    const json_t *body = body_json(r);
    const char *text = json_string_value(json_object_get(body, "text"));
    if (body && body_knows(r, body, known) && !text) {
        body_refuse(r, "text", "must be there, and a text");
    }
    return body && json_object_size(body) == 1 ? text : NULL;
}

void api_note_add(struct http_request *r) {
    struct app *app = http_app(r);
    const char *text = notes_text_of(r);
    struct catalog_note note = {.text = (char *)text, .author = (char *)http_caller(r)->name};
    struct api_recording a;
    struct reel_error err = {0};
    if (!text || !api_find(r, &a)) {
        return;
    }
    if (catalog_note_add(app->catalog, a.row.id, &note, &err)) {
        char address[128];
        snprintf(address, sizeof address, "/api/v1/recordings/%s/notes/%s", a.row.id, note.id);
        http_add_address(r, "Location", address);
        manifests_changed(app);
        http_reply_json(r, 201, view_note(&note));
    } else {
        http_reply_error(r, &err);
    }
    api_recording_done(&a);
}

void api_note_change(struct http_request *r) {
    struct app *app = http_app(r);
    const char *text = notes_text_of(r);
    struct catalog_note note;
    struct api_recording a;
    struct reel_error err = {0};
    if (!text || !api_find(r, &a)) {
        return;
    }
    if (catalog_note_change(app->catalog, a.row.id, http_segment(r, "note"), text, &note, &err)) {
        manifests_changed(app);
        http_reply_json(r, 200, view_note(&note));
        catalog_note_done(&note);
    } else {
        http_reply_error(r, &err);
    }
    api_recording_done(&a);
}

void api_note_delete(struct http_request *r) {
    struct app *app = http_app(r);
    struct api_recording a;
    struct reel_error err = {0};
    if (!api_find(r, &a)) {
        return;
    }
    if (catalog_note_remove(app->catalog, a.row.id, http_segment(r, "note"), &err)) {
        manifests_changed(app);
        http_reply_empty(r, 204);
    } else {
        http_reply_error(r, &err);
    }
    api_recording_done(&a);
}
