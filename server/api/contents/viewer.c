/* /recordings/{id}/layout.json: a viewer layout with panels for the recording's channels. It depends on the channels of
 * /as/x.mcap?view=foxglove, and on its first scene. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "access/access.h"
#include "api/contents/contents.h"
#include "api/contents/viewer_fit.h"
#include "api/recording.h"
#include "app.h"
#include "base/cleanup.h"
#include "base/text_stream.h"
#include "decode/encoding.h"
#include "reel/time.h"
#include "stream/view.h"
#include "views/viewer_links.h"

enum { SOURCES_MAX = 64 }; /* recordings of one manifest */
enum { IMAGES_MAX = 2, PLOTS_MAX = 2, LINES_MAX = 5, PANELS_MAX = 8 };
#define SCENE_ID "3D!reel"
#define GRID_ID "reel-grid"

/* --- panel types --- */

enum panel { PANEL_NONE, PANEL_3D, PANEL_FRAMES, PANEL_IMAGE, PANEL_MAP, PANEL_LOG };

static enum panel panel_of(const char *type) {
    static const struct {
        const char *type;
        enum panel panel;
    } drawn[] = {
        {"foxglove/SceneUpdate", PANEL_3D},
        {"foxglove/PointCloud", PANEL_3D},
        {"foxglove/LaserScan", PANEL_3D},
        {"foxglove/Grid", PANEL_3D},
        {"foxglove/PoseInFrame", PANEL_3D},
        {"foxglove/PosesInFrame", PANEL_3D},
        {"sensor_msgs/PointCloud2", PANEL_3D},
        {"sensor_msgs/LaserScan", PANEL_3D},
        {"nav_msgs/Path", PANEL_3D},
        {"nav_msgs/OccupancyGrid", PANEL_3D},
        {"geometry_msgs/PoseStamped", PANEL_3D},
        {"geometry_msgs/PoseArray", PANEL_3D},
        {"geometry_msgs/PolygonStamped", PANEL_3D},
        {"visualization_msgs/Marker", PANEL_3D},
        {"visualization_msgs/MarkerArray", PANEL_3D},
        {"foxglove/FrameTransform", PANEL_FRAMES},
        {"foxglove/FrameTransforms", PANEL_FRAMES},
        {"tf/tfMessage", PANEL_FRAMES},
        {"tf2_msgs/TFMessage", PANEL_FRAMES},
        {"foxglove/CompressedImage", PANEL_IMAGE},
        {"foxglove/RawImage", PANEL_IMAGE},
        {"foxglove/CompressedVideo", PANEL_IMAGE},
        {"sensor_msgs/Image", PANEL_IMAGE},
        {"sensor_msgs/CompressedImage", PANEL_IMAGE},
        {"foxglove/LocationFix", PANEL_MAP},
        {"foxglove/GeoJSON", PANEL_MAP},
        {"sensor_msgs/NavSatFix", PANEL_MAP},
        {"foxglove/Log", PANEL_LOG},
        {"rosgraph_msgs/Log", PANEL_LOG},
        {"roslib/Log", PANEL_LOG},
        {"rcl_interfaces/Log", PANEL_LOG},
    };
    for (size_t i = 0; i < sizeof drawn / sizeof *drawn; i++) {
        if (strcmp(drawn[i].type, type) == 0) {
            return drawn[i].panel;
        }
    }
    return PANEL_NONE;
}

/* "foxglove.X", "foxglove_msgs/msg/X" and "pkg/msg/X" are "foxglove/X" and "pkg/X". */
static enum panel panel_of_channel(const struct reel_channel *c) {
    const char *slash = strchr(c->type, '/'), *last = strrchr(c->type, '/'), *dot = strchr(c->type, '.');
    char plain[96];
    bool foxglove = strncmp(c->type, "foxglove", 8) == 0;
    const char *name = last ? last + 1 : dot ? dot + 1 : c->type;
    int head = slash ? (int)(slash - c->type) : 0;
    snprintf(plain, sizeof plain, "%.*s/%s", foxglove ? 8 : head, c->type, name);
    return panel_of(plain);
}

/* --- panels --- */

struct layout {
    json_t *configs;
    char ids[PANELS_MAX][32];
    const char *topics[PANELS_MAX]; /* topic of each panel */
    unsigned n, images, plots, maps, logs;
    json_t *drawn;                         /* topics in the 3D panel */
    bool pictures;                         /* there are topics for the 3D panel, or frames */
    const struct reel_view_camera *camera; /* NULL: the default */
    struct viewer_fit fit;
};

/* Adds one panel per topic, which several channels may share. False: the topic has one, or there are too many panels.
 */
static bool add_panel(struct layout *l, const char *kind, const char *topic, json_t *config) {
    bool there = l->n == PANELS_MAX;
    for (unsigned i = 0; i < l->n; i++) {
        there |= strcmp(l->topics[i], topic) == 0;
    }
    if (there) {
        json_decref(config);
        return false;
    }
    l->topics[l->n] = topic;
    snprintf(l->ids[l->n], sizeof l->ids[l->n], "%s!reel%u", kind, l->n);
    json_object_set_new(l->configs, l->ids[l->n], config);
    l->n++;
    return true;
}

/* Writes a topic as in the viewer's message paths. */
static void put_topic(FILE *f, const char *topic) {
    bool plain = topic[0] == '/';
    for (const char *p = topic; *p && plain; p++) {
        plain = (*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') || (*p >= '0' && *p <= '9') || strchr("_/-", *p);
    }
    fputs(plain ? "" : "\"", f);
    for (const char *p = topic; *p; p++) {
        fputs(!plain && strchr("\"\\", *p) ? "\\" : "", f);
        fputc(*p, f);
    }
    fputs(plain ? "" : "\"", f);
}

struct lines {
    json_t *paths;
    const char *topic;
    const char *unit; /* of the first line; lines of other units would need another scale */
};

/* Skips stamps, counters and elements of matrices. */
static bool is_line(const struct reel_field *field) {
    const char *last = strrchr(field->path, '.');
    last = last ? last + 1 : field->path;
    bool is_element = false;
    for (const char *p = field->path; *p; p++) {
        is_element |= *p >= '0' && *p <= '9' && (p == field->path || p[-1] == '.');
    }
    return field->numeric && !is_element && strncmp(field->path, "header.", 7) != 0 && strcmp(last, "seq") != 0 &&
           strcmp(last, "id") != 0 && strcmp(last, "sec") != 0 && strcmp(last, "nsec") != 0 &&
           strcmp(field->type, "bool") != 0;
}

static bool viewer_add_field(void *context, const struct reel_field *field) {
    struct lines *l = context;
    char *text = NULL;
    size_t size;
    if (!is_line(field) || (l->unit && strcmp(l->unit, field->unit) != 0)) {
        return true;
    }
    FILE *f = open_memstream(&text, &size);
    if (!f) {
        return false;
    }
    put_topic(f, l->topic);
    fprintf(f, ".%s", field->path);
    if (text_stream_close(f, &text)) {
        l->unit = l->unit ? l->unit : field->unit;
        json_array_append_new(
            l->paths, json_pack("{s:s, s:b, s:s}", "value", text, "enabled", 1, "timestampMethod", "receiveTime"));
    }
    free(text);
    return json_array_size(l->paths) < LINES_MAX;
}

static bool viewer_is_read(const struct reel_channel *c) {
    const struct reel_encoding *encoding = reel_encoding_of(c);
    return encoding && encoding->is_viewable;
}

/* A plot of the numeric fields of a channel that no other panel shows. */
static void add_plot(struct layout *l, const struct reel_channel *c) {
    struct reel_error err = {0};
    bool selected = l->plots < PLOTS_MAX && viewer_is_read(c) && panel_of_channel(c) == PANEL_NONE;
    AUTO(reel_decoder_free) struct reel_decoder *decoder = selected ? reel_decoder_open(c, &err) : NULL;
    struct lines lines = {.paths = json_array(), .topic = c->name};
    if (decoder) {
        reel_decoder_fields(decoder, viewer_add_field, &lines);
    }
    if (json_array_size(lines.paths) == 0) {
        json_decref(lines.paths);
        return;
    }
    json_t *config =
        json_pack("{s:s, s:o, s:b, s:b, s:b, s:s, s:s}", "title", c->name, "paths", lines.paths, "isSynced", 1,
                  "showXAxisLabels", 1, "showYAxisLabels", 1, "xAxisVal", "timestamp", "legendDisplay", "floating");
    l->plots += add_panel(l, "Plot", c->name, config);
}

static void viewer_add_channel(struct layout *l, const struct reel_view *view, const struct reel_channel *c) {
    enum panel panel = panel_of_channel(c);
    if (panel == PANEL_3D) {
        json_object_set_new(l->drawn, c->name, json_pack("{s:b}", "visible", 1));
    }
    l->pictures |= panel == PANEL_3D || panel == PANEL_FRAMES;
    if (panel == PANEL_IMAGE && l->images < IMAGES_MAX) {
        l->images += add_panel(l, "Image", c->name, json_pack("{s:{s:s}}", "imageMode", "imageTopic", c->name));
    } else if (panel == PANEL_MAP && l->maps < 1) {
        l->maps += add_panel(l, "map", c->name,
                             json_pack("{s:s, s:s, s:[]}", "layer", "map", "followTopic", c->name, "disabledTopics"));
    } else if (panel == PANEL_LOG && l->logs < 1) {
        l->logs += add_panel(l, "RosOut", c->name,
                             json_pack("{s:s, s:i, s:[]}", "topicToRender", c->name, "minLogLevel", 1, "searchTerms"));
    }
    const struct reel_view_camera *camera = view->camera(c);
    l->camera = camera ? camera : l->camera;
}

static void add_scene(struct layout *l) {
    /* A camera that follows an actor sees its surroundings; another one sees all. */
    bool follows = l->camera && strcmp(l->camera->frame, "ego") == 0;
    const struct viewer_fit fit = l->fit.found && !follows ? l->fit : (struct viewer_fit){.radius = 0};
    double near = l->camera ? l->camera->near_clip : 0.5, distance = l->camera ? l->camera->distance : 40.0;
    distance = fit.found ? 2.5 * fit.radius : distance;
    json_t *camera = json_pack("{s:b, s:f, s:f, s:f, s:[f,f,f], s:[f,f,f], s:[f,f,f,f], s:i, s:f, s:i}", "perspective",
                               1, "distance", distance, "phi", 55.0, "thetaOffset", 45.0, "target", fit.centre[0],
                               fit.centre[1], fit.centre[2], "targetOffset", 0.0, 0.0, 0.0, "targetOrientation", 0.0,
                               0.0, 0.0, 1.0, "fovy", 45, "near", near, "far", 5000);
    json_t *grid = json_pack("{s:s, s:s, s:s, s:b, s:b, s:f, s:i, s:f, s:s, s:[f,f,f], s:[f,f,f], s:i}", "layerId",
                             "foxglove.Grid", "instanceId", GRID_ID, "label", "Grid", "visible", 1, "frameLocked", 1,
                             "size", 2 * distance, "divisions", 20, "lineWidth", 1.0, "color", "#8a8f99ff", "position",
                             0.0, 0.0, 0.0, "rotation", 0.0, 0.0, 0.0, "order", 1);
    json_t *config = json_pack("{s:o, s:s, s:{s:{s:b}}, s:{}, s:{s:o}, s:o}", "cameraState", camera, "followMode",
                               "follow-pose", "scene", "transforms", "enablePreloading", 1, "transforms", "layers",
                               GRID_ID, grid, "topics", l->drawn);
    if (l->camera) {
        json_object_set_new(config, "followTf", json_string(l->camera->frame));
    }
    l->drawn = NULL;
    json_object_set_new(l->configs, SCENE_ID, config);
}

/* Panels [at, end), stacked. */
static json_t *stacked(const struct layout *l, unsigned at) {
    if (at + 1 == l->n) {
        return json_string(l->ids[at]);
    }
    return json_pack("{s:s, s:s, s:o, s:f}", "direction", "column", "first", l->ids[at], "second", stacked(l, at + 1),
                     "splitPercentage", 100.0 / (l->n - at));
}

/* The 3D panel on the left, the others on the right. */
static json_t *arranged(const struct layout *l) {
    if (!l->pictures || l->n == 0) {
        return l->n > 0 ? stacked(l, 0) : json_string(SCENE_ID);
    }
    return json_pack("{s:s, s:s, s:o, s:f}", "direction", "row", "first", SCENE_ID, "second", stacked(l, 0),
                     "splitPercentage", 62.0);
}

static json_t *layout_of(const struct reel_view *view, const struct reel_stream *stream, const struct viewer_fit *fit) {
    struct layout l = {.configs = json_object(), .drawn = json_object(), .fit = *fit};
    const char *shown = stream->n_channels > 0 ? stream->channels[0]->name : "";
    for (uint32_t i = 0; i < stream->n_channels; i++) {
        viewer_add_channel(&l, view, stream->channels[i]);
    }
    for (uint32_t i = stream->n_channels; i-- > 0;) { /* backwards: the channels that the view adds for plotting come
                                                         last */
        add_plot(&l, stream->channels[i]);
        shown = viewer_is_read(stream->channels[i]) ? stream->channels[i]->name : shown;
    }
    if (l.pictures) {
        add_scene(&l);
    } else if (l.n == 0) {
        add_panel(&l, "RawMessages", shown, json_pack("{s:s}", "topicPath", shown));
    }
    json_decref(l.drawn);
    return json_pack("{s:o, s:{}, s:{}, s:{s:f}, s:o}", "configById", l.configs, "globalVariables", "userNodes",
                     "playbackConfig", "speed", 1.0, "layout", arranged(&l));
}

void api_layout(struct http_request *r) {
    struct api_recording a;
    struct reel_error err = {0};
    if (!api_open_messages(r, &a)) {
        return;
    }
    struct reel_selection all = selection_all;
    all.view = reel_view_named("foxglove", &err);
    const struct reel_writer *mcap = reel_writer_named(".mcap", NULL, &err);
    AUTO(reel_stream_free)
    struct reel_stream *stream = all.view && mcap ? reel_writer_stream(mcap, &a.recording, 1, &all, &err) : NULL;
    struct viewer_fit fit;
    if (stream && viewer_fit(a.recording, all.view, &fit, &err)) {
        http_reply_json(r, 200, layout_of(all.view, stream, &fit));
    } else {
        http_reply_error(r, &err);
    }
    api_recording_done(&a);
}

/* Of recordings as MCAP files with ranges, in the form that Foxglove's remote data loader asks for. */
void api_manifest(struct http_request *r) {
    const char *keys[SOURCES_MAX];
    size_t n = http_params(r, "recording", keys, SOURCES_MAX);
    json_t *sources = json_array(), *name = NULL;
    for (size_t i = 0; i < n; i++) {
        struct api_recording a;
        if (!api_find_key(r, keys[i], &a)) {
            json_decref(sources);
            json_decref(name);
            return;
        }
        AUTO_MEM char *url = viewer_mcap_address(r, &a.row);
        json_array_append_new(sources, json_pack("{s:s, s:b}", "url", url ? url : "", "supportsRangeRequests", 1));
        name = name ? name : json_string(a.row.name);
        api_recording_done(&a);
    }
    http_reply_json(r, 200, json_pack("{s:o, s:o}", "name", name, "sources", sources));
}
