/* JSON Schemas of the generated messages, using only what viewers support: one type each, no references, no nested
 * lists. */
#include "formats/foxglove/view.h"

#define NUMBER "{\"type\":\"number\"}"
#define WHOLE "{\"type\":\"integer\"}"
#define TEXT "{\"type\":\"string\"}"
#define YES_NO "{\"type\":\"boolean\"}"
#define BYTES "{\"type\":\"string\",\"contentEncoding\":\"base64\"}"
#define P(name, schema) "\"" name "\":" schema
#define MAP(title, members, needed)                                                                                    \
    "{\"title\":\"" title "\",\"type\":\"object\",\"properties\":{" members "},\"required\":[" needed "]}"
#define LIST(of) "{\"type\":\"array\",\"items\":" of "}"
#define Q(name) "\"" name "\""

#define TIME MAP("time", P("sec", WHOLE) "," P("nsec", WHOLE), Q("sec") "," Q("nsec"))
#define DURATION MAP("duration", P("sec", WHOLE) "," P("nsec", WHOLE), Q("sec") "," Q("nsec"))
#define XYZ(title) MAP(title, P("x", NUMBER) "," P("y", NUMBER) "," P("z", NUMBER), Q("x") "," Q("y") "," Q("z"))
#define VECTOR XYZ("foxglove.Vector3")
#define POINT XYZ("foxglove.Point3")
#define QUATERNION                                                                                                     \
    MAP("foxglove.Quaternion", P("x", NUMBER) "," P("y", NUMBER) "," P("z", NUMBER) "," P("w", NUMBER),                \
        Q("x") "," Q("y") "," Q("z") "," Q("w"))
#define POSE                                                                                                           \
    MAP("foxglove.Pose", P("position", VECTOR) "," P("orientation", QUATERNION), Q("position") "," Q("orientation"))
#define COLOR                                                                                                          \
    MAP("foxglove.Color", P("r", NUMBER) "," P("g", NUMBER) "," P("b", NUMBER) "," P("a", NUMBER),                     \
        Q("r") "," Q("g") "," Q("b") "," Q("a"))

#define PAIR MAP("foxglove.KeyValuePair", P("key", TEXT) "," P("value", TEXT), Q("key") "," Q("value"))
#define DELETION                                                                                                       \
    MAP("foxglove.SceneEntityDeletion", P("timestamp", TIME) "," P("type", WHOLE) "," P("id", TEXT),                   \
        Q("timestamp") "," Q("type") "," Q("id"))
#define BODY(title)                                                                                                    \
    MAP(title, P("pose", POSE) "," P("size", VECTOR) "," P("color", COLOR), Q("pose") "," Q("size") "," Q("color"))
#define LINE                                                                                                           \
    MAP("foxglove.LinePrimitive",                                                                                      \
        P("type", WHOLE) "," P("pose", POSE) "," P("thickness", NUMBER) "," P("scale_invariant", YES_NO) "," P(        \
            "points", LIST(POINT)) "," P("color", COLOR) "," P("colors", LIST(COLOR)) "," P("indices", LIST(WHOLE)),   \
        Q("type") "," Q("points") "," Q("color"))
/* Members that are never filled only need to be declared as lists. */
#define NONE LIST("{\"type\":\"object\",\"properties\":{}}")
#define ENTITY                                                                                                                                                               \
    MAP("foxglove.SceneEntity",                                                                                                                                              \
        P("timestamp", TIME) "," P("frame_id", TEXT) "," P("id", TEXT) "," P("lifetime", DURATION) "," P(                                                                    \
            "frame_locked",                                                                                                                                                  \
            YES_NO) "," P("metadata",                                                                                                                                        \
                          LIST(                                                                                                                                              \
                              PAIR)) "," P("arrows",                                                                                                                         \
                                           NONE) "," P("cubes",                                                                                                              \
                                                       LIST(BODY(                                                                                                            \
                                                           "foxglove.CubePrimitive"))) "," P("spheres",                                                                      \
                                                                                             LIST(BODY(                                                                      \
                                                                                                 "foxglove."                                                                 \
                                                                                                 "SpherePrimitiv"                                                            \
                                                                                                 "e"))) "," P("cy"                                                           \
                                                                                                              "li"                                                           \
                                                                                                              "nd"                                                           \
                                                                                                              "er"                                                           \
                                                                                                              "s",                                                           \
                                                                                                              NONE) "," P("line"                                             \
                                                                                                                          "s",                                               \
                                                                                                                          LIST(                                              \
                                                                                                                              LINE)) "," P("triangles",                      \
                                                                                                                                           NONE) "," P("texts",              \
                                                                                                                                                       NONE) "," P("models", \
                                                                                                                                                                   NONE),    \
        Q("timestamp") "," Q("frame_id") "," Q("id") "," Q("lifetime") "," Q("frame_locked") "," Q("metadata") "," Q("arrows") "," Q(                                        \
            "cubes") "," Q("spheres") "," Q("cylinders") "," Q("lines") "," Q("triangles") "," Q("texts") "," Q("mode"                                                       \
                                                                                                                "ls"))
const struct view_schema view_schema_scene = {
    "foxglove.SceneUpdate", MAP("foxglove.SceneUpdate", P("deletions", LIST(DELETION)) "," P("entities", LIST(ENTITY)),
                                Q("deletions") "," Q("entities"))};

#define TRANSFORM                                                                                                      \
    MAP("foxglove.FrameTransform",                                                                                     \
        P("timestamp", TIME) "," P("parent_frame_id", TEXT) "," P("child_frame_id", TEXT) "," P(                       \
            "translation", VECTOR) "," P("rotation", QUATERNION),                                                      \
        Q("timestamp") "," Q("parent_frame_id") "," Q("child_frame_id") "," Q("translation") "," Q("rotation"))
const struct view_schema view_schema_transforms = {
    "foxglove.FrameTransforms", MAP("foxglove.FrameTransforms", P("transforms", LIST(TRANSFORM)), Q("transforms"))};

const struct view_schema view_schema_poses = {
    "foxglove.PosesInFrame",
    MAP("foxglove.PosesInFrame", P("timestamp", TIME) "," P("frame_id", TEXT) "," P("poses", LIST(POSE)),
        Q("timestamp") "," Q("frame_id") "," Q("poses"))};

#define FIELD                                                                                                          \
    MAP("foxglove.PackedElementField", P("name", TEXT) "," P("offset", WHOLE) "," P("type", WHOLE),                    \
        Q("name") "," Q("offset") "," Q("type"))
const struct view_schema view_schema_cloud = {
    "foxglove.PointCloud",
    MAP("foxglove.PointCloud",
        P("timestamp", TIME) "," P("frame_id", TEXT) "," P("pose", POSE) "," P("point_stride", WHOLE) "," P(
            "fields", LIST(FIELD)) "," P("data", BYTES),
        Q("timestamp") "," Q("frame_id") "," Q("pose") "," Q("point_stride") "," Q("fields") "," Q("data"))};

const struct view_schema view_schema_log = {
    "foxglove.Log", MAP("foxglove.Log",
                        P("timestamp", TIME) "," P("level", WHOLE) "," P("message", TEXT) "," P("name", TEXT) "," P(
                            "file", TEXT) "," P("line", WHOLE),
                        Q("timestamp") "," Q("level") "," Q("message") "," Q("name") "," Q("file") "," Q("line"))};

const struct view_schema view_schema_ego = {
    "reel.CarlaEgo",
    MAP("reel.CarlaEgo",
        P("id", WHOLE) "," P("speed", NUMBER) "," P("throttle", NUMBER) "," P("brake", NUMBER) "," P("steering", NUMBER) "," P(
            "gear",
            WHOLE) "," P("handbrake",
                         YES_NO) "," P("x",
                                       NUMBER) "," P("y",
                                                     NUMBER) "," P("z",
                                                                   NUMBER) "," P("roll",
                                                                                 NUMBER) "," P("pitch",
                                                                                               NUMBER) "," P("yaw",
                                                                                                             NUMBER),
        Q("id") "," Q("x") "," Q("y") "," Q("z"))};

const struct view_schema view_schema_energies = {
    "reel.NanoverEnergies",
    MAP("reel.NanoverEnergies",
        P("kinetic", NUMBER) "," P("potential", NUMBER) "," P("user", NUMBER) "," P("total", NUMBER) "," P(
            "work_done", NUMBER) "," P("temperature", NUMBER) "," P("simulation_time", NUMBER),
        "")};

const struct view_schema view_schema_raw_image = {
    "foxglove.RawImage",
    MAP("foxglove.RawImage",
        P("timestamp", TIME) "," P("frame_id", TEXT) "," P("width", WHOLE) "," P("height", WHOLE) "," P(
            "encoding", TEXT) "," P("step", WHOLE) "," P("data", BYTES),
        Q("timestamp") "," Q("frame_id") "," Q("width") "," Q("height") "," Q("encoding") "," Q("step") "," Q("data"))};

const struct view_schema view_schema_compressed_image = {
    "foxglove.CompressedImage",
    MAP("foxglove.CompressedImage",
        P("timestamp", TIME) "," P("frame_id", TEXT) "," P("data", BYTES) "," P("format", TEXT),
        Q("timestamp") "," Q("frame_id") "," Q("data") "," Q("format"))};

const struct view_schema view_schema_scan = {
    "foxglove.LaserScan",
    MAP("foxglove.LaserScan",
        P("timestamp", TIME) "," P("frame_id", TEXT) "," P("pose", POSE) "," P("start_angle", NUMBER) "," P(
            "end_angle", NUMBER) "," P("ranges", LIST(NUMBER)) "," P("intensities", LIST(NUMBER)),
        Q("timestamp") "," Q("frame_id") "," Q("pose") "," Q("start_angle") "," Q("end_angle") "," Q("ranges") "," Q(
            "intensities"))};
