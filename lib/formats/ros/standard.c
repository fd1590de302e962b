/* See standard.h. */
#include "formats/ros/standard.h"

#include <stdlib.h>

#include "base/bytes.h"
#include "base/cleanup.h"
#include "base/grow.h"
#include "formats/ros/definition_link.h"
#include "formats/ros/definition_text.h"

static int compare_texts(const void *name, const void *item) {
    return strcmp(name, ((const struct ros_standard_text *)item)->name);
}
static const char *ros_text_of(const char *name, const struct ros_standard_text *texts, size_t n) {
    const struct ros_standard_text *found = bsearch(name, texts, n, sizeof *texts, compare_texts);
    return found ? found->text : NULL;
}
const char *ros2_standard_text(const char *name) {
    return ros_text_of(name, ros2_texts, ros2_texts_count);
}
const char *ros1_standard_text(const char *name) {
    return ros_text_of(name, ros1_texts, ros1_texts_count);
}

/* ---- all of them */

static void list_types(struct grow *out) {
    for (size_t i = 0; i < ros2_texts_count; i++) {
        grow_text(out, ros2_texts[i].name);
        grow_text(out, " a\n");
    }
    for (size_t i = 0; i < ros2_texts_count; i++) {
        grow_text(out, "===\nMSG: ");
        grow_text(out, ros2_texts[i].name);
        grow_text(out, "\n");
        grow_text(out, ros2_texts[i].text);
    }
}

struct ros_definition *ros2_standard_types(struct reel_error *err) {
    static const char top[] = "reel/Standard";
    AUTO(ros_definition_free) struct ros_definition *d = calloc(1, sizeof *d);
    struct grow text = {0};
    list_types(&text);
    bool good = d && !text.failed;
    if (good) {
        d->dialect = ROS_2;
        good = ros_definition_read_text(d, top, false, bytes_of(text.data, text.size), err) &&
               ros_definition_link(d, top, err);
    } else {
        reel_fail_memory(err);
    }
    free(text.data);
    return good ? TAKE(d) : NULL;
}

/* ---- names */

static const struct {
    const char *ros1, *ros2;
    bool both; /* the way back too */
} renamed[] = {
    {"rosgraph_msgs/Log", "rcl_interfaces/Log", true},
    {"uuid_msgs/UniqueID", "unique_identifier_msgs/UUID", true},
    {"std_msgs/Time", "builtin_interfaces/Time", true},
    {"std_msgs/Duration", "builtin_interfaces/Duration", true},
    {"tf/tfMessage", "tf2_msgs/TFMessage", false},
    /* packages of 2009 */
    {"roslib/Header", "std_msgs/Header", false},
    {"roslib/Clock", "rosgraph_msgs/Clock", false},
    {"roslib/Log", "rcl_interfaces/Log", false},
    {"rostools/Header", "std_msgs/Header", false},
    {"rostools/Clock", "rosgraph_msgs/Clock", false},
    {"rostools/Log", "rcl_interfaces/Log", false},
    {"robot_msgs/Point", "geometry_msgs/Point", false},
    {"robot_msgs/Point32", "geometry_msgs/Point32", false},
    {"robot_msgs/Vector3", "geometry_msgs/Vector3", false},
    {"robot_msgs/Quaternion", "geometry_msgs/Quaternion", false},
    {"robot_msgs/Pose", "geometry_msgs/Pose", false},
    {"robot_msgs/Transform", "geometry_msgs/Transform", false},
    {"robot_msgs/PointStamped", "geometry_msgs/PointStamped", false},
    {"robot_msgs/Vector3Stamped", "geometry_msgs/Vector3Stamped", false},
    {"robot_msgs/QuaternionStamped", "geometry_msgs/QuaternionStamped", false},
    {"robot_msgs/PoseStamped", "geometry_msgs/PoseStamped", false},
    {"robot_msgs/TransformStamped", "geometry_msgs/TransformStamped", false},
    {"robot_msgs/PointCloud", "sensor_msgs/PointCloud", false},
    {"robot_msgs/ChannelFloat32", "sensor_msgs/ChannelFloat32", false},
    {"robot_msgs/DiagnosticMessage", "diagnostic_msgs/DiagnosticArray", false},
    {"robot_msgs/DiagnosticStatus", "diagnostic_msgs/DiagnosticStatus", false},
    {"laser_scan/LaserScan", "sensor_msgs/LaserScan", false},
    {"image_msgs/CamInfo", "sensor_msgs/CameraInfo", false},
};

const char *ros2_standard_name(const char *name) {
    for (size_t i = 0; i < sizeof renamed / sizeof *renamed; i++) {
        if (strcmp(name, renamed[i].ros1) == 0) {
            return renamed[i].ros2;
        }
    }
    const struct ros_standard_text *found =
        bsearch(name, ros2_texts, ros2_texts_count, sizeof *ros2_texts, compare_texts);
    return found ? found->name : NULL;
}

const char *ros1_standard_name(const char *name) {
    for (size_t i = 0; i < sizeof renamed / sizeof *renamed; i++) {
        if (renamed[i].both && strcmp(name, renamed[i].ros2) == 0) {
            return renamed[i].ros1;
        }
    }
    return name;
}

/* ---- fields */

const char *ros_old_field(const char *type, struct reel_bytes field) {
    static const struct {
        const char *type, *field, *old;
    } known[] = {
        {"rcl_interfaces/Log", "stamp", "header"}, /* whose stamp it is */
        {"sensor_msgs/PointCloud", "points", "pts"},
        {"sensor_msgs/PointCloud", "channels", "chan"},
        {"sensor_msgs/ChannelFloat32", "values", "vals"},
        {"sensor_msgs/Image", "height", "rows"},
        {"sensor_msgs/Image", "width", "cols"},
        {"geometry_msgs/PointStamped", "point", "data"},
        {"geometry_msgs/Vector3Stamped", "vector", "data"},
        {"geometry_msgs/QuaternionStamped", "quaternion", "data"},
        {"geometry_msgs/PoseStamped", "pose", "data"},
        {"geometry_msgs/PoseWithCovarianceStamped", "pose", "data"},
        {"geometry_msgs/TransformStamped", "transform", "data"},
        {"geometry_msgs/TwistStamped", "twist", "data"},
        {"geometry_msgs/WrenchStamped", "wrench", "data"},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (strcmp(type, known[i].type) == 0 && bytes_is(field, known[i].field)) {
            return known[i].old;
        }
    }
    return NULL;
}

const struct ros_optional *ros_optional_field(const char *type, struct reel_bytes field, bool in_ros2) {
    static const struct ros_optional known[] = {
        {"std_msgs/Header", "seq", false, NULL, NULL},
        {"rcl_interfaces/Log", "topics", false, NULL, NULL},
        {"geometry_msgs/TransformStamped", "seq", false, NULL, NULL}, /* of its header: relay_fields.c */
        {"sensor_msgs/Range", "variance", true, NULL, NULL},
        {"shape_msgs/SolidPrimitive", "polygon", true, NULL, NULL},
        {"visualization_msgs/Marker", "texture_resource", true, NULL, NULL},
        {"visualization_msgs/Marker", "texture", true, NULL, NULL},
        {"visualization_msgs/Marker", "uv_coordinates", true, NULL, NULL},
        {"visualization_msgs/Marker", "mesh_file", true, NULL, NULL},
        /* of definitions from before 2010 */
        {"visualization_msgs/Marker", "frame_locked", true, NULL, NULL},
        {"visualization_msgs/Marker", "colors", true, NULL, NULL},
        {"visualization_msgs/Marker", "text", true, NULL, NULL},
        {"visualization_msgs/Marker", "mesh_resource", true, NULL, NULL},
        {"visualization_msgs/Marker", "mesh_use_embedded_materials", true, NULL, NULL},
        {"sensor_msgs/CameraInfo", "distortion_model", true, "plumb_bob", NULL},
        {"sensor_msgs/CameraInfo", "binning_x", true, NULL, NULL},
        {"sensor_msgs/CameraInfo", "binning_y", true, NULL, NULL},
        {"sensor_msgs/CameraInfo", "roi", true, NULL, NULL},
        {"sensor_msgs/RegionOfInterest", "do_rectify", true, NULL, NULL},
        {"sensor_msgs/PointField", "count", true, NULL, "\1\0\0\0"},
        {"sensor_msgs/BatteryState", "temperature", true, NULL, "\0\0\xc0\x7f"}, /* NaN */
        {"sensor_msgs/BatteryState", "cell_temperature", true, NULL, NULL},
        {"nav_msgs/OccupancyGrid", "header", true, NULL, NULL},
        {"nav_msgs/Odometry", "child_frame_id", true, NULL, NULL},
        {"nav_msgs/Path", "header", true, NULL, NULL},
        {"trajectory_msgs/JointTrajectoryPoint", "effort", true, NULL, NULL},
        {"diagnostic_msgs/DiagnosticStatus", "hardware_id", true, NULL, NULL},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (known[i].in_ros2 == in_ros2 && strcmp(type, known[i].type) == 0 && bytes_is(field, known[i].field)) {
            return &known[i];
        }
    }
    return NULL;
}
