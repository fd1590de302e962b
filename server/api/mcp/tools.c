/* See tools.h. */
#include "api/mcp/tools.h"

#include <stdlib.h>
#include <string.h>

#include "api/service/openapi.h"
#include "base/cleanup.h"
#include "base/text_stream.h"
#include "convert/writer.h"

enum { NAME_MAX_BYTES = 64 };

#define ONE(...) ((const struct mcp_operation[]){{__VA_ARGS__}, {0}})
static const struct mcp_operation describe[] = {
    {"info", "getRecording", "", ""},
    {"topics", "listTopics", "limit cursor", ""},
    {"fields", "listFields", "topic", "topic=/battery"},
    {"findings", "getScan", "", ""},
    {"metadata", "getMetadata", "limit cursor", ""},
    {0},
};
static const struct mcp_operation reports[] = {
    {"bag_info", "getBagInfo", "freq", ""},
    {"carla_info", "getCarlaInfo", "", ""},
    {"carla_collisions", "getCarlaCollisions", "type1 type2", ""},
    {"carla_blocked", "getCarlaBlocked", "min_time min_distance", ""},
    {"carla_actors", "listCarlaActors", "", ""},
    {"nanover_energies", "listNanoverEnergies", "start end every", ""},
    {"nanover_resets", "listNanoverResets", "", ""},
    {"tide_channels", "listTideChannels", "", ""},
    {0},
};

const struct mcp_tool mcp_tools[] = {
    {.name = "search_recordings",
     .title = "Search recordings",
     .note = "Begin here: the id of an item is what the other tools take.",
     .amount = "limit",
     .fallback = 20,
     .max = 100,
     .operations = ONE(NULL, "listRecordings",
                       "q where for format collection tag topic type start end sort limit cursor", "limit=20")},
    {.name = "describe_recording",
     .title = "Describe a recording",
     .note = "Call it before you name topics or fields.",
     .amount = "limit",
     .fallback = 200,
     .max = 1000,
     .operations = describe},
    {.name = "query_values",
     .title = "Find recordings by the values of messages",
     .note = "The way to find runs by what happened in them, without reading their messages.",
     .amount = "limit",
     .fallback = 20,
     .max = 100,
     .operations = ONE(NULL, "searchValues", "where for intervals q format collection tag topic type limit cursor",
                       "where=/battery.voltage%3C11")},
    {.name = "series",
     .title = "Numeric fields over time",
     .note = "The result is CSV.",
     .output = "csv",
     .amount = "max_points",
     .fallback = 500,
     .max = 2000,
     .operations = ONE(NULL, "getSeries", "field start end max_points agg time_format", "field=/battery.voltage")},
    {.name = "messages",
     .title = "Messages of a recording",
     .note = "One JSON object a line.",
     .output = "ndjson",
     .amount = "limit",
     .fallback = 20,
     .max = 100,
     .operations = ONE(NULL, "listMessages", "topic start end where every fields time_format limit cursor",
                       "topic=/battery&limit=20")},
    {.name = "image",
     .title = "An image of a recording",
     .amount = "width",
     .fallback = 1024,
     .max = 1024,
     .image = true,
     .operations = ONE(NULL, "getFrame", "topic at width", "topic=/camera&width=1024")},
    {.name = "events",
     .title = "Events",
     .amount = "limit",
     .fallback = 100,
     .max = 1000,
     .operations = ONE(NULL, "listEvents", "recording start end derived kind q limit cursor", "limit=100")},
    {.name = "report",
     .title = "Reports that belong to a format",
     .note = "Each kind is for the format that its name begins with.",
     .operations = reports},
    {.name = "export_link",
     .title = "A link to an export",
     .note = "The result is a link that works without a token for 12 hours. Use it to read much data with other tools, "
             "such as DuckDB or pandas.",
     .link = true,
     .operations = ONE(NULL, "convertRecording", "topic exclude_topic where start end every fields", "")},
    {.name = NULL},
};

const struct mcp_tool *mcp_tool(const char *name) {
    const struct mcp_tool *tool = mcp_tools;
    while (tool->name && strcmp(tool->name, name) != 0) {
        tool++;
    }
    return tool->name ? tool : NULL;
}

const struct api_route *mcp_row(const struct mcp_operation *o) {
    for (size_t i = 0; api_tables[i]; i++) {
        for (const struct api_route *row = api_tables[i]; row->id; row++) {
            if (strcmp(row->id, o->id) == 0) {
                return row;
            }
        }
    }
    return NULL;
}

static bool has_word(const char *words, const char *word) {
    for (const char *at = words; *at; at += strspn(at, " ")) {
        size_t size = strcspn(at, " ");
        if (size == strlen(word) && strncmp(at, word, size) == 0) {
            return true;
        }
        at += size;
    }
    return false;
}

const struct http_param *mcp_param(const struct mcp_operation *o, const char *name) {
    if (!has_word(o->params, name)) {
        return NULL;
    }
    const struct http_param *p = http_param_row(mcp_row(o)->http.params);
    while (p && strcmp(p->name, name) != 0) {
        p = http_param_row(p + 1);
    }
    return p;
}

void mcp_each_segment(const struct mcp_operation *o,
                      void (*visit)(void *context, const char *segment, const char *name), void *context) {
    char segment[NAME_MAX_BYTES] = "", name[NAME_MAX_BYTES];
    for (const char *at = mcp_row(o)->http.path; *at;) {
        size_t size = strcspn(at + 1, "/") + 1;
        if (at[1] == '{') {
            snprintf(name, sizeof name, "%.*s", (int)strcspn(at + 2, ".}"), at + 2);
            visit(context, segment, name);
        } else {
            snprintf(segment, sizeof segment, "%.*s", (int)size - 1, at + 1);
            visit(context, segment, NULL);
        }
        at += size;
    }
}

/* ---- tools/list */

/* What the schemas of the OpenAPI document say to which openapi_schema() refers. */
static void resolve(json_t *schema, const struct http_param *p) {
    static const char *const forms[] = {
        [HTTP_GLOB] = "A glob: * matches any text, ? one character.",
        [HTTP_TIME] =
            "A time: RFC 3339, +2.5s from the start of the recording, -2.5s from its end, now-1h, or a number "
            "with a unit.",
        [HTTP_TIME_MS] = "A time: RFC 3339 or milliseconds.",
        [HTTP_DURATION] = "A duration: 100ms, 2.5s, 1h.",
    };
    json_t *items = json_object_get(schema, "items"), *value = items ? items : schema;
    if (json_object_get(value, "$ref")) {
        json_object_del(value, "$ref");
        json_object_set_new(value, "type", json_string("string"));
        json_object_set_new(value, "description", json_string(forms[p->type]));
    }
}

static json_t *property(const struct mcp_tool *tool, const struct http_param *p) {
    json_t *schema = openapi_schema(p);
    resolve(schema, p);
    const char *form = p->repeats ? NULL : json_string_value(json_object_get(schema, "description"));
    json_object_set_new(schema, "description", json_sprintf("%s%s%s", p->help, form ? " " : "", form ? form : ""));
    if (tool->amount && strcmp(p->name, tool->amount) == 0) {
        json_object_set_new(schema, "maximum", json_integer(tool->max));
        json_object_set_new(schema, "default", json_integer(tool->fallback));
    }
    return schema;
}

struct schema {
    const struct mcp_tool *tool;
    json_t *properties, *required;
};

static void add_segment(void *context, const char *segment, const char *name) {
    struct schema *s = context;
    const struct http_param *p = name ? api_path_param(segment, name) : NULL;
    if (p && !json_object_get(s->properties, name)) {
        json_object_set_new(s->properties, name, property(s->tool, p));
        json_array_append_new(s->required, json_string(name));
    }
}

static void add_kinds(struct schema *s) {
    json_t *kinds = json_array();
    for (const struct mcp_operation *o = s->tool->operations; o->id && o->kind; o++) {
        json_array_append_new(kinds, json_string(o->kind));
    }
    if (json_array_size(kinds) == 0) {
        json_decref(kinds);
        return;
    }
    json_object_set_new(s->properties, "kind",
                        json_pack("{s:s, s:o, s:s, s:s}", "type", "string", "enum", kinds, "default",
                                  s->tool->operations[0].kind, "description", "What to return."));
}

static void add_params(struct schema *s, const struct mcp_operation *o) {
    for (const struct http_param *p = http_param_row(mcp_row(o)->http.params); p; p = http_param_row(p + 1)) {
        if (!has_word(o->params, p->name) || json_object_get(s->properties, p->name)) {
            continue;
        }
        json_object_set_new(s->properties, p->name, property(s->tool, p));
        if (p->required && !o->kind) {
            json_array_append_new(s->required, json_string(p->name));
        }
    }
}

static json_t *input_schema(const struct mcp_tool *tool) {
    struct schema s = {.tool = tool, .properties = json_object(), .required = json_array()};
    for (const struct mcp_operation *o = tool->operations; o->id; o++) {
        mcp_each_segment(o, add_segment, &s);
    }
    add_kinds(&s);
    for (const struct mcp_operation *o = tool->operations; o->id; o++) {
        add_params(&s, o);
    }
    return json_pack("{s:s, s:o, s:o, s:b}", "type", "object", "properties", s.properties, "required", s.required,
                     "additionalProperties", 0);
}

static void put_row(FILE *f, const struct mcp_operation *o) {
    const struct api_route *row = mcp_row(o);
    if (o->kind) {
        fprintf(f, " kind=%s: %s", o->kind, row->http.summary);
    } else {
        fprintf(f, "%s%s%s", row->http.summary, row->detail ? " " : "", row->detail ? row->detail : "");
    }
}

static json_t *description(const struct mcp_tool *tool) {
    AUTO_MEM char *text = NULL;
    size_t size;
    FILE *f = open_memstream(&text, &size);
    if (!f) {
        return NULL;
    }
    if (tool->operations[0].kind) {
        fprintf(f, "%s.", tool->title);
    }
    for (const struct mcp_operation *o = tool->operations; o->id; o++) {
        put_row(f, o);
    }
    fprintf(f, "%s%s", tool->note ? " " : "", tool->note ? tool->note : "");
    for (size_t i = 0; tool->link && reel_writers[i]; i++) {
        fprintf(f, "%s%s", i ? " " : " Extensions: ", reel_writers[i]->extension);
    }
    return text_stream_close(f, &text) ? json_string(text) : NULL;
}

json_t *mcp_list_tools(void) {
    json_t *out = json_array();
    for (const struct mcp_tool *tool = mcp_tools; tool->name; tool++) {
        json_array_append_new(out, json_pack("{s:s, s:s, s:o, s:o, s:{s:b, s:b}}", "name", tool->name, "title",
                                             tool->title, "description", description(tool), "inputSchema",
                                             input_schema(tool), "annotations", "readOnlyHint", 1, "openWorldHint", 0));
    }
    return out;
}
