/* See deposit.h. */
#include "api/export/deposit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/ascii.h"
#include "base/cleanup.h"
#include "base/text_stream.h"
#include "http/json_text.h"

enum {
    ITEMS_MAX = 200,
    LINE_MAX_BYTES = 1000,
    TEXT_MAX_BYTES = 20000,
    PLACE_ROOM = 64,
    DATE_TEXT = 11,
    ORCID_TEXT = 19
};

/* ---- what a value may be */

/* Bag-info.txt and the YAML of CITATION.cff take no control characters, not those of Latin-1 either (C2 80 to C2 9F).
 */
static bool is_printable(const char *text, bool lines) {
    for (const unsigned char *at = (const unsigned char *)text; *at; at++) {
        if ((*at < 0x20 && !(lines && *at == '\n')) || *at == 0x7f || (*at == 0xc2 && at[1] < 0xa0)) {
            return false;
        }
    }
    return text[0];
}

static bool is_line(const char *text) {
    return is_printable(text, false);
}
static bool is_text(const char *text) {
    return is_printable(text, true);
}
static bool is_address(const char *text) {
    return (strncmp(text, "https://", 8) == 0 || strncmp(text, "http://", 7) == 0) && is_line(text) &&
           !strpbrk(text, " \"<>\\^`{|}");
}
bool deposit_license_is_spdx(const char *text) {
    size_t n = 0;
    while (ascii_is_alnum(text[n]) || (text[n] && strchr("-.+", text[n]))) {
        n++;
    }
    return n > 0 && !text[n];
}
static bool is_license(const char *text) {
    return deposit_license_is_spdx(text) || is_address(text);
}
static bool is_doi(const char *text) {
    return strncmp(text, "10.", 3) == 0 && strchr(text, '/') && is_line(text) && !strpbrk(text, " \"<>\\^`{|}%#?");
}
static bool is_email(const char *text) {
    const char *at = strchr(text, '@');
    return at && at > text && at[1] && !strchr(text, ' ') && is_line(text);
}

/* 0000-0002-1825-0097: the last character is the check digit of ISO 7064 MOD 11-2. */
static bool is_orcid(const char *text) {
    unsigned sum = 0;
    for (size_t i = 0; i < ORCID_TEXT - 1; i++) {
        if (i % 5 == 4 ? text[i] != '-' : !ascii_is_digit(text[i])) {
            return false;
        }
        sum = i % 5 == 4 ? sum : (sum + (unsigned)(text[i] - '0')) * 2 % 11;
    }
    unsigned check = (12 - sum) % 11;
    return strlen(text) == ORCID_TEXT && text[ORCID_TEXT - 1] == (check == 10 ? 'X' : (char)('0' + check));
}

static bool is_date(const char *text) {
    static const unsigned days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    for (size_t i = 0; i < DATE_TEXT - 1; i++) {
        if (i == 4 || i == 7 ? text[i] != '-' : !ascii_is_digit(text[i])) {
            return false;
        }
    }
    unsigned year = (unsigned)atoi(text), month = (unsigned)atoi(text + 5), day = (unsigned)atoi(text + 8);
    bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    return !text[DATE_TEXT - 1] && month >= 1 && month <= 12 && day >= 1 &&
           day <= days[month - 1] + (month == 2 && leap);
}

/* ---- reading */

struct field {
    const char *name;
    size_t max; /* bytes */
    bool (*fits)(const char *text);
    const char *otherwise;
};
static const struct field whole_fields[] = {
    {"title", LINE_MAX_BYTES, is_line, "is one line of text"},
    {"description", TEXT_MAX_BYTES, is_text, "is text without control characters"},
    {"license", LINE_MAX_BYTES, is_license, "is an SPDX identifier such as CC-BY-4.0, or an address"},
    {"publisher", LINE_MAX_BYTES, is_line, "is one line of text"},
    {"doi", LINE_MAX_BYTES, is_doi, "is written 10.5281/zenodo.1234567"},
    {"date", DATE_TEXT, is_date, "is written 2026-11-27"},
    {0},
};
static const struct field author_fields[] = {
    {"name", LINE_MAX_BYTES, is_line, "is one line of text"},
    {"family", LINE_MAX_BYTES, is_line, "is one line of text"},
    {"given", LINE_MAX_BYTES, is_line, "is one line of text"},
    {"orcid", ORCID_TEXT, is_orcid, "is an ORCID such as 0000-0002-1825-0097"},
    {"affiliation", LINE_MAX_BYTES, is_line, "is one line of text"},
    {"email", LINE_MAX_BYTES, is_email, "is an e-mail address"},
    {0},
};
static const struct field item_fields[] = {{"", LINE_MAX_BYTES, is_line, "is one line of text"}, {0}};
static const char *const list_names[] = {"authors", "keywords", "instruments", NULL};

/* Replies. */
static bool refuse(struct http_request *r, const char *place, const char *member, const char *why) {
    http_reply_bad_param(r, "deposit", "%s%s%.64s %s", place, place[0] && member[0] ? "." : "", member, why);
    return false;
}

static bool check_value(struct http_request *r, const char *place, const struct field *field, const json_t *value) {
    const char *text = json_string_value(value);
    return (text && json_string_length(value) <= field->max && field->fits(text)) ||
           refuse(r, place, field->name, field->otherwise);
}

static bool is_list(const char *name) {
    size_t i = 0;
    while (list_names[i] && strcmp(list_names[i], name) != 0) {
        i++;
    }
    return list_names[i];
}

static bool check_object(struct http_request *r, const char *place, const struct field *fields, json_t *object,
                         bool lists) {
    const char *name;
    json_t *value;
    json_object_foreach(object, name, value) {
        const struct field *field = fields;
        while (field->name && strcmp(field->name, name) != 0) {
            field++;
        }
        if (!field->name && lists && is_list(name)) {
            continue;
        }
        if (!field->name ? !refuse(r, place, name, "means nothing here") : !check_value(r, place, field, value)) {
            return false;
        }
    }
    return true;
}

static bool check_author(struct http_request *r, const char *place, json_t *author, json_t *orcids) {
    const char *orcid = deposit_text(author, "orcid");
    if (!json_is_object(author)) {
        return refuse(r, place, "", "is an object with a name");
    }
    if (!check_object(r, place, author_fields, author, false)) {
        return false;
    }
    if (!deposit_text(author, "name") == !deposit_text(author, "family")) {
        return refuse(r, place, "", "has either a name, or family and given");
    }
    if (deposit_text(author, "given") && !deposit_text(author, "family")) {
        return refuse(r, place, "given", "goes with family");
    }
    if (orcid && json_object_get(orcids, orcid)) {
        return refuse(r, place, "orcid", "is that of another author, too");
    }
    return !orcid || json_object_set_new(orcids, orcid, json_true()) == 0 || (http_reply_no_memory(r), false);
}

static bool check_list(struct http_request *r, const char *name, json_t *list) {
    bool authors = strcmp(name, "authors") == 0;
    json_auto_t *orcids = json_object();
    size_t i;
    json_t *item;
    if (list && (!json_is_array(list) || json_array_size(list) > ITEMS_MAX)) {
        return refuse(r, "", name, "is a list of at most 200");
    }
    json_array_foreach(list, i, item) {
        char place[PLACE_ROOM];
        snprintf(place, sizeof place, "%s[%zu]", name, i);
        if (authors ? !check_author(r, place, item, orcids) : !check_value(r, place, item_fields, item)) {
            return false;
        }
    }
    return true;
}

static bool put_default(json_t *deposit, const char *name, const char *text) {
    return json_object_get(deposit, name) || json_object_set_new(deposit, name, json_string(text)) == 0;
}

static bool put_defaults(json_t *deposit) {
    char today[DATE_TEXT];
    struct tm parts;
    time_t now = time(NULL);
    gmtime_r(&now, &parts);
    strftime(today, sizeof today, "%Y-%m-%d", &parts);
    return put_default(deposit, "title", "Recordings of an archive") && put_default(deposit, "date", today);
}

json_t *deposit_read(struct http_request *r) {
    const char *text = http_param(r, "deposit");
    json_error_t why = {0};
    json_t *deposit = text ? json_loads(text, JSON_REJECT_DUPLICATES, &why) : json_object();
    if (!json_is_object(deposit)) {
        http_reply_bad_param(r, "deposit", "is a JSON object%s%s", why.text[0] ? ": " : "", why.text);
        json_decref(deposit);
        return NULL;
    }
    bool good = check_object(r, "", whole_fields, deposit, true);
    for (size_t i = 0; good && list_names[i]; i++) {
        good = check_list(r, list_names[i], json_object_get(deposit, list_names[i]));
    }
    if (good && !put_defaults(deposit)) {
        http_reply_no_memory(r);
        good = false;
    }
    if (!good) {
        json_decref(deposit);
        return NULL;
    }
    return deposit;
}

const char *deposit_text(const json_t *object, const char *member) {
    return json_string_value(json_object_get(object, member));
}

const char *deposit_person(const json_t *author, char out[PERSON_ROOM]) {
    const char *name = deposit_text(author, "name"), *given = deposit_text(author, "given");
    snprintf(out, PERSON_ROOM, "%s%s%s", given ? given : "", given ? " " : "",
             name ? name : deposit_text(author, "family"));
    return out;
}

/* ---- CITATION.cff (Citation File Format 1.2.0) */

/* A quoted text of JSON is one of YAML. */
static bool put_line(FILE *out, const char *before, const char *key, const json_t *object, const char *member) {
    const json_t *value = json_object_get(object, member);
    AUTO_MEM char *quoted = value ? json_text(value) : NULL;
    if (quoted) {
        fprintf(out, "%s%s: %s\n", before, key, quoted);
    }
    return quoted || !value;
}

static bool put_author(FILE *out, const json_t *author) {
    bool entity = deposit_text(author, "name"), given = deposit_text(author, "given");
    const char *orcid = deposit_text(author, "orcid");
    bool good = put_line(out, "  - ", entity ? "name" : "family-names", author, entity ? "name" : "family");
    good = good && (!given || put_line(out, "    ", "given-names", author, "given"));
    if (orcid) {
        fprintf(out, "    orcid: \"https://orcid.org/%s\"\n", orcid);
    }
    /* only persons have an affiliation */
    return good && (entity || put_line(out, "    ", "affiliation", author, "affiliation")) &&
           put_line(out, "    ", "email", author, "email");
}

static bool put_keywords(FILE *out, const json_t *keywords) {
    size_t i;
    json_t *keyword;
    if (json_array_size(keywords) > 0) {
        fputs("keywords:\n", out);
    }
    json_array_foreach(keywords, i, keyword) {
        AUTO_MEM char *quoted = json_text(keyword);
        if (!quoted) {
            return false;
        }
        fprintf(out, "  - %s\n", quoted);
    }
    return true;
}

static bool put_citation(FILE *out, const json_t *deposit) {
    const char *license = deposit_text(deposit, "license");
    size_t i;
    json_t *author;
    fputs("cff-version: 1.2.0\nmessage: \"If you use this dataset, please cite it.\"\ntype: dataset\n", out);
    bool good = put_line(out, "", "title", deposit, "title") && put_line(out, "", "abstract", deposit, "description");
    fputs("authors:\n", out);
    json_array_foreach(json_object_get(deposit, "authors"), i, author) {
        good = good && put_author(out, author);
    }
    return good && put_keywords(out, json_object_get(deposit, "keywords")) &&
           (!license ||
            put_line(out, "", deposit_license_is_spdx(license) ? "license" : "license-url", deposit, "license")) &&
           put_line(out, "", "doi", deposit, "doi") && put_line(out, "", "date-released", deposit, "date");
}

char *deposit_citation(const json_t *deposit) {
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    bool good = out && put_citation(out, deposit);
    bool whole = text_stream_close(out, &text);
    if (!good || !whole) {
        free(text);
        return NULL;
    }
    return text;
}
