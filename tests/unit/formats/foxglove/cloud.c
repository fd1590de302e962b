/* Point clouds of old ROS as those that viewers draw. */
#include "base/cleanup.h"
#include "makers/bag_scan.h"
#include "makers/hex.h"
#include "makers/view_check.h"

#define LINE "================================================================================\n"
#define TYPES                                                                                                          \
    LINE "MSG: roslib/Header\nuint32 seq\ntime stamp\nstring frame_id\n" LINE                                          \
         "MSG: geometry_msgs/Point32\nfloat32 x\nfloat32 y\nfloat32 z\n"
#define NEW                                                                                                            \
    "Header header\ngeometry_msgs/Point32[] points\nChannelFloat32[] channels\n" TYPES LINE                            \
    "MSG: sensor_msgs/ChannelFloat32\nstring name\nfloat32[] values\n"
#define OLD                                                                                                            \
    "Header header\nPoint32[] pts\nChannelFloat32[] chan\n" LINE                                                       \
    "MSG: roslib/Header\nuint32 seq\ntime stamp\nstring frame_id\n" LINE                                               \
    "MSG: std_msgs/Point32\nfloat32 x\nfloat32 y\nfloat32 z\n" LINE                                                    \
    "MSG: std_msgs/ChannelFloat32\nstring name\nfloat32[] vals\n"
#define HEAD "01000000 02000000 03000000 04000000 'base' "
#define ONE "0000803f "
#define TWO "00000040 "

static void add(struct maker *m, const char *topic, const char *type, const char *def, uint32_t sec,
                const char *payload) {
    struct reel_bytes data = hex(payload);
    if (def) {
        make_definition_of(m, topic, MAKE_MD5, type, def);
    }
    make_message_of(m, topic, MAKE_MD5, type, NULL, sec, 0, data.data, data.size);
}

static struct reel_recording *made(struct maker *m) {
    make_text(m, "#ROSRECORD V1.2\n");
    make_file_header(m, 0, 16);
    add(m, "/cloud", "sensor_msgs/PointCloud", NEW, 10,
        HEAD "02000000" ONE TWO ONE TWO ONE TWO "03000000  03000000 'int' 02000000" ONE TWO "01000000 'x' 01000000" ONE
             "02000000 'no' 00000000");
    add(m, "old", "std_msgs/PointCloud", OLD, 11, HEAD "01000000" TWO TWO TWO "00000000");
    add(m, "/cloud", "sensor_msgs/PointCloud", NULL, 12, HEAD "00000000 00000000");
    add(m, "/cloud", "sensor_msgs/PointCloud", NULL, 13, HEAD "05000000 00"); /* it ends early */
    add(m, "/broken", "sensor_msgs/PointCloud", "Nowhere[] points\n", 14, "00000000");
    return bag_scan(m);
}

static void places_and_channels_are_interleaved(void **state) {
    (void)state;
    struct maker m = {0};
    AUTO(reel_recording_free) struct reel_recording *r = made(&m);
    struct reel_selection q = view_all();
    VIEW_LIST l = view_list_of(r, &q);
    assert_int_equal(view_count(&l, "/view/cloud"), 2);
    assert_int_equal(view_count(&l, "/cloud"), 3);
    assert_string_equal(
        view_text(&l, "/view/cloud", 0),
        "{\"timestamp\":{\"sec\":2,\"nsec\":3},\"frame_id\":\"base\",\"pose\":{\"position\":{\"x\":0,\"y\":0,\"z\":0},"
        "\"orientation\":{\"x\":0,\"y\":0,\"z\":0,\"w\":1}},\"fields\":[{\"name\":\"x\",\"offset\":0,\"type\":7},"
        "{\"name\":\"y\",\"offset\":4,\"type\":7},{\"name\":\"z\",\"offset\":8,\"type\":7},{\"name\":\"int\","
        "\"offset\":12,\"type\":7}],"
        "\"point_stride\":16,\"data\":\"AACAPwAAAEAAAIA/AACAPwAAAEAAAIA/AAAAQAAAAEA=\"}"); /* 1 2 1 1, 2 1 2 2 */
    assert_view_has(&l, "/view/cloud", 1, "\"data\":\"\"}");
    assert_view_has(&l, "/view/old", 0, "\"point_stride\":12,\"data\":\"AAAAQAAAAEAAAABA\"}");
    assert_int_equal(view_count(&l, "/view/broken"), 0);
    view_check(r, &q);
    free(m.data);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(places_and_channels_are_interleaved)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
