/* reel info: a recording's metadata and topics, as text or as the API's JSON. */
#include <string.h>

#include "base/c_locale.h"
#include "base/cleanup.h"
#include "base/size_text.h"
#include "cli/cli.h"
#include "http/json_text.h"
#include "scans/scanning.h"
#include "values/undecoded.h"
#include "views/views.h"

/* A file's name; if it is not UTF-8, bytes outside ASCII become "?". */
static char *info_name_of(const char *path) {
    char *name = strdup(cli_file_name(path));
    json_t *text = name ? json_string(name) : NULL;
    for (char *c = name; name && !text && *c; c++) {
        *c = (unsigned char)*c < 0x80 ? *c : '?';
    }
    json_decref(text);
    return name;
}

/* Describes the files as the catalog would. */
static bool describe_files(const struct cli_files *files, const struct reel_index *index,
                           struct catalog_recording *out) {
    *out = (struct catalog_recording){.name = info_name_of(files->name), .parts = calloc(files->n, sizeof *out->parts)};
    for (; out->parts && out->n_parts < files->n; out->n_parts++) {
        struct catalog_part *part = &out->parts[out->n_parts];
        if (!(part->file_name = info_name_of(files->paths[out->n_parts]))) {
            return false;
        }
        part->size = reel_index_part_size(index, out->n_parts);
        out->size += part->size;
    }
    return out->name && out->parts && scan_fill(out, index, NULL);
}

static bool add_reason(struct reel_recording *recording, json_t *topic, struct reel_error *err) {
    size_t i;
    const json_t *channel;
    json_array_foreach(json_object_get(topic, "channels"), i, channel) {
        struct reel_error why;
        uint32_t id = (uint32_t)json_integer_value(json_object_get(channel, "id"));
        if (!channel_undecoded(recording, id, &why, err)) {
            return false;
        }
        if (why.code != REEL_OK) {
            return json_object_set_new(topic, "undecoded", view_text(why.text)) == 0 || reel_fail_memory(err);
        }
    }
    return true;
}

/* The topics, each with the reason why its messages are bytes; `recording` NULL: as far as definitions say. */
static json_t *topics_of(const struct reel_index *index, struct reel_recording *recording, struct reel_error *err) {
    json_auto_t *topics = view_topics(index, NULL);
    size_t i;
    json_t *topic;
    if (!topics) {
        reel_fail_memory(err);
        return NULL;
    }
    json_array_foreach(topics, i, topic) {
        if (recording && !json_object_get(topic, "undecoded") && !add_reason(recording, topic, err)) {
            return NULL;
        }
    }
    return json_incref(topics);
}

/* A line for each recording, however many there are. */
static bool info_print_json(const struct cli_files *files, const struct reel_index *index,
                            struct reel_recording *recording, struct reel_error *err) {
    AUTO_STRUCT(catalog_recording_done) struct catalog_recording r = {0};
    json_t *topics = topics_of(index, recording, err);
    if (!topics) {
        return false;
    }
    json_t *body = describe_files(files, index, &r) ? view_recording(&r, index) : NULL;
    if (json_object_set_new(body, "topics", topics) != 0) { /* which takes it over, also on failure */
        json_decref(body);
        return reel_fail_memory(err);
    }
    json_text_print(body, 0, stdout); /* cli_flush() reports errors */
    json_decref(body);
    putchar('\n');
    return cli_flush(err);
}

/* ---- text */

static const char *info_time_text(int64_t ns, enum reel_clock clock, char out[REEL_TIME_TEXT]) {
    if (clock == REEL_CLOCK_RELATIVE) {
        reel_time_seconds(ns, out);
        return strcat(out, " s");
    }
    reel_time_rfc3339(ns, out);
    return out;
}

static const char *duration_text(int64_t first_ns, int64_t last_ns, char out[REEL_TIME_TEXT]) {
    C_LOCALE;
    double s = (double)((uint64_t)last_ns - (uint64_t)first_ns) / 1e9;
    if (s < 60) {
        snprintf(out, REEL_TIME_TEXT, "%.3f s", s);
    } else if (s < 3600) {
        snprintf(out, REEL_TIME_TEXT, "%d min %.1f s", (int)(s / 60), s - 60 * (int)(s / 60));
    } else {
        snprintf(out, REEL_TIME_TEXT, "%lld h %d min", (long long)(s / 3600), (int)(s / 60) % 60);
    }
    return out;
}

static void print_head(const struct cli_files *files, const struct reel_index_info *info,
                       const struct reel_index *index) {
    char size[16], payload[16], first[REEL_TIME_TEXT], last[REEL_TIME_TEXT], length[REEL_TIME_TEXT];
    bool known = info->container[0] != '\0';
    for (uint32_t i = 0; i < files->n; i++) {
        printf("file       %s  (%s)\n", files->paths[i], size_text(reel_index_part_size(index, i), size));
    }
    printf("format     %s%s%s%s\n", info->format->name, known ? "  (" : "", info->container, known ? ")" : "");
    if (info->messages > 0) {
        printf("start      %s\n", info_time_text(info->start_ns, info->clock, first));
        printf("end        %s\n", info_time_text(info->end_ns, info->clock, last));
        printf("duration   %s\n", duration_text(info->start_ns, info->end_ns, length));
    }
    if (info->clock_note[0]) {
        printf("clock      %s\n", info->clock_note);
    }
    bool known_bytes = info->payload_bytes > 0 || !info->is_summary;
    printf("messages   %llu  (%s)\n", (unsigned long long)info->messages,
           known_bytes ? size_text(info->payload_bytes, payload) : "payload size unknown");
    if (info->is_summary) {
        printf("indexed    no: read from the file's own index, not verified\n");
    }
    if (info->damaged) {
        printf("damaged    %s lost; see `reel check`\n",
               info->lost_bytes > 0 ? size_text(info->lost_bytes, size) : "data");
    } else if (info->n_findings_total > 0) {
        printf("findings   %llu; see `reel check`\n", (unsigned long long)info->n_findings_total);
    }
}

static uint64_t whole_number(const json_t *value) {
    return json_is_string(value) ? strtoull(json_string_value(value), NULL, 10) : (uint64_t)json_integer_value(value);
}

static int name_width(const json_t *topics, const char *key) {
    size_t i, width = strlen(key);
    const json_t *topic;
    json_array_foreach(topics, i, topic) {
        size_t n = json_string_length(json_object_get(topic, key));
        width = n > width ? n : width;
    }
    return width < 60 ? (int)width : 60;
}

static void print_topics(const json_t *topics) {
    C_LOCALE;
    int name = name_width(topics, "name"), type = name_width(topics, "type");
    size_t i;
    const json_t *topic;
    printf("\n%-*s  %-*s  %9s  %9s  %9s  start … end\n", name, "topic", type, "type", "messages", "bytes", "rate");
    json_array_foreach(topics, i, topic) {
        char size[16], rate[24] = "-";
        const char *first = json_string_value(json_object_get(topic, "start")),
                   *last = json_string_value(json_object_get(topic, "end"));
        const json_t *bytes = json_object_get(topic, "payload_bytes");
        const char *source = json_string_value(json_object_get(topic, "schema_source"));
        if (json_is_real(json_object_get(topic, "rate"))) {
            snprintf(rate, sizeof rate, "%.4g/s", json_real_value(json_object_get(topic, "rate")));
        }
        printf("%-*s  %-*s  %9llu  %9s  %9s  ", name, json_string_value(json_object_get(topic, "name")), type,
               json_string_value(json_object_get(topic, "type")),
               (unsigned long long)whole_number(json_object_get(topic, "messages")),
               json_is_null(bytes) ? "-" : size_text(whole_number(bytes), size), rate);
        printf(first ? "%s … %s%s" : "-", first, last,
               json_is_true(json_object_get(topic, "latched")) ? "  latched" : "");
        printf("%s%s\n", source ? "  definition: " : "", source ? source : "");
    }
}

static void print_reasons(const json_t *topics) {
    size_t i;
    const json_t *topic;
    bool any = false;
    json_array_foreach(topics, i, topic) {
        const char *why = json_string_value(json_object_get(topic, "undecoded"));
        if (why) {
            printf("%s  %s\n", any ? "" : "\nmessages that are not decoded\n", why);
            any = true;
        }
    }
}

static bool print_table(const struct cli_files *files, const struct reel_index *index, struct reel_recording *recording,
                        struct reel_error *err) {
    json_t *topics = topics_of(index, recording, err);
    if (!topics) {
        return false;
    }
    print_head(files, reel_index_info(index), index);
    print_topics(topics);
    print_reasons(topics);
    json_decref(topics);
    return cli_flush(err);
}

static bool info_print(const struct cli_files *files, bool json, bool quick, uint32_t number, struct reel_error *err) {
    AUTO(reel_index_free) struct reel_index *summary = quick ? cli_open_summary(files, err) : NULL;
    AUTO(reel_recording_free) struct reel_recording *recording = quick ? NULL : cli_open_files(files, false, err);
    const struct reel_index *index = recording ? reel_recording_index(recording) : summary;
    if (!json && number > 0 && index) {
        putchar('\n');
    }
    return index && (json ? info_print_json(files, index, recording, err) : print_table(files, index, recording, err));
}

static int run_info(int argc, char **argv) {
    bool json = false, quick = false;
    int first, code;
    const struct cli_option options[] = {
        {.name = "json",
         .kind = CLI_FLAG,
         .to = &json,
         .help = "print the JSON of GET /recordings/{id}, a line for each recording"},
        {.name = "quick",
         .kind = CLI_FLAG,
         .to = &quick,
         .help = "only read the file's own index, if it has one; nothing is verified"},
        CLI_DEFINITIONS_OPTION,
        {0},
    };
    if (!cli_options(&cli_info, options, 1, argc, argv, &first, &code)) {
        return code;
    }
    cli_catch_interrupt();
    struct reel_error err = {0};
    AUTO_STRUCT(cli_recordings_done) struct cli_recordings all = {.n = 0};
    const struct cli_gather_options gather = {.deep = true};
    if (!cli_gather(argv + first, (uint32_t)(argc - first), &gather, &all, &err)) {
        return cli_fail(&cli_info, NULL, &err);
    }
    code = CLI_DONE;
    for (uint32_t i = 0; i < all.n; i++) {
        bool good = info_print(&all.items[i], json, quick, i, &err);
        code = good ? code : cli_fail(&cli_info, all.items[i].name, &err);
    }
    return code;
}

const struct cli_command cli_info = {
    .name = "info",
    .arguments = "FILE… [--json]",
    .summary = "print a recording's times, topics, types and message counts",
    .run = run_info,
};
