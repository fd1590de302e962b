/* Rows of the route table (routes.h): parameters, error responses and choices that several of the routes_*.c files use.
 */
#ifndef SERVER_API_PARAMS_H
#define SERVER_API_PARAMS_H

#include "api/body.h"
#include "api/paging.h"
#include "api/routes.h"

#define BASE "/api/v1"
#define CHOICES(...)                                                                                                   \
    (const char *const[]) {                                                                                            \
        __VA_ARGS__, NULL                                                                                              \
    }
#define JSON_BODY body_begin, body_piece, NULL

/* Error responses, and that the answer is not there yet: STATUS:NAME in components/responses of
 * server/api/openapi.yaml. */
#define ERRORS " 400:BadRequest 401:Unauthorized 403:Forbidden 429:TooManyFailures 500:Failed 503:Unavailable"
#define ERRORS_LIST ERRORS " 406:NotAcceptable"
#define ERRORS_ONE ERRORS " 404:NotFound"
#define ERRORS_CONTENTS                                                                                                \
    ERRORS_ONE " 202:InProgress 406:NotAcceptable 409:StillOnRobot 410:Gone 413:TooLarge 422:Unprocessable"
#define ERRORS_FILE ERRORS_CONTENTS " 304:NotModified 412:PreconditionFailed 416:RangeNotSatisfiable"
#define ERRORS_WRITE ERRORS_ONE " 409:Conflict 413:TooLarge"
#define ERRORS_UPLOAD ERRORS_WRITE " 415:UnknownFormat 422:Unprocessable 507:NoSpace"

#define PARAM_OUTPUT(...)                                                                                              \
    {                                                                                                                  \
        .name = "output", .type = HTTP_CHOICE, .choices = CHOICES(__VA_ARGS__),                                        \
        .help = "The output format; takes precedence over Accept."                                                     \
    }
#define PARAM_ROW_OUTPUT PARAM_OUTPUT("json", "csv", "ndjson", "parquet", "arrows")
#define PARAM_TABLE_OUTPUT PARAM_OUTPUT("text", "json", "csv", "ndjson", "geojson", "parquet", "arrows")
#define PARAM_SPAN                                                                                                     \
    {.name = "start",                                                                                                  \
     .type = HTTP_TIME,                                                                                                \
     .help = "The first time of the range: RFC 3339, ns, +2.5s from the start, -2.5s from the end."},                  \
        {.name = "end", .type = HTTP_TIME, .help = "The end of the range; this time is excluded."},                    \
        {.name = "from", .type = HTTP_TIME_MS, .help = "Like start, but a number without a unit is milliseconds."}, {  \
        .name = "to", .type = HTTP_TIME_MS, .help = "Like end, but a number without a unit is milliseconds."           \
    }
#define PARAM_TOPICS                                                                                                   \
    {                                                                                                                  \
        .name = "topic", .type = HTTP_GLOB, .repeats = true, .max = 64,                                                \
        .help = "Only topics that match one of these globs."                                                           \
    }
#define PARAM_Q                                                                                                        \
    {                                                                                                                  \
        .name = "q", .type = HTTP_TEXT,                                                                                \
        .help = "The search: words, \"phrases\", dates (2024-06-11, 2024-06), KEY:VALUE,VALUE where KEY is topic, "    \
                "type, format, "                                                                                       \
                "collection, state, group, damaged, meta.KEY or the key of a tag, and KEY:>VALUE where KEY is size, "  \
                "duration, messages "                                                                                  \
                "or created. A leading - excludes; or and parentheses combine."                                        \
    }
#define PARAM_FORMAT                                                                                                   \
    {                                                                                                                  \
        .name = "format", .type = HTTP_TEXT,                                                                           \
        .help = "Only this container format: rosbag-1.2, mcap, …; rosbag finds both ROS 1 bag formats."              \
    }
#define PARAM_COLLECTION                                                                                               \
    { .name = "collection", .type = HTTP_TEXT, .help = "Only this collection." }
#define PARAM_HAS_TOPIC                                                                                                \
    {                                                                                                                  \
        .name = "topic", .type = HTTP_GLOB, .repeats = true, .max = 64,                                                \
        .help = "Only recordings with a topic that matches this glob."                                                 \
    }

/* The filters of a search for recordings (api/recordings/query.h). */
#define PARAM_FILTERS                                                                                                  \
    PARAM_FILTERS_BESIDE_SELECTION, PARAM_HAS_TOPIC,                                                                   \
        {.name = "start", .type = HTTP_TIME, .help = "Only recordings that overlap [start, end)."}, {                  \
        .name = "end", .type = HTTP_TIME, .help = "Only recordings that overlap [start, end)."                         \
    }
/* The same without those that select messages, too. */
#define PARAM_FILTERS_BESIDE_SELECTION                                                                                 \
    PARAM_Q, PARAM_FORMAT, PARAM_COLLECTION,                                                                           \
        {.name = "group", .type = HTTP_TEXT, .help = "Only this group; sort=start returns its recordings in order."},  \
        {.name = "type",                                                                                               \
         .type = HTTP_GLOB,                                                                                            \
         .repeats = true,                                                                                              \
         .max = 64,                                                                                                    \
         .help = "Only recordings with a message type that matches this glob."},                                       \
        {.name = "topic_re",                                                                                           \
         .type = HTTP_TEXT,                                                                                            \
         .repeats = true,                                                                                              \
         .max = 64,                                                                                                    \
         .help = "Only recordings with a topic that contains a match of this regular expression (PCRE2)."},            \
        {.name = "type_re",                                                                                            \
         .type = HTTP_TEXT,                                                                                            \
         .repeats = true,                                                                                              \
         .max = 64,                                                                                                    \
         .help = "Only recordings with a message type that contains a match of this regular expression (PCRE2)."},     \
        {.name = "match",                                                                                              \
         .type = HTTP_CHOICE,                                                                                          \
         .choices = CHOICES("all", "any"),                                                                             \
         .fallback = "all",                                                                                            \
         .help = "Whether a recording must match all of the given topics and types, or any."},                         \
        {.name = "tag",                                                                                                \
         .type = HTTP_TEXT,                                                                                            \
         .repeats = true,                                                                                              \
         .max = 64,                                                                                                    \
         .help = "Only recordings with this tag: KEY, or KEY=VALUE with a glob as VALUE."},                            \
        {.name = "created_after",                                                                                      \
         .type = HTTP_TIME,                                                                                            \
         .help = "Only recordings that were added at this time or later."},                                            \
        {.name = "created_before", .type = HTTP_TIME, .help = "Only recordings that were added before this time."},    \
        {.name = "min_size", .type = HTTP_UINT, .help = "The minimum size in bytes."},                                 \
        {.name = "max_size", .type = HTTP_UINT, .help = "The maximum size in bytes."},                                 \
        {.name = "min_duration", .type = HTTP_DURATION, .help = "The minimum duration: 90s, 5m, …"},                   \
        {.name = "max_duration", .type = HTTP_DURATION, .help = "The maximum duration: 90s, 5m, …"},                   \
        {.name = "min_messages", .type = HTTP_UINT, .help = "The minimum number of messages."},                        \
        {.name = "max_messages", .type = HTTP_UINT, .help = "The maximum number of messages."},                        \
        {.name = "state",                                                                                              \
         .type = HTTP_CHOICE,                                                                                          \
         .choices = CHOICES("recording", "scanning", "ready", "failed", "missing", "changed", "announced", "trashed"), \
         .help = "Only recordings in this state; without it, all outside the trash."},                                 \
    {                                                                                                                  \
        .name = "damaged", .type = HTTP_BOOL, .help = "Only damaged recordings."                                       \
    }
#define PARAM_PAGE                                                                                                     \
    {.name = "sort",                                                                                                   \
     .type = HTTP_TEXT,                                                                                                \
     .fallback = "-created",                                                                                           \
     .help = "The order: created, name, start, end, size, messages or duration; a leading - is descending."},          \
        PAGING_LIMIT_CURSOR
#define PARAM_PREFIX                                                                                                   \
    { .name = "prefix", .type = HTTP_TEXT, .help = "Only values that begin with this." }

#define PARAM_CHANNEL                                                                                                  \
    {                                                                                                                  \
        .name = "channel", .type = HTTP_UINT, .repeats = true, .max = 64,                                              \
        .help = "Only the channels with these ids, as /topics lists them; for several channels of one topic."          \
    }

/* A selection of messages of a recording. */
#define PARAM_SELECTION                                                                                                \
    PARAM_TOPICS,                                                                                                      \
        {.name = "exclude_topic",                                                                                      \
         .type = HTTP_GLOB,                                                                                            \
         .repeats = true,                                                                                              \
         .max = 64,                                                                                                    \
         .help = "Without topics that match one of these globs."},                                                     \
        PARAM_CHANNEL,                                                                                                 \
        {.name = "where",                                                                                              \
         .type = HTTP_TEXT,                                                                                            \
         .repeats = true,                                                                                              \
         .max = 16,                                                                                                    \
         .help = "Only the messages of a topic for which this holds: /odom.twist.twist.linear.x>0.5; <, >=, <=, = "    \
                 "and != too, joined by and, or and parentheses. Conditions on other topics are left out."},           \
        {.name = "rename",                                                                                             \
         .type = HTTP_TEXT,                                                                                            \
         .repeats = true,                                                                                              \
         .max = 64,                                                                                                    \
         .help = "Gives a topic another name: FROM:TO."},                                                              \
        PARAM_SPAN,                                                                                                    \
        {.name = "every",                                                                                              \
         .type = HTTP_TEXT,                                                                                            \
         .help = "Fewer messages: 10 selects every tenth message of a channel, 100ms the first in each interval."},    \
        {.name = "last",                                                                                               \
         .type = HTTP_CHOICE,                                                                                          \
         .choices = CHOICES("per_topic"),                                                                              \
         .help = "per_topic also selects the last message of each topic before start."},                               \
    {                                                                                                                  \
        .name = "lookback", .type = HTTP_DURATION,                                                                     \
        .help = "How long before start the message of last=per_topic may be."                                          \
    }
#define PARAM_TIME_FORMAT                                                                                              \
    {                                                                                                                  \
        .name = "time_format", .type = HTTP_CHOICE,                                                                    \
        .choices = CHOICES("rfc3339", "seconds", "milliseconds", "nanoseconds", "relative"), .fallback = "rfc3339",    \
        .help = "How times are written."                                                                               \
    }
#define PARAM_CHANNELS                                                                                                 \
    {                                                                                                                  \
        .name = "channels", .type = HTTP_BOOL,                                                                         \
        .help = "Rows begin with one for each channel, {\"$channel\": …}, that defines it as POST "                  \
                "/recordings/{id}/messages takes it; "                                                                 \
                "not in CSV."                                                                                          \
    }
#define PARAM_DECODING                                                                                                 \
    {.name = "decode",                                                                                                 \
     .type = HTTP_CHOICE,                                                                                              \
     .choices = CHOICES("auto", "none"),                                                                               \
     .fallback = "auto",                                                                                               \
     .help = "none returns payloads as {\"$base64\": …} instead of decoding them."},                                   \
        {.name = "fields",                                                                                             \
         .type = HTTP_TEXT,                                                                                            \
         .repeats = true,                                                                                              \
         .max = 64,                                                                                                    \
         .help = "Only these fields of each payload, as paths separated by commas: pose.position.x,ranges[0]."},       \
        PARAM_TIME_FORMAT

extern const struct http_param api_no_params[], api_any_params[], api_page_params[], api_row_params[];

/* Recordings that are merged (inputs_merged()). */
#define PARAM_ALIGN                                                                                                    \
    {                                                                                                                  \
        .name = "align", .type = HTTP_CHOICE, .choices = CHOICES("start", "none"), .fallback = "start",                \
        .help = "start: recordings with a relative clock begin when the others begin; none: times stay as they are."   \
    }
#define PARAM_PREFIXING(otherwise)                                                                                     \
    {                                                                                                                  \
        .name = "prefix", .type = HTTP_CHOICE, .choices = CHOICES("clash", "always", "never"), .fallback = otherwise,  \
        .help = "When a topic is prefixed by the name of its recording; clash: if two recordings have it."             \
    }
#define PARAM_MERGE                                                                                                    \
    {.name = "recording",                                                                                              \
     .type = HTTP_TEXT,                                                                                                \
     .repeats = true,                                                                                                  \
     .max = 64,                                                                                                        \
     .required = true,                                                                                                 \
     .help = "The id of a recording; messages with equal times are ordered as the recordings."},                       \
        PARAM_ALIGN,                                                                                                   \
        {.name = "shift",                                                                                              \
         .type = HTTP_TEXT,                                                                                            \
         .repeats = true,                                                                                              \
         .max = 64,                                                                                                    \
         .help = "ID:2.5s or ID:-2.5s moves the recording ID from its recorded times. Then none is aligned "           \
                 "otherwise, and "                                                                                     \
                 "all times count as "                                                                                 \
                 "those of the first recording."},                                                                     \
        PARAM_PREFIXING("clash")

#endif
