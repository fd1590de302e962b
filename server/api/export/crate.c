/* See crate.h. The terms are those of schema.org, as https://w3id.org/ro/crate/1.2 uses them. */
#include "api/export/crate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/export/deposit.h"
#include "base/ascii.h"
#include "base/cleanup.h"
#include "base/text_stream.h"
#include "http/json_text.h"
#include "index/format.h"
#include "reel/version.h"
#include "views/views.h"

enum { TOPICS_MAX = 20000, TOPICS_OF_ONE_MAX = 500, ID_ROOM = 80 };

struct crate {
    json_t *document, *graph, *root;
    json_t *by_id;                      /* entities by @id, borrowed from the graph */
    json_t *topics;                     /* their @id by name and type */
    uint32_t n_conversions, n_measured; /* topics of all recordings */
    bool failed;                        /* no memory */
};

void crate_free(struct crate *crate) {
    if (crate) {
        json_decref(crate->document);
        json_decref(crate->by_id);
        json_decref(crate->topics);
        free(crate);
    }
}

/* ---- entities */

/* value NULL: no memory. */
static void put(struct crate *c, json_t *entity, const char *member, json_t *value) {
    c->failed = json_object_set_new(entity, member, value) != 0 || c->failed;
}

static json_t *reference(const char *id) {
    return json_pack("{s:s}", "@id", id);
}

/* Appends to a list, which is begun. */
static void put_item(struct crate *c, json_t *entity, const char *member, json_t *value) {
    if (!json_object_get(entity, member)) {
        put(c, entity, member, json_array());
    }
    c->failed = json_array_append_new(json_object_get(entity, member), value) != 0 || c->failed;
}

/* A new entity, or the one that has the id. NULL: no memory. */
static json_t *entity(struct crate *c, const char *id, const char *type, const char *name) {
    json_t *known = json_object_get(c->by_id, id);
    if (known) {
        return known;
    }
    json_t *made = json_pack("{s:s, s:s}", "@id", id, "@type", type);
    c->failed = json_array_append_new(c->graph, made) != 0 || json_object_set(c->by_id, id, made) != 0 || c->failed;
    if (name) {
        put(c, made, "name", view_text(name));
    }
    return made;
}

/* A path as an @id: a reference of RFC 3986 whose letters beyond ASCII stay. NULL: no memory. */
static char *id_of_path(const char *path) {
    char *id = malloc(3 * strlen(path) + 1), *out = id;
    for (; id && *path; path++) {
        unsigned char c = (unsigned char)*path;
        if (c >= 0x80 || ascii_is_alnum(c) || strchr("-._~/", c)) {
            *out++ = (char)c;
        } else {
            out += snprintf(out, 4, "%%%02X", c);
        }
    }
    if (id) {
        *out = '\0';
    }
    return id;
}

static const char *id_of_recording(const struct catalog_recording *row, char out[ID_ROOM]) {
    snprintf(out, ID_ROOM, "#recording-%s", row->id);
    return out;
}

/* ---- the package as a whole */

static void add_authors(struct crate *c, const json_t *authors) {
    char id[ID_ROOM], name[PERSON_ROOM];
    size_t i;
    json_t *author;
    json_array_foreach(authors, i, author) {
        const char *orcid = deposit_text(author, "orcid"), *affiliation = deposit_text(author, "affiliation");
        snprintf(id, sizeof id, orcid ? "https://orcid.org/%s" : "#author-%s%zu", orcid ? orcid : "", i + 1);
        json_t *person =
            entity(c, id, deposit_text(author, "name") ? "Organization" : "Person", deposit_person(author, name));
        put_item(c, c->root, "author", reference(id));
        static const char *const members[][2] = {{"givenName", "given"}, {"familyName", "family"}, {"email", "email"}};
        for (size_t k = 0; k < 3; k++) {
            if (deposit_text(author, members[k][1])) {
                put(c, person, members[k][0], json_string(deposit_text(author, members[k][1])));
            }
        }
        if (affiliation) {
            snprintf(id, sizeof id, "#affiliation-%zu", i + 1);
            entity(c, id, "Organization", affiliation);
            put(c, person, "affiliation", reference(id));
        }
    }
}

static void add_license(struct crate *c, const char *license) {
    AUTO_MEM char *id = NULL;
    if (!license) {
        put(c, c->root, "license", json_string("No licence is stated: ask the authors before you use the data."));
        return;
    }
    bool spdx = deposit_license_is_spdx(license);
    if (asprintf(&id, "%s%s", spdx ? "https://spdx.org/licenses/" : "", license) < 0) {
        id = NULL;
        c->failed = true;
        return;
    }
    json_t *made = entity(c, id, "CreativeWork", license);
    put(c, made, "description",
        json_string(spdx ? "The licence with this identifier of SPDX." : "The licence at this address."));
    put(c, c->root, "license", reference(id));
}

static void add_doi(struct crate *c, const char *doi) {
    AUTO_MEM char *id = NULL;
    if (!doi || asprintf(&id, "https://doi.org/%s", doi) < 0) {
        c->failed = c->failed || doi;
        id = NULL;
        return;
    }
    json_t *made = entity(c, id, "PropertyValue", "DOI");
    put(c, made, "propertyID", json_string("https://registry.identifiers.org/registry/doi"));
    put(c, made, "value", json_sprintf("doi:%s", doi));
    put(c, made, "url", json_string(id));
    put(c, c->root, "identifier", reference(id));
    put(c, c->root, "cite-as", json_string(id));
}

static void add_instruments(struct crate *c, const json_t *instruments) {
    char id[ID_ROOM];
    size_t i;
    json_t *name;
    json_array_foreach(instruments, i, name) {
        snprintf(id, sizeof id, "#instrument-%zu", i + 1);
        entity(c, id, "IndividualProduct", json_string_value(name));
        put_item(c, c->root, "mentions", reference(id));
    }
}

static void add_root(struct crate *c, const json_t *deposit) {
    const char *description = deposit_text(deposit, "description"), *publisher = deposit_text(deposit, "publisher");
    json_t *keywords = json_object_get(deposit, "keywords");
    json_t *self = entity(c, "ro-crate-metadata.json", "CreativeWork", NULL);
    put(c, self, "conformsTo", reference("https://w3id.org/ro/crate/1.2"));
    put(c, self, "about", reference("./"));
    c->root = entity(c, "./", "Dataset", deposit_text(deposit, "title"));
    put(c, c->root, "description",
        json_string(description ? description : "Recordings of robots or simulations, exported from an archive."));
    put(c, c->root, "datePublished", json_string(deposit_text(deposit, "date")));
    put(c, c->root, "hasPart", json_array());
    add_license(c, deposit_text(deposit, "license"));
    add_authors(c, json_object_get(deposit, "authors"));
    add_doi(c, deposit_text(deposit, "doi"));
    if (publisher) {
        entity(c, "#publisher", "Organization", publisher);
        put(c, c->root, "publisher", reference("#publisher"));
    }
    if (json_array_size(keywords) > 0) {
        put(c, c->root, "keywords", json_incref(keywords));
    }
    add_instruments(c, json_object_get(deposit, "instruments"));
    json_t *reel = entity(c, "#reel", "SoftwareApplication", "Reel");
    put(c, reel, "version", json_string(reel_version()));
}

struct crate *crate_new(const json_t *deposit) {
    AUTO(crate_free) struct crate *c = calloc(1, sizeof *c);
    if (!c) {
        return NULL;
    }
    c->document = json_pack("{s:s, s:[]}", "@context", "https://w3id.org/ro/crate/1.2/context", "@graph");
    c->graph = json_object_get(c->document, "@graph");
    c->by_id = json_object();
    c->topics = json_object();
    if (!c->graph || !c->by_id || !c->topics) {
        return NULL;
    }
    add_root(c, deposit);
    return c->failed ? NULL : TAKE(c);
}

/* ---- recordings */

static void put_times(struct crate *c, json_t *to, const struct catalog_recording *row) {
    char start[REEL_TIME_TEXT], end[REEL_TIME_TEXT];
    int64_t from = row->start_ns, until = row->end_ns,
            zero = row->annotations.has_epoch ? row->annotations.epoch_ns : 0;
    bool relative = row->clock == REEL_CLOCK_RELATIVE;
    if (row->messages == 0 || (relative && (!row->annotations.has_epoch || __builtin_add_overflow(from, zero, &from) ||
                                            __builtin_add_overflow(until, zero, &until)))) {
        return; /* a clock of its own: no dates */
    }
    reel_time_rfc3339(from, start);
    reel_time_rfc3339(until, end);
    put(c, to, "temporalCoverage", json_sprintf("%s/%s", start, end));
}

/* The entity of a topic with its type, which recordings share. NULL: no memory. */
static const char *topic_id(struct crate *c, const char *topic, const char *type) {
    char id[ID_ROOM];
    json_auto_t *name = view_text(topic[0] ? topic : "(no name)"), *of_type = view_text(type[0] ? type : "unknown");
    AUTO_MEM char *key = NULL;
    if (!name || !of_type || asprintf(&key, "%s\n%s", json_string_value(name), json_string_value(of_type)) < 0) {
        key = NULL;
        c->failed = true;
        return NULL;
    }
    json_t *known = json_object_get(c->topics, key);
    if (known) {
        return json_string_value(known);
    }
    snprintf(id, sizeof id, "#topic-%zu", json_object_size(c->topics) + 1);
    json_t *made = entity(c, id, "PropertyValue", json_string_value(name));
    put(c, made, "description", json_sprintf("messages of the type %s", json_string_value(of_type)));
    put(c, c->topics, key, json_string(id));
    return json_string_value(json_object_get(c->topics, key));
}

static void add_topics(struct crate *c, json_t *to, const struct reel_index *index) {
    uint32_t n = reel_index_info(index)->n_channels, listed = n < TOPICS_OF_ONE_MAX ? n : TOPICS_OF_ONE_MAX;
    json_auto_t *seen = json_object(); /* channels of one topic */
    for (uint32_t i = 0; seen && i < listed && c->n_measured < TOPICS_MAX; i++) {
        const struct reel_channel *channel = reel_index_channel(index, i);
        const char *id = topic_id(c, channel->name, channel->type);
        if (id && !json_object_get(seen, id)) {
            put_item(c, to, "variableMeasured", reference(id));
            c->n_measured++;
            put(c, seen, id, json_true());
        }
    }
    c->failed = c->failed || !seen;
}

/* Who recorded it with what, and when. */
static void add_recording_action(struct crate *c, const struct catalog_recording *row, const char *recording) {
    char id[ID_ROOM];
    json_t *mentions = json_object_get(c->root, "mentions");
    if (!json_object_get(c->by_id, "#instrument-1")) {
        return;
    }
    snprintf(id, sizeof id, "#recorded-%s", row->id);
    json_t *action = entity(c, id, "CreateAction", "Recording");
    put(c, action, "result", reference(recording));
    size_t i;
    json_t *item;
    json_array_foreach(mentions, i, item) {
        if (strncmp(deposit_text(item, "@id"), "#instrument-", 12) == 0) {
            put_item(c, action, "instrument", json_incref(item));
        }
    }
    put_item(c, c->root, "mentions", reference(id));
}

void crate_add_recording(struct crate *c, const struct api_recording *a) {
    const struct catalog_recording *row = &a->row;
    const struct catalog_annotations *said = &row->annotations;
    const struct reel_index *index = reel_recording_index(a->recording);
    char id[ID_ROOM];
    if (json_object_get(c->by_id, id_of_recording(row, id))) {
        return;
    }
    json_t *made = entity(c, id, "Dataset", NULL);
    put(c, made, "name", json_sprintf("%s/%s", row->collection, row->name));
    put(c, made, "identifier", json_string(row->id));
    put(c, made, "description",
        json_sprintf("%llu messages in %u channels; format: %s.%s%s", (unsigned long long)row->messages,
                     reel_index_info(index)->n_channels, row->format,
                     said->description && said->description[0] ? " " : "", said->description ? said->description : ""));
    for (uint32_t i = 0; i < said->n_tags; i++) {
        put_item(c, made, "keywords", json_sprintf("%s=%s", said->tags[i].key, said->tags[i].value));
    }
    put_times(c, made, row);
    add_topics(c, made, index);
    add_recording_action(c, row, id);
    put_item(c, c->root, "hasPart", reference(id));
}

/* ---- files */

void crate_add_file(struct crate *c, const char *path, const char *media_type,
                    const struct catalog_recording *recording) {
    AUTO_MEM char *id = id_of_path(path);
    char of[ID_ROOM];
    if (!id) {
        c->failed = true;
        return;
    }
    const char *slash = strrchr(path, '/');
    json_t *made = entity(c, id, "File", slash ? slash + 1 : path);
    put(c, made, "encodingFormat", json_string(media_type));
    put_item(c, c->root, "hasPart", reference(id));
    if (recording) {
        put_item(c, json_object_get(c->by_id, id_of_recording(recording, of)), "hasPart", reference(id));
    }
}

void crate_add_conversion(struct crate *c, const char *path, const struct catalog_recording *recording,
                          const char *report) {
    AUTO_MEM char *file = id_of_path(path);
    char id[ID_ROOM], of[ID_ROOM];
    if (!file) {
        c->failed = true;
        return;
    }
    id_of_recording(recording, of);
    put(c, json_object_get(c->by_id, file), "isBasedOn", reference(of));
    snprintf(id, sizeof id, "#conversion-%u", ++c->n_conversions);
    json_t *action = entity(c, id, "CreateAction", "Conversion");
    put(c, action, "instrument", reference("#reel"));
    put(c, action, "object", reference(of));
    put(c, action, "result", reference(file));
    put(c, action, "subjectOf", reference(report)); /* what it changed, and what it lost */
    put_item(c, c->root, "mentions", reference(id));
}

void crate_set_sum(struct crate *c, const char *path, uint64_t size, const char *sha256) {
    AUTO_MEM char *id = id_of_path(path);
    json_t *file = id ? json_object_get(c->by_id, id) : NULL;
    c->failed = c->failed || !id;
    if (file) {
        put(c, file, "contentSize", json_sprintf("%llu", (unsigned long long)size));
        put(c, file, "sha256", json_string(sha256));
    }
}

char *crate_text(const struct crate *c) {
    char *text = NULL;
    size_t size;
    FILE *out = c->failed ? NULL : open_memstream(&text, &size);
    bool good = out && json_text_print(c->document, 2, out) && fputc('\n', out) != EOF;
    bool whole = text_stream_close(out, &text);
    if (!good || !whole) {
        free(text);
        return NULL;
    }
    return text;
}
