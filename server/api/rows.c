/* See rows.h. A page has a bounded number of rows, so the answer is built in memory. */
#include "api/rows.h"
#include "base/number.h"
#include "http/json_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/table.h"
#include "app.h"
#include "base/bytes.h"
#include "base/cleanup.h"
#include "base/text_stream.h"

enum { COLUMNS_MAX = 40 };

bool rows_form(struct http_request *r, struct rows_form *out) {
    out->media_type = api_table_form(r, REEL_TABLE_JSON, REEL_TABLE_JSON, &out->form);
    return out->media_type;
}

static bool rows_put_text(void *context, const char *text, size_t size) {
    return fwrite(text, 1, size, context) == size;
}

/* Spreadsheets run what begins like this as a formula; a number, such as a relative time, is none. */
static bool is_formula(const char *text) {
    double number;
    return text[0] && strchr("=+-@\t\r", text[0]) && !number_real(text, &number);
}

/* `text` owns the text that the cell points to. `raw`: formulas stay as they are. */
static struct reel_cell cell_of(const json_t *value, bool raw, char **text) {
    switch (json_typeof(value ? value : json_null())) {
    case JSON_NULL:
        return (struct reel_cell){.kind = REEL_CELL_NULL};
    case JSON_STRING:
        if (!raw && is_formula(json_string_value(value)) && asprintf(text, "'%s", json_string_value(value)) > 0) {
            return reel_cell_text(bytes_text(*text));
        }
        return reel_cell_text(bytes_of(json_string_value(value), json_string_length(value)));
    case JSON_INTEGER:
        return reel_cell_integer(json_integer_value(value));
    case JSON_REAL:
        return reel_cell_real(json_real_value(value));
    case JSON_TRUE:
    case JSON_FALSE:
        return reel_cell_bool(json_is_true(value));
    default:
        *text = json_text(value);
        return *text ? reel_cell_json(bytes_text(*text)) : (struct reel_cell){.kind = REEL_CELL_NULL};
    }
}

static bool rows_put_row(const struct reel_table *to, const json_t *item, const char *const *columns, unsigned n,
                         bool raw) {
    struct reel_cell cells[COLUMNS_MAX] = {{0}};
    char *texts[COLUMNS_MAX] = {NULL};
    for (unsigned i = 0; i < n; i++) {
        cells[i] = cell_of(json_object_get(item, columns[i]), raw, &texts[i]);
    }
    bool good = to->row(to->context, cells, n);
    for (unsigned i = 0; i < n; i++) {
        free(texts[i]);
    }
    return good;
}

static bool write_table(FILE *out, enum reel_table_form form, const json_t *items, const char *const *columns,
                        bool raw) {
    AUTO(reel_table_text_free)
    struct reel_table_text *text =
        reel_table_text_new(form, &(struct reel_text_sink){.put = rows_put_text, .context = out}, NULL);
    const struct reel_table *to = text ? reel_table_of_text(text) : NULL;
    unsigned n = 0;
    size_t i;
    json_t *item;
    while (n < COLUMNS_MAX && columns[n]) {
        n++;
    }
    bool good = to && to->columns(to->context, columns, n);
    json_array_foreach((json_t *)items, i, item) {
        good = good && rows_put_row(to, item, columns, n, raw);
    }
    return good && to->end(to->context);
}

static bool write_lines(FILE *out, const json_t *items) {
    size_t i;
    json_t *item;
    json_array_foreach((json_t *)items, i, item) {
        if (!json_text_print(item, 0, out) || fputc('\n', out) == EOF) {
            return false;
        }
    }
    return true;
}

void rows_reply(struct http_request *r, const struct rows_form *form, json_t *body, json_t *items,
                const char *const *columns) {
    if (form->form == REEL_TABLE_JSON) {
        json_decref(items);
        http_reply_json(r, 200, body);
        return;
    }
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    bool raw = form->form != REEL_TABLE_CSV || http_app(r)->config.csv_raw;
    bool good =
        out && items &&
        (form->form == REEL_TABLE_NDJSON ? write_lines(out, items)
                                         : write_table(out, (enum reel_table_form)form->form, items, columns, raw));
    good = text_stream_close(out, &text) && good;
    if (good) {
        http_reply_bytes(r, 200, form->media_type, text, size);
    } else {
        http_reply_no_memory(r);
    }
    free(text);
    json_decref(items);
    json_decref(body);
}
