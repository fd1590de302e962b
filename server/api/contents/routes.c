/* Endpoints of the contents of a recording. */
#include "api/contents/contents.h"
#include "api/params.h"

#define PARAM_EMPTY                                                                                                    \
    {                                                                                                                  \
        .name = "empty", .type = HTTP_BOOL, .fallback = "true",                                                        \
        .help = "false: a message that is a list without items, as CARLA writes them in every frame, does not count."  \
    }
static const struct http_param coverage_params[] = {
    PARAM_TOPICS,
    {.name = "bins",
     .type = HTTP_UINT,
     .min = 1,
     .max = 2000,
     .fallback = "100",
     .help = "The number of time bins, the resolution of the result."},
    {.name = "tolerance",
     .type = HTTP_DURATION,
     .help = "Gaps up to this duration are closed; default: the width of a bin."},
    PARAM_SPAN,
    PARAM_EMPTY,
    PARAM_ROW_OUTPUT,
    PAGING_SLICE,
    {0},
};
static const struct http_param scan_params[] = {
    {.name = "times",
     .type = HTTP_BOOL,
     .fallback = "false",
     .help = "true: findings of losses have start and end, the times of the messages stored before and after them."},
    PARAM_ROW_OUTPUT,
    {0}};
static const struct http_param topics_params[] = {PARAM_EMPTY, PARAM_ROW_OUTPUT, PAGING_SLICE, {0}};
static const struct http_param pages_params[] = {PARAM_ROW_OUTPUT, PAGING_SLICE, {0}};
static const struct http_param messages_params[] = {
    PARAM_SELECTION,
    {.name = "limit",
     .type = HTTP_UINT,
     .min = 1,
     .max = 1000000,
     .help = "The maximum number of messages; a Link header has the address of the rest. Without it, all."},
    {.name = "cursor", .type = HTTP_TEXT, .help = "Where a limited response ended; the Link header contains it."},
    {.name = "offset", .type = HTTP_UINT, .max = INT64_MAX, .fallback = "0", .help = "The number of messages to skip."},
    {.name = "from_index",
     .type = HTTP_INT,
     .help = "Begins with the message of this index in time order; a negative index counts from the end."},
    {.name = "to_index", .type = HTTP_INT, .help = "Ends before the message of this index."},
    PARAM_DECODING,
    PARAM_CHANNELS,
    PARAM_OUTPUT("ndjson", "json", "json-seq", "csv", "msgpack", "events", "parquet", "arrows"),
    {.name = "end_record", .type = HTTP_BOOL, .help = "Ends the response with {\"$end\": {\"complete\": true, …}}."},
    {.name = "follow",
     .type = HTTP_BOOL,
     .help = "Goes on with what is appended to a live recording, until it is finished; with start=now only that."},
    {0},
};
#define PLAY_PARAMS                                                                                                    \
    PARAM_SELECTION,                                                                                                   \
        {.name = "speed",                                                                                              \
         .type = HTTP_TEXT,                                                                                            \
         .fallback = "1",                                                                                              \
         .help = "How fast: a number from 0.01 to 100, or max: as fast as possible."},                                 \
        {.name = "rate",                                                                                               \
         .type = HTTP_TEXT,                                                                                            \
         .help = "A fixed number of messages a second, whatever was recorded: 0.01 to 100000."},                       \
        {.name = "clock",                                                                                              \
         .type = HTTP_TEXT,                                                                                            \
         .help = "Adds messages of the topic /clock with the recording's time, this many a second: 0.01 to 10000."},   \
        {.name = "max_gap", .type = HTTP_DURATION, .help = "Longer silences are shortened to this."},                  \
        {.name = "latch", .type = HTTP_BOOL, .help = "Begins with the last message of each topic before start."},      \
        {.name = "loop", .type = HTTP_BOOL, .help = "Begins again at the end."},                                       \
        {.name = "paused", .type = HTTP_BOOL, .help = "Waits until PATCH /plays/{id} lets it go on."},                 \
        {.name = "pause_topic",                                                                                        \
         .type = HTTP_GLOB,                                                                                            \
         .repeats = true,                                                                                              \
         .max = 64,                                                                                                    \
         .help =                                                                                                       \
             "Pauses when a message of such a topic is due, with a $play row; that message is the first when it goes " \
             "on."},                                                                                                   \
        PARAM_DECODING, PARAM_CHANNELS, PARAM_OUTPUT("ndjson", "events", "msgpack")
static const struct http_deprecation follow_of_play = {"follow of GET /api/v1/recordings/{id}/play", "2026-12-01",
                                                       "2028-01-01", "/openapi.json"};
static const struct http_param play_params[] = {
    PLAY_PARAMS,
    {.name = "actor",
     .type = HTTP_UINT,
     .max = UINT32_MAX,
     .help = "The number of an actor of a CARLA recording: positions are in its frame."},
    {.name = "follow",
     .type = HTTP_UINT,
     .max = UINT32_MAX,
     .help = "The same as actor.",
     .deprecated = &follow_of_play},
    {0},
};
static const struct http_param merge_play_params[] = {PARAM_MERGE, PLAY_PARAMS, {0}};
#define NANOVER_PLAY_PARAMS                                                                                            \
    {.name = "speed",                                                                                                  \
     .type = HTTP_TEXT,                                                                                                \
     .fallback = "1",                                                                                                  \
     .help = "How fast: a number from 0.01 to 100, or max: as fast as possible."},                                     \
        {.name = "max_gap", .type = HTTP_DURATION, .help = "Longer silences are shortened to this."},                  \
        {.name = "loop",                                                                                               \
         .type = HTTP_BOOL,                                                                                            \
         .fallback = "true",                                                                                           \
         .help = "Begins again at the end, as NanoVer's own server does."},                                            \
    {                                                                                                                  \
        .name = "paused", .type = HTTP_BOOL, .help = "Waits for playback/play, or for PATCH /plays/{id}."              \
    }
static const struct http_param foxglove_params[] = {
    PARAM_SELECTION,
    {.name = "view",
     .type = HTTP_TEXT,
     .fallback = "foxglove",
     .help = "foxglove: what viewers draw, also of messages that they cannot read; raw: messages as recorded."},
    {.name = "follow",
     .type = HTTP_BOOL,
     .help = "Shows the present of a live recording, and then what is appended; without it, it is played."},
    {.name = "speed",
     .type = HTTP_TEXT,
     .fallback = "1",
     .help = "How fast: a number from 0.01 to 100, or max: as fast as possible."},
    {.name = "max_gap", .type = HTTP_DURATION, .help = "Longer silences are shortened to this."},
    {.name = "loop", .type = HTTP_BOOL, .help = "Begins again at the end."},
    {.name = "paused", .type = HTTP_BOOL, .help = "Waits until the viewer, or PATCH /plays/{id}, lets it go on."},
    {0},
};
static const struct http_param nanover_play_params[] = {
    {.name = "start", .type = HTTP_TIME, .help = "Begins with the frame and the state at this time."},
    NANOVER_PLAY_PARAMS,
    {0},
};
static const struct http_param nanover_server_params[] = {PARAM_Q, PARAM_COLLECTION, NANOVER_PLAY_PARAMS, {0}};
static const struct http_param message_params[] = {
    {.name = "topic", .type = HTTP_GLOB, .repeats = true, .max = 64, .help = "The topic of the message."},
    PARAM_CHANNEL,
    {.name = "at", .type = HTTP_TIME, .help = "Selects the last message at or before this time."},
    {.name = "index",
     .type = HTTP_INT,
     .help = "Selects the message at this index in time order; a negative index counts from the end."},
    PARAM_DECODING,
    {0},
};
#define SERIES_FIELD(at_most)                                                                                          \
    {                                                                                                                  \
        .name = "field", .type = HTTP_TEXT, .repeats = true, .max = at_most, .required = true,                         \
        .help = "A numeric field: /gps_odom.pose.pose.position.x, /scan.ranges[0]; a time or a duration is seconds."   \
    }
#define SERIES_PARAMS                                                                                                  \
    SERIES_FIELD(16), PARAM_SPAN,                                                                                      \
        {.name = "max_points",                                                                                         \
         .type = HTTP_UINT,                                                                                            \
         .min = 2,                                                                                                     \
         .max = 100000,                                                                                                \
         .fallback = "1000",                                                                                           \
         .help = "The maximum number of points of each field."},                                                       \
        {.name = "agg",                                                                                                \
         .type = HTTP_CHOICE,                                                                                          \
         .choices = CHOICES("minmax", "mean", "lttb", "last"),                                                         \
         .fallback = "minmax",                                                                                         \
         .help = "How a field with more values is downsampled."},                                                      \
        PARAM_TIME_FORMAT, PARAM_ROW_OUTPUT
static const struct http_param series_params[] = {SERIES_PARAMS, {0}};
static const struct http_param series_across_params[] = {
    {.name = "recording",
     .type = HTTP_TEXT,
     .repeats = true,
     .max = 20,
     .help = "The id of a recording; without it, the recordings that match the other filters."},
    PARAM_Q,
    PARAM_FORMAT,
    PARAM_COLLECTION,
    PARAM_HAS_TOPIC,
    SERIES_PARAMS,
    {0},
};
static const struct http_param plot_params[] = {
    SERIES_FIELD(8),
    PARAM_SPAN,
    {.name = "width", .type = HTTP_UINT, .min = 200, .max = 4000, .fallback = "800", .help = "The width in pixels."},
    {.name = "height",
     .type = HTTP_UINT,
     .max = 4000,
     .fallback = "300",
     .help = "The height in pixels; the fields share it."},
    {0},
};
static const struct http_param fields_params[] = {
    {.name = "topic", .type = HTTP_TEXT, .required = true, .help = "The topic."}, PARAM_ROW_OUTPUT, {0}};
static const struct http_param frame_params[] = {
    {.name = "topic", .type = HTTP_GLOB, .required = true, .help = "The topic of the images; see /topics."},
    {.name = "at", .type = HTTP_TIME, .help = "Selects the last image at or before this time; without it, the first."},
    {.name = "width",
     .type = HTTP_UINT,
     .min = 1,
     .max = 16384,
     .help = "The maximum width in pixels; larger images are scaled down."},
    {0},
};
static const struct http_param frames_params[] = {
    {.name = "topic", .type = HTTP_GLOB, .required = true, .help = "The topic of the images; see /topics."},
    PARAM_SPAN,
    {.name = "every",
     .type = HTTP_TEXT,
     .help = "Fewer images: 10 selects every tenth, 100ms the first in each interval."},
    {.name = "latch",
     .type = HTTP_BOOL,
     .help = "Begins with the last image before start; a video with the frames since its last key frame before start."},
    {.name = "width",
     .type = HTTP_UINT,
     .min = 1,
     .max = 16384,
     .help = "The maximum width in pixels; larger images are scaled down."},
    {0},
};

static const struct http_param thumbnail_params[] = {
    {.name = "frames",
     .type = HTTP_CHOICE,
     .choices = CHOICES("1", "10"),
     .fallback = "1",
     .help = "10 returns as many frames of equal width side by side."},
    {0},
};
static const struct http_param previews_params[] = {
    {.name = "recording",
     .type = HTTP_TEXT,
     .repeats = true,
     .max = 100,
     .help = "The ids of the recordings; one that is not there is left out."},
    PARAM_ROW_OUTPUT,
    {0},
};
static const struct http_param manifest_params[] = {
    {.name = "recording",
     .type = HTTP_TEXT,
     .repeats = true,
     .max = 64,
     .required = true,
     .help = "The ids of the recordings, as recording=ID&recording=ID."},
    {0},
};

const struct api_route api_routes_contents[] = {
    {.http = {"GET", BASE "/recordings/{id}/topics", ROLE_READ, topics_params,
              "Lists the topics of a recording and their channels.", api_topics, NULL, NULL, NULL},
     .id = "listTopics",
     .tag = "contents",
     .headers = "prefer",
     .answers = "200" ERRORS_CONTENTS},
    {.http = {"GET", BASE "/recordings/{id}/coverage", ROLE_READ, coverage_params,
              "Returns the time spans in which each topic has messages.", api_coverage, NULL, NULL, NULL},
     .id = "getCoverage",
     .tag = "contents",
     .headers = "prefer",
     .answers = "200" ERRORS_CONTENTS},
    {.http = {"GET", BASE "/recordings/{id}/schemas/{sid}", ROLE_READ, api_no_params,
              "Returns the text of a message definition.", api_schema, NULL, NULL, NULL},
     .id = "getSchema",
     .tag = "contents",
     .headers = "prefer",
     .answers = "200" ERRORS_CONTENTS},
    {.http = {"GET", BASE "/recordings/{id}/scan", ROLE_READ, scan_params,
              "Returns the scan report: what is damaged or unusual in a recording.", api_scan, NULL, NULL, NULL},
     .id = "getScan",
     .tag = "contents",
     .headers = "prefer",
     .answers = "200" ERRORS_CONTENTS},
    {.http = {"GET", BASE "/recordings/{id}/attachments", ROLE_READ, pages_params,
              "Lists the attachments of a recording.", api_attachments_list, NULL, NULL, NULL},
     .id = "listAttachments",
     .tag = "contents",
     .headers = "prefer",
     .answers = "200" ERRORS_CONTENTS},
    {.http = {"GET", BASE "/recordings/{id}/attachments/{n}", ROLE_READ, api_no_params,
              "Downloads an attachment of a recording.", api_attachment, NULL, NULL, NULL},
     .id = "getAttachment",
     .tag = "contents",
     .headers = "range prefer",
     .answers = "200 206:Partial" ERRORS_FILE},
    {.http = {"GET", BASE "/recordings/{id}/metadata", ROLE_READ, pages_params,
              "Lists the metadata records of a recording.", api_metadata, NULL, NULL, NULL},
     .id = "getMetadata",
     .tag = "contents",
     .headers = "prefer",
     .answers = "200" ERRORS_CONTENTS},
    {.http = {"GET", BASE "/recordings/{id}/messages", ROLE_READ, messages_params,
              "Streams the messages of a recording in time order.", api_messages, NULL, NULL, NULL},
     .id = "listMessages",
     .tag = "contents",
     .headers = "prefer",
     .answers = "200" ERRORS_CONTENTS},
    {.http = {"GET", BASE "/recordings/{id}/play", ROLE_READ, play_params,
              "Plays the messages of a recording: each leaves when it is due.", api_play, NULL, NULL, NULL},
     .id = "playRecording",
     .tag = "contents",
     .detail = "The first row, {\"$play\": …}, names the playback, as the header X-Play does; PATCH /plays/{id} "
               "controls it while it runs. "
               "A new position begins with the state there. When it pauses, or after 15 s of silence, another $play "
               "row tells where the "
               "playback is. "
               "It ends with the connection. {\"$late\": {\"late_ms\": …}} tells that it cannot keep up.",
     .answers = "200" ERRORS_CONTENTS},
    {.http = {"GET", BASE "/merge/play", ROLE_READ, merge_play_params,
              "Plays several recordings as one: each message leaves when it is due.", api_merge_play, NULL, NULL, NULL},
     .id = "playMerge",
     .tag = "contents",
     .detail =
         "As playRecording; rows say of which recording they are. The playback is controlled by who sees the first "
         "recording.",
     .answers = "200:playRecording" ERRORS_CONTENTS},
    {.http = {"GET", BASE "/plays/{id}", ROLE_READ, api_no_params, "Returns where a running playback is.", api_play_get,
              NULL, NULL, NULL},
     .id = "getPlay",
     .tag = "contents",
     .answers = "200" ERRORS_ONE},
    {.http = {"PATCH", BASE "/plays/{id}", ROLE_READ, api_no_params,
              "Pauses a running playback, or changes its speed or position.", api_play_patch, JSON_BODY},
     .id = "controlPlay",
     .policy = {.key = HTTP_KEY_NATURAL},
     .tag = "contents",
     .answers = "200" ERRORS_WRITE},
    {.http = {"GET", "/ws/recordings/{id}", ROLE_READ, foxglove_params,
              "Plays a recording to Foxglove or a compatible viewer, by WebSocket, or follows it while it grows.",
              api_foxglove, NULL, NULL, NULL},
     .id = "playFoxglove",
     .tag = "contents",
     .detail = "The protocol is foxglove.sdk.v1, with playbackControl (play, pause, speed, seek), or "
               "foxglove.websocket.v1, in which PATCH /plays/{id} controls the playback; X-Play names it. What is "
               "subscribed to begins with the last message of each channel.",
     .answers = "101:playNanover" ERRORS_CONTENTS " 426:UpgradeRequired"},
    {.http = {"GET", BASE "/recordings/{id}/nanover", ROLE_READ, nanover_play_params,
              "Plays a recording to a client of NanoVer, by WebSocket.", api_nanover_play, NULL, NULL, NULL},
     .id = "playNanover",
     .tag = "nanover",
     .detail =
         "Binary messages are MessagePack, those of the recording as they were recorded. The commands of NanoVer's "
         "playback (playback/play, pause, step, step_back, reset, list, load, next, commands/list) are answered; "
         "what else a client sends is dropped. The header X-Play names the playback, which PATCH /plays/{id} "
         "controls.",
     .answers = "101" ERRORS_CONTENTS " 426:UpgradeRequired"},
    {.http = {"GET", "/nanover", ROLE_READ, nanover_server_params,
              "Is a NanoVer server whose simulations are the NanoVer recordings of the archive, by WebSocket.",
              api_nanover_server, NULL, NULL, NULL},
     .id = "serveNanover",
     .tag = "nanover",
     .detail = "As playNanover. playback/list names up to 1,000 recordings that the caller may read, the newest first; "
               "the first is loaded at once. The state has simulation.name, simulation.index and reel.play, the id of "
               "the playback.",
     .answers = "101:playNanover 426:UpgradeRequired" ERRORS},
    {.http = {"GET", BASE "/recordings/{id}/series", ROLE_READ, series_params,
              "Returns numeric fields over time, downsampled for drawing.", api_series, NULL, NULL, NULL},
     .id = "getSeries",
     .tag = "contents",
     .headers = "prefer",
     .answers = "200" ERRORS_CONTENTS},
    {.http = {"GET", BASE "/recordings/{id}/plot.svg", ROLE_READ, plot_params,
              "Draws numeric fields over time as an SVG image.", api_plot, NULL, NULL, NULL},
     .id = "getPlot",
     .tag = "contents",
     .headers = "prefer",
     .answers = "200 206:Partial" ERRORS_FILE},
    {.http = {"GET", BASE "/recordings/{id}/topics/fields", ROLE_READ, fields_params,
              "Lists the fields of a topic's messages.", api_topic_fields, NULL, NULL, NULL},
     .id = "listFields",
     .tag = "contents",
     .headers = "prefer",
     .answers = "200" ERRORS_CONTENTS},
    {.http = {"GET", BASE "/recordings/{id}/message", ROLE_READ, message_params,
              "Returns one message, by its time or its index.", api_message, NULL, NULL, NULL},
     .id = "getMessage",
     .tag = "contents",
     .detail = "Either at or index is required. With at and one topic the header X-Index has the message's index.",
     .headers = "range prefer",
     .answers = "200 206:Partial" ERRORS_FILE},
    {.http = {"GET", BASE "/recordings/{id}/frame", ROLE_READ, frame_params, "Returns an image message as JPEG or PNG.",
              api_frame, NULL, NULL, NULL},
     .id = "getFrame",
     .tag = "contents",
     .headers = "prefer",
     .answers = "200 206:Partial" ERRORS_FILE},
    {.http = {"GET", BASE "/recordings/{id}/frames", ROLE_READ, frames_params,
              "Streams the images of a topic in time order, for players.", api_frames, NULL, NULL, NULL},
     .id = "listFrames",
     .tag = "contents",
     .detail = "Each part is a file with its Content-Length and, in X-Log-Time, its time, in X-Image-Size the sides "
               "before it was "
               "scaled: images are JPEG or PNG as recorded, pixels and what is scaled become JPEG; frames of a video "
               "are the byte stream "
               "that was recorded (video/h264, video/h265). An "
               "image that cannot be shown is a part of text that says why.",
     .headers = "prefer",
     .answers = "200" ERRORS_CONTENTS},
    {.http = {"GET", BASE "/recordings/{id}/thumbnail", ROLE_READ, thumbnail_params,
              "Returns a small picture of a recording as JPEG.", api_thumbnail, NULL, NULL, NULL},
     .id = "getThumbnail",
     .tag = "contents",
     .detail = "The picture is of the topic of images with the most messages. A recording without images has none.",
     .headers = "range prefer",
     .answers = "200 206:Partial" ERRORS_FILE},
    {.http = {"GET", BASE "/previews", ROLE_READ, previews_params, "Returns what lists show of recordings at a glance.",
              api_previews, NULL, NULL, NULL},
     .id = "getPreviews",
     .tag = "contents",
     .answers = "200" ERRORS_LIST},
    {.http = {"GET", BASE "/series", ROLE_READ, series_across_params,
              "Returns the same numeric fields of several recordings over time.", api_series_across, NULL, NULL, NULL},
     .id = "getSeriesAcross",
     .tag = "contents",
     .headers = "prefer",
     .answers = "200" ERRORS_CONTENTS},
    {.http = {"GET", BASE "/recordings/{id}/layout.json", ROLE_READ, api_no_params,
              "Returns a panel layout for Foxglove and compatible viewers.", api_layout, NULL, NULL, NULL},
     .id = "getLayout",
     .tag = "contents",
     .headers = "prefer",
     .answers = "200" ERRORS_CONTENTS},
    {.http =
         {"GET", BASE "/viewer/manifest", ROLE_READ, manifest_params,
          "Returns where recordings are as MCAP files, in the form of a manifest for Foxglove's remote data loader.",
          api_manifest, NULL, NULL, NULL},
     .id = "getManifest",
     .tag = "contents",
     .answers = "200" ERRORS_CONTENTS},
    {.id = NULL},
};
