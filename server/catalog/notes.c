/* Notes: texts of users about a recording, in the order in which they were added. A note is addressed by its id and its
 * recording together. */
#include <string.h>

#include "base/cleanup.h"
#include "catalog/catalog_internal.h"
#include "catalog/notes.h"
#include "reel/time.h"

void catalog_note_done(struct catalog_note *note) {
    free(note->author);
    free(note->text);
    *note = (struct catalog_note){0};
}

void catalog_notes_done(struct catalog_notes *notes) {
    for (uint32_t i = 0; i < notes->n; i++) {
        catalog_note_done(&notes->items[i]);
    }
    free(notes->items);
    *notes = (struct catalog_notes){0};
}

static bool read_note(struct db_statement *s, struct catalog_note *out, struct reel_error *err) {
    *out = (struct catalog_note){.row = db_int(s, 0), .created_ns = db_int(s, 4), .updated_ns = db_int(s, 5)};
    db_hex(s, 1, out->id, sizeof out->id);
    out->author = strdup(db_text(s, 2));
    out->text = strdup(db_text(s, 3));
    if (!out->author || !out->text) {
        catalog_note_done(out);
        return reel_fail_memory(err);
    }
    return true;
}

static bool notes_check(const char *text, struct reel_error *err) {
    if (!text || !text[0]) {
        return reel_fail(err, REEL_ARGUMENT, "a note has a text");
    }
    return catalog_text_check("a note's text", text, NOTE_TEXT_MAX, err);
}

static bool notes_has_room(struct db_handle *h, int64_t row, struct reel_error *err) {
    struct catalog_recording r;
    if (!catalog_load(h, row, &r, err)) {
        return false;
    }
    bool room = r.annotations.notes < NOTES_MAX;
    catalog_recording_done(&r);
    return room || reel_fail(err, REEL_LIMIT, "a recording has at most %d notes", NOTES_MAX);
}

bool note_write(struct db_handle *h, int64_t row, const struct catalog_note *note, int64_t *note_row,
                struct reel_error *err) {
    AUTO(db_done) struct db_statement *s = db_statement(h, "note_insert", err);
    if (!s) {
        return false;
    }
    db_set_hex(s, ":id", note->id);
    db_set_int(s, ":row", row);
    db_set_text(s, ":author", note->author);
    db_set_text(s, ":text", note->text);
    db_set_int(s, ":created", note->created_ns);
    db_set_int(s, ":updated", note->updated_ns);
    if (db_next(s, err) != DB_ROW) {
        return false;
    }
    *note_row = db_int(s, 0);
    return true;
}

bool catalog_note_add(struct catalog *c, const char *id, struct catalog_note *note, struct reel_error *err) {
    int64_t row;
    if (!notes_check(note->text, err) || (!note->id[0] && !catalog_make_id(note->id, err))) {
        return false;
    }
    note->created_ns = note->created_ns ? note->created_ns : reel_now_ns();
    note->updated_ns = note->updated_ns ? note->updated_ns : note->created_ns;
    AUTO(db_end) struct db_handle *h = db_write(c->db, err);
    return h && annotations_find_row(h, id, &row, err) && notes_has_room(h, row, err) &&
           note_write(h, row, note, &note->row, err) && annotations_touch(h, row, err) && db_commit(h, err);
}

static bool notes_fail_unknown(struct reel_error *err) {
    return reel_fail(err, REEL_NOT_FOUND, "the recording has no note of that id");
}

static bool update(struct db_handle *h, int64_t row, const char *note, const char *text, struct catalog_note *out,
                   struct reel_error *err) {
    AUTO(db_done) struct db_statement *s = db_statement(h, "note_update", err);
    if (!s) {
        return false;
    }
    db_set_hex(s, ":id", note);
    db_set_int(s, ":row", row);
    db_set_text(s, ":text", text);
    db_set_int(s, ":now", reel_now_ns());
    enum db_step step = db_next(s, err);
    return step == DB_ROW ? read_note(s, out, err) : step == DB_END ? notes_fail_unknown(err) : false;
}

bool catalog_note_change(struct catalog *c, const char *id, const char *note, const char *text,
                         struct catalog_note *out, struct reel_error *err) {
    int64_t row;
    *out = (struct catalog_note){0};
    if (!notes_check(text, err)) {
        return false;
    }
    AUTO(db_end) struct db_handle *h = db_write(c->db, err);
    bool good = h && annotations_find_row(h, id, &row, err) && update(h, row, note, text, out, err) &&
                annotations_touch(h, row, err) && db_commit(h, err);
    if (!good) {
        catalog_note_done(out);
    }
    return good;
}

static bool remove_note(struct db_handle *h, int64_t row, const char *note, struct reel_error *err) {
    AUTO(db_done) struct db_statement *s = db_statement(h, "note_delete", err);
    if (!s) {
        return false;
    }
    db_set_hex(s, ":id", note);
    db_set_int(s, ":row", row);
    return db_run(s, err) && (db_changes(s) > 0 || notes_fail_unknown(err));
}

bool catalog_note_remove(struct catalog *c, const char *id, const char *note, struct reel_error *err) {
    int64_t row;
    AUTO(db_end) struct db_handle *h = db_write(c->db, err);
    return h && annotations_find_row(h, id, &row, err) && remove_note(h, row, note, err) &&
           annotations_touch(h, row, err) && db_commit(h, err);
}

static bool notes_read_page(struct db_handle *h, int64_t row, int64_t after, uint32_t limit, struct catalog_notes *out,
                            struct reel_error *err) {
    AUTO(db_done) struct db_statement *s = db_statement(h, "notes_of_recording", err);
    out->items = calloc(limit, sizeof *out->items);
    if (!s || !out->items) {
        return s ? reel_fail_memory(err) : false;
    }
    db_set_int(s, ":row", row);
    db_set_int(s, ":after", after);
    db_set_int(s, ":limit", (int64_t)limit + 1);
    enum db_step step;
    while ((step = db_next(s, err)) == DB_ROW && out->n < limit) {
        if (!read_note(s, &out->items[out->n], err)) {
            return false;
        }
        out->n++;
    }
    out->more = step == DB_ROW;
    return step != DB_FAILED;
}

bool catalog_notes_list(struct catalog *c, const char *id, int64_t after, uint32_t limit, struct catalog_notes *out,
                        struct reel_error *err) {
    int64_t row;
    *out = (struct catalog_notes){0};
    AUTO(db_end) struct db_handle *h = db_read(c->db, err);
    bool good = h && annotations_find_row(h, id, &row, err) &&
                notes_read_page(h, row, after, annotations_page_limit(limit), out, err);
    if (!good) {
        catalog_notes_done(out);
    }
    return good;
}
