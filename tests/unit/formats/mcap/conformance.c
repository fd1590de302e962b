/* The conformance files of the MCAP project, where they are: what we see in each is compared with its JSON, record by
 * record. Without them the test is skipped. */
#define BAG_FORMAT &reel_format_mcap
#include "base/cleanup.h"
#include "makers/bag_scan.h"
#include "makers/real_samples.h"

#include <dirent.h>
#include <jansson.h>
#include <stdio.h>

#define FILES REEL_TESTS "/../../shared/samples/mcap"

/* ---- the JSON: {"records": [{"type": …, "fields": [[name, value] …]}]}, numbers as texts ---- */

static json_t *field(json_t *record, const char *name) {
    size_t i;
    json_t *pair;
    json_array_foreach(json_object_get(record, "fields"), i, pair) {
        if (strcmp(json_string_value(json_array_get(pair, 0)), name) == 0) {
            return json_array_get(pair, 1);
        }
    }
    fail_msg("no field %s", name);
    return NULL;
}
static const char *text(json_t *record, const char *name) {
    return json_string_value(field(record, name));
}
static uint64_t number(json_t *record, const char *name) {
    return strtoull(text(record, name), NULL, 10);
}
static bool is(json_t *record, const char *type) {
    return strcmp(json_string_value(json_object_get(record, "type")), type) == 0;
}
static void same_bytes(json_t *record, struct reel_bytes got) {
    json_t *data = field(record, "data");
    assert_int_equal(json_array_size(data), got.size);
    for (size_t i = 0; i < got.size; i++) {
        assert_int_equal(strtoul(json_string_value(json_array_get(data, i)), NULL, 10), got.data[i]);
    }
}
static void same_map(json_t *map, struct reel_pairs got, const char *prefix) {
    const char *key;
    json_t *value;
    json_object_foreach(map, key, value) {
        bool met = false;
        for (size_t i = 0; i < got.count && !met; i++) {
            const char *name = got.items[i].key;
            met = strncmp(name, prefix, strlen(prefix)) == 0 && strcmp(name + strlen(prefix), key) == 0 &&
                  strcmp(got.items[i].value, json_string_value(value)) == 0;
        }
        assert_true(met);
    }
}
static json_t *find(json_t *records, const char *type, const char *id) {
    size_t i;
    json_t *record;
    json_array_foreach(records, i, record) {
        if (is(record, type) && strcmp(text(record, "id"), id) == 0) {
            return record;
        }
    }
    return NULL;
}

/* ---- ours ---- */

struct view {
    struct reel_recording *recording;
    struct reel_stream *stream;
    const struct reel_index *index;
    size_t messages, attachments, channels;
    json_t *records;
};

static void check_channel(struct view *v, json_t *record) {
    if (find(v->records, "Channel", text(record, "id")) != record) {
        return; /* a copy, in the summary */
    }
    const struct reel_channel *c = reel_index_channel(v->index, (uint32_t)v->channels++);
    json_t *schema = find(v->records, "Schema", text(record, "schema_id"));
    assert_string_equal(c->name, text(record, "topic"));
    assert_string_equal(c->encoding, text(record, "message_encoding"));
    assert_int_equal(c->metadata.count, json_object_size(field(record, "metadata")));
    same_map(field(record, "metadata"), c->metadata, "");
    assert_int_equal(c->n_schemas, schema != NULL);
    if (schema) {
        assert_string_equal(c->type, text(schema, "name"));
        assert_string_equal(c->schemas[0].name, text(schema, "name"));
        assert_string_equal(c->schemas[0].encoding, text(schema, "encoding"));
        same_bytes(schema, c->schemas[0].data);
    }
}

static void check_message(struct view *v, json_t *record) {
    struct reel_error err = {0};
    struct reel_message m;
    struct reel_description d;
    struct reel_bytes payload;
    assert_int_equal(stream_next(v->stream, &m, &err), REEL_STEP_MESSAGE);
    v->messages++;
    assert_int_equal(m.time_ns, number(record, "log_time"));
    assert_true(stream_describe(v->stream, &m, &d, &err));
    assert_int_equal(d.publish_ns, number(record, "publish_time"));
    assert_int_equal(d.sequence, number(record, "sequence"));
    json_t *channel = find(v->records, "Channel", text(record, "channel_id"));
    assert_string_equal(v->stream->channels[m.channel]->name, text(channel, "topic"));
    assert_true(reel_stream_payload(v->stream, &m, &payload, &err));
    same_bytes(record, payload);
}

static void check_attachment(struct view *v, json_t *record) {
    struct reel_error err = {0};
    size_t count;
    const struct reel_attachment *all = reel_index_attachments(v->index, &count);
    assert_true(v->attachments < count);
    const struct reel_attachment *a = &all[v->attachments++];
    AUTO(reel_reader_free) struct reel_reader *reader = reel_reader_new(v->recording, &err);
    struct reel_bytes data;
    assert_string_equal(a->name, text(record, "name"));
    assert_string_equal(a->media_type, text(record, "media_type"));
    assert_int_equal(a->time_ns, number(record, "log_time"));
    assert_true(reel_reader_view(reader, a->chunk, a->offset, (size_t)a->size, &data, &err));
    same_bytes(record, data);
}

static void check_statistics(const struct view *v, json_t *record) {
    const struct reel_index_info *info = reel_index_info(v->index);
    size_t attachments;
    reel_index_attachments(v->index, &attachments);
    assert_int_equal(info->messages, number(record, "message_count"));
    assert_int_equal(info->n_channels, number(record, "channel_count"));
    assert_int_equal(attachments, number(record, "attachment_count"));
    assert_int_equal(info->start_ns, number(record, "message_start_time"));
    assert_int_equal(info->end_ns, number(record, "message_end_time"));
}

static void check_record(struct view *v, json_t *record) {
    const struct reel_pairs *metadata = reel_index_metadata(v->index);
    if (is(record, "Channel")) {
        check_channel(v, record);
    } else if (is(record, "Message")) {
        check_message(v, record);
    } else if (is(record, "Attachment")) {
        check_attachment(v, record);
    } else if (is(record, "Statistics")) {
        check_statistics(v, record);
    } else if (is(record, "Metadata")) {
        char prefix[64];
        snprintf(prefix, sizeof prefix, "%s:", text(record, "name"));
        same_map(field(record, "metadata"), *metadata, prefix);
    } else if (is(record, "Header")) {
        json_t *profile =
            text(record, "profile")[0] ? json_pack("{s:O}", "profile", field(record, "profile")) : json_object();
        same_map(profile, *metadata, "mcap.");
        json_decref(profile);
    }
}

static void check_file(const char *path, const char *json_path) {
    struct reel_error err = {0};
    struct reel_source *source = reel_source_open(path, NULL, &err);
    json_t *root = json_load_file(json_path, 0, NULL), *record;
    assert_true(source && root);
    if (!reel_scan_run(&source, 1, NULL, BAG_PACK, NULL, &err)) {
        fail_msg("%s: %s", path, err.text);
    }
    struct view v = {.records = json_object_get(root, "records")};
    v.recording = reel_recording_from_index(reel_index_open(BAG_PACK, &err), &source, 1, NULL, &err);
    assert_non_null(v.recording);
    v.index = reel_recording_index(v.recording);
    v.stream = reel_stream_open(&v.recording, 1, &selection_all, &err);
    bag_assert_no_findings(v.recording);
    size_t i, attachments;
    json_array_foreach(v.records, i, record) {
        check_record(&v, record);
    }
    reel_index_attachments(v.index, &attachments);
    assert_int_equal(v.messages, reel_index_info(v.index)->messages);
    assert_int_equal(v.channels, reel_index_info(v.index)->n_channels);
    assert_int_equal(v.attachments, attachments);
    reel_stream_free(v.stream);
    reel_recording_free(v.recording);
    json_decref(root);
}

static unsigned check_folder(const char *folder) {
    unsigned count = 0;
    DIR *d = opendir(folder);
    for (struct dirent *e; d && (e = readdir(d));) {
        char path[4096], json_path[4096];
        size_t n = strlen(e->d_name);
        if (n > 5 && strcmp(e->d_name + n - 5, ".mcap") == 0) {
            snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
            snprintf(json_path, sizeof json_path, "%s/%.*s.json", folder, (int)n - 5, e->d_name);
            check_file(path, json_path);
            count++;
        }
    }
    if (d) {
        closedir(d);
    }
    return count;
}

static void every_file_matches_its_json(void **state) {
    (void)state;
    unsigned count = 0;
    DIR *d = opendir(FILES);
    for (struct dirent *e; d && (e = readdir(d));) {
        char path[2048];
        if (strncmp(e->d_name, "conformance-", 12) == 0) {
            snprintf(path, sizeof path, "%s/%s", FILES, e->d_name);
            count += check_folder(path);
        }
    }
    if (d) {
        closedir(d);
    }
    print_message("%u files compared\n", count);
    if (count == 0) {
        SAMPLES_SKIPPED(174);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_file_matches_its_json)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
