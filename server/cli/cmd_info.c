/* reel info: what is in a recording, for people or as the JSON of the API. */
#include <string.h>

#include "api/views.h"
#include "cli/cli.h"

/* The file as the catalog would have it, were it in one. Its name without bytes that are no UTF-8. */
static bool describe_file(const char *path, const struct reel_index *index, struct catalog_recording *out) {
    const struct reel_index_info *info = reel_index_info(index);
    *out = (struct catalog_recording){
        .name = strdup(cli_file_name(path)), .format = strdup(info->format->name), .container = strdup(info->container)};
    out->clock_note = strdup(info->clock_note);
    out->parts = calloc(1, sizeof *out->parts);
    if (!out->name || !out->format || !out->container || !out->clock_note || !out->parts) {
        return false;
    }
    json_t *text = json_string(out->name);
    for (char *c = out->name; !text && *c; c++) {
        *c = (unsigned char)*c < 0x80 ? *c : '?';
    }
    json_decref(text);
    out->size = reel_index_part_size(index, 0);
    out->n_parts = 1;
    out->parts[0].size = out->size;
    out->clock = info->clock;
    out->start_ns = info->start_ns;
    out->end_ns = info->end_ns;
    out->messages = info->messages;
    out->payload_bytes = info->payload_bytes;
    out->n_channels = info->n_channels;
    out->damaged = info->damaged;
    out->findings = info->n_findings_total;
    out->lost_bytes = info->lost_bytes;
    return (out->parts[0].file_name = strdup(out->name)) != NULL;
}
static inline void reel_auto_catalog_recording_done(struct catalog_recording *r) {
    catalog_recording_done(r);
}

/* One file: indented; several: a line each. */
static bool print_json(const char *path, const struct reel_index *index, bool alone, struct reel_error *err) {
    AUTO(catalog_recording_done) struct catalog_recording r = {0};
    json_t *body = describe_file(path, index, &r) ? view_recording(&r, index) : NULL;
    if (!body) {
        return reel_fail_memory(err);
    }
    json_dumpf(body, stdout, alone ? JSON_INDENT(2) : JSON_COMPACT);
    json_decref(body);
    putchar('\n');
    return cli_flush(err);
}

/* ---- for people */

static const char *time_text(int64_t ns, enum reel_clock clock, char out[REEL_TIME_TEXT]) {
    if (clock == REEL_CLOCK_RELATIVE) {
        reel_time_seconds(ns, out);
        return strcat(out, " s");
    }
    reel_time_rfc3339(ns, out);
    return out;
}

static const char *duration_text(int64_t first_ns, int64_t last_ns, char out[REEL_TIME_TEXT]) {
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

static void print_head(const char *path, const struct reel_index_info *info, const struct reel_index *index) {
    char size[16], payload[16], first[REEL_TIME_TEXT], last[REEL_TIME_TEXT], length[REEL_TIME_TEXT];
    bool known = info->container[0] != '\0';
    printf("file       %s  (%s)\n", path, cli_size_text(reel_index_part_size(index, 0), size));
    printf("format     %s%s%s%s\n", info->format->name, known ? "  (" : "", info->container, known ? ")" : "");
    if (info->messages > 0) {
        printf("start      %s\n", time_text(info->start_ns, info->clock, first));
        printf("end        %s\n", time_text(info->end_ns, info->clock, last));
        printf("duration   %s\n", duration_text(info->start_ns, info->end_ns, length));
    }
    if (info->clock_note[0]) {
        printf("clock      %s\n", info->clock_note);
    }
    bool known_bytes = info->payload_bytes > 0 || !info->shallow;
    printf("messages   %llu  (%s)\n", (unsigned long long)info->messages, known_bytes ? cli_size_text(info->payload_bytes, payload) : "bytes unknown");
    if (info->shallow) {
        printf("depth      shallow: what the file says of itself, nothing of it verified\n");
    }
    if (info->damaged) {
        printf("damaged    %s lost; `reel check` tells where\n",
               info->lost_bytes > 0 ? cli_size_text(info->lost_bytes, size) : "some of it is");
    } else if (info->n_findings_total > 0) {
        printf("remarks    %llu; `reel check` tells them\n", (unsigned long long)info->n_findings_total);
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
    int name = name_width(topics, "name"), type = name_width(topics, "type");
    size_t i;
    const json_t *topic;
    printf("\n%-*s  %-*s  %9s  %9s  %9s  first … last\n", name, "topic", type, "type", "messages", "bytes", "rate");
    json_array_foreach(topics, i, topic) {
        char size[16], rate[24] = "-";
        const char *first = json_string_value(json_object_get(topic, "first")), *last = json_string_value(json_object_get(topic, "last"));
        const json_t *bytes = json_object_get(topic, "bytes");
        if (json_is_real(json_object_get(topic, "rate"))) {
            snprintf(rate, sizeof rate, "%.4g/s", json_real_value(json_object_get(topic, "rate")));
        }
        printf("%-*s  %-*s  %9llu  %9s  %9s  ", name, json_string_value(json_object_get(topic, "name")), type,
               json_string_value(json_object_get(topic, "type")), (unsigned long long)whole_number(json_object_get(topic, "count")),
               json_is_null(bytes) ? "-" : cli_size_text(whole_number(bytes), size), rate);
        printf(first ? "%s … %s%s\n" : "-\n", first, last, json_is_true(json_object_get(topic, "latched")) ? "  latched" : "");
    }
}

static bool print_table(const char *path, const struct reel_index *index, struct reel_error *err) {
    json_t *topics = view_topics(index);
    if (!topics) {
        return reel_fail_memory(err);
    }
    print_head(path, reel_index_info(index), index);
    print_topics(topics);
    json_decref(topics);
    return cli_flush(err);
}

static int run(int argc, char **argv) {
    bool json = false, quick = false;
    int first, code;
    const struct cli_option options[] = {
        {.name = "json", .kind = CLI_FLAG, .to = &json, .help = "the JSON of GET /recordings/{id}; with several files one line each"},
        {.name = "quick", .kind = CLI_FLAG, .to = &quick, .help = "from the file's own index alone, where it has one: nothing of it is verified"},
        {0},
    };
    if (!cli_options(&cli_info, options, 1, argc, argv, &first, &code)) {
        return code;
    }
    cli_catch_interrupt();
    code = CLI_DONE;
    for (int i = first; i < argc; i++) {
        struct reel_error err = {0};
        AUTO(reel_index_free) struct reel_index *outline = quick ? cli_open_outline(argv[i], &err) : NULL;
        AUTO(reel_recording_free) struct reel_recording *recording = quick ? NULL : cli_open(argv[i], false, &err);
        const struct reel_index *index = recording ? reel_recording_index(recording) : outline;
        if (!json && i > first && index) {
            putchar('\n');
        }
        if (!index || !(json ? print_json(argv[i], index, argc - first == 1, &err) : print_table(argv[i], index, &err))) {
            code = cli_fail(&cli_info, cli_file_name(argv[i]), &err);
        }
    }
    return code;
}

const struct cli_command cli_info = {
    .name = "info",
    .arguments = "FILE… [--json]",
    .summary = "what is in a recording: times, topics, types, counts",
    .run = run,
};
