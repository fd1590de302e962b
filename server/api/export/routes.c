/* Endpoints of exports. */
#include "api/export/export.h"
#include "api/params.h"

static const struct http_param tar_params[] = {
    PARAM_FILTERS,
    PARAM_PAGE,
    {.name = "offset",
     .type = HTTP_UINT,
     .fallback = "0",
     .help = "The number of recordings to skip; cursor is faster."},
    {0},
};
#define CONVERT_PARAMS PARAM_SPLIT, PARAM_REPORT, PARAM_TARGET
#define PARAM_SPLIT                                                                                                    \
    {                                                                                                                  \
        .name = "split", .type = HTTP_TEXT,                                                                            \
        .help = "Divides the export into files of duration:60s or about size:1GB each, or of a NanoVer recording "     \
                "for each run (reset) or where a key of the frame or the state gets another value "                    \
                "(key:simulation.name), in a tar archive: as/run.mcap.tar."                                            \
    }
#define PARAM_REPORT                                                                                                   \
    {.name = "report",                                                                                                 \
     .type = HTTP_BOOL,                                                                                                \
     .help = "Returns the conversion report, which lists what would change or be lost, instead of the export."},       \
    {                                                                                                                  \
        .name = "check", .type = HTTP_BOOL,                                                                            \
        .help = "With report: reads all messages to count those that are left out: they cannot be converted between "  \
                "ROS 1 and ROS 2, or "                                                                                 \
                "shown in a video."                                                                                    \
    }
/* A selection of messages and what more than one target takes; the views and the options of single targets follow by
 * api_write_params(). */
#define PARAM_TARGET                                                                                                   \
    PARAM_SELECTION,                                                                                                   \
        {.name = "version",                                                                                            \
         .type = HTTP_TEXT,                                                                                            \
         .help = "The version of the target format: 1.2 or 2.0 for .bag, 0.0 or 2.0 for .tide."},                      \
        {.name = "compression",                                                                                        \
         .type = HTTP_TEXT,                                                                                            \
         .help = "The compression of the target format: zstd, lz4, bz2, … The service document lists those of each " \
                 "target."},                                                                                           \
        {.name = "rules",                                                                                              \
         .type = HTTP_TEXT,                                                                                            \
         .help = "JSON: topics that get other names, and types of ROS whose name or fields change, as reel convert "   \
                 "--rules takes them. Their payloads are laid out anew."},                                             \
        {.name = "raw", .type = HTTP_BOOL, .help = "With view: keeps all channels as they were recorded."},            \
        {.name = "ros",                                                                                                \
         .type = HTTP_CHOICE,                                                                                          \
         .choices = CHOICES("1", "2"),                                                                                 \
         .help = "Converts messages of ROS 1 to those of ROS 2, or of ROS 2 to those of ROS 1. ROS bags get ROS 1 "    \
                 "without it."},                                                                                       \
        {.name = "wrap",                                                                                               \
         .type = HTTP_BOOL,                                                                                            \
         .help = "ROS bags: stores messages of ROS 2 unchanged, as std_msgs/UInt8MultiArray, instead of converting "   \
                 "them."},                                                                                             \
        PARAM_DECODING, PARAM_CHANNELS, {                                                                              \
        .name = "end_record", .type = HTTP_BOOL,                                                                       \
        .help = "Ends a text export with {\"$end\": {\"complete\": true, …}}."                                       \
    }
static const struct http_param convert_params[] = {
    CONVERT_PARAMS,
    {.name = "at",
     .type = HTTP_TIME,
     .help = "Exports only the last message at or before this time, as for cloud.ply?topic=/points."},
    {.name = "run",
     .type = HTTP_UINT,
     .help = "Exports only this run of a NanoVer recording, as listed in …/nanover/resets; 0 is the part before the "
             "first reset."},
    {.more = api_write_params},
};
static const struct http_param merge_params[] = {
    PARAM_MERGE,
    CONVERT_PARAMS,
    {.more = api_write_params},
};
static const struct http_param search_params[] = {
    PARAM_FILTERS_BESIDE_SELECTION, PARAM_ALIGN, PARAM_PREFIXING("never"), CONVERT_PARAMS, {.more = api_write_params},
};
static const struct http_param zip_params[] = {
    PARAM_FILTERS_BESIDE_SELECTION,
    {.name = "recording",
     .type = HTTP_TEXT,
     .repeats = true,
     .max = 64,
     .help = "The id of a recording: these instead of what a search finds."},
    {.name = "as",
     .type = HTTP_TEXT,
     .help =
         "The format of the members by its ending: mcap, bag, parquet, nanover.zip, …, or original: the files as they "
         "were added. Several, separated by commas, have a folder each. Without it mcap, and of a package original."},
    {.name = "package",
     .type = HTTP_CHOICE,
     .choices = CHOICES("bagit"),
     .help = "Adds what repositories and journals ask for: checksums of all members (BagIt 1.0) and their description "
             "(RO-Crate 1.2, CITATION.cff)."},
    {.name = "deposit",
     .type = HTTP_TEXT,
     .help = "With package: JSON of title, description, license, authors (name, or family and given, with orcid, "
             "affiliation and email), publisher, doi, date, keywords and instruments, each optional."},
    {.name = "around",
     .type = HTTP_TEXT,
     .help = "event:TITLE: instead of whole recordings, a cut around each event whose title matches this glob."},
    {.name = "before",
     .type = HTTP_DURATION,
     .help = "With around: how long before the start of the event a cut begins."},
    {.name = "after", .type = HTTP_DURATION, .help = "With around: how long after the end of the event a cut ends."},
    PARAM_TARGET,
    {.more = api_write_params},
};

const struct api_route api_routes_export[] = {
    {.http = {"GET", BASE "/recordings.tar", ROLE_READ, tar_params,
              "Downloads the original files of all recordings that match a search as one tar archive.",
              api_recordings_tar, NULL, NULL, NULL},
     .id = "downloadRecordings",
     .tag = "export",
     .headers = "range",
     .answers = "200 206:Partial" ERRORS_FILE},
    {.http = {"GET", BASE "/recordings/{id}/file/{name...}", ROLE_READ, api_no_params,
              "Downloads an original file of a recording.", api_file, NULL, NULL, NULL},
     .id = "getFile",
     .tag = "export",
     .headers = "range ifRange",
     .answers = "200 206:Partial 307:InTheBucket" ERRORS_FILE,
     .head = &(const struct api_head){"headFile", "Returns length, digest and entity tag of an original file.",
                                      "200:getFile" ERRORS_FILE}},
    {.http = {"GET", BASE "/recordings/{id}/as/{name}", ROLE_READ, convert_params,
              "Exports a recording, converted to the format that the name ends in.", api_convert, NULL, NULL, NULL},
     .id = "convertRecording",
     .tag = "export",
     .detail = "Binary targets are planned first: they have a length, an entity tag and ranges, and nothing is stored. "
               "Text targets are "
               "streamed. Planning a large one is waited for, up to 50 seconds, then 503; with Prefer: respond-async "
               "the response is 202 with the job at once.",
     .headers = "range ifRange prefer",
     .answers = "200 206:Partial" ERRORS_FILE,
     .head = &(const struct api_head){"headConversion", "Returns length and entity tag of an export.",
                                      "200:convertRecording" ERRORS_FILE}},
    {.http = {"GET", BASE "/merge/as/{name}", ROLE_READ, merge_params,
              "Exports several recordings as one, ordered by time.", api_merge, NULL, NULL, NULL},
     .id = "mergeRecordings",
     .tag = "export",
     .detail = "Binary targets are planned first: they have a length, an entity tag and ranges, and nothing is stored. "
               "Text targets are "
               "streamed. Planning a large one is waited for, up to 50 seconds, then 503; with Prefer: respond-async "
               "the response is 202 with the job at once.",
     .headers = "range ifRange prefer",
     .answers = "200 206:Partial" ERRORS_FILE,
     .head = &(const struct api_head){"headMerge", "Returns length and entity tag of an export of several recordings.",
                                      "200:mergeRecordings" ERRORS_FILE}},
    {.http = {"GET", BASE "/search/as/{name}", ROLE_READ, search_params,
              "Exports the recordings that a search finds as one, ordered by time.", api_search_export, NULL, NULL,
              NULL},
     .id = "exportSearch",
     .tag = "export",
     .detail =
         "At most 1000 recordings; topic, start and end select both recordings and their messages. The entity "
         "tag changes with what "
         "the search finds. Recordings that are not ready are left out and counted in X-Left-Out. Planning a large "
         "one is waited for, up to 50 seconds, then 503; with Prefer: respond-async the response is 202 with the job "
         "at once.",
     .headers = "range ifRange prefer",
     .answers = "200:mergeRecordings 206:Partial" ERRORS_FILE,
     .head = &(const struct api_head){"headSearch", "Returns length and entity tag of an export of a search.",
                                      "200:mergeRecordings" ERRORS_FILE}},
    {.http =
         {"GET", BASE "/search/export.zip", ROLE_READ, zip_params,
          "Exports the recordings that a search finds, or cuts around their events, each as a member of a ZIP archive.",
          api_search_zip, NULL, NULL, NULL},
     .id = "exportSearchZip",
     .tag = "export",
     .detail = "At most 1000 recordings and 1000 members, which the archive does not compress. It is planned first, so "
               "it has a length, an "
               "entity tag and ranges, and nothing is stored. What cannot be had in the format is listed in the member "
               "LEFT-OUT.txt and "
               "counted in X-Left-Out. Planning a large one is waited for, up to 50 seconds, then 503; with "
               "Prefer: respond-async the response is 202 with the job at once.",
     .headers = "range ifRange prefer",
     .answers = "200 206:Partial" ERRORS_FILE,
     .head = &(const struct api_head){"headSearchZip",
                                      "Returns length and entity tag of an archive of what a search finds.",
                                      "200:exportSearchZip" ERRORS_FILE}},
    {.id = NULL},
};
