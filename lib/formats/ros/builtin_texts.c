/* The texts of builtin.h that standard_texts.c does not have: fields and constants, sorted by name. */
#include "formats/ros/builtin.h"

const struct ros_standard_text ros2_more_texts[] = {
    {"action_msgs/GoalInfo", "unique_identifier_msgs/UUID goal_id\nbuiltin_interfaces/Time stamp\n"},
    {"action_msgs/GoalStatus",
     "int8 STATUS_UNKNOWN=0\nint8 STATUS_ACCEPTED=1\nint8 STATUS_EXECUTING=2\nint8 STATUS_CANCELING=3\nint8 "
     "STATUS_SUCCEEDED=4\nint8 STATUS_CANCELED=5\nint8 STATUS_ABORTED=6\nGoalInfo goal_info\nint8 status\n"},
    {"action_msgs/GoalStatusArray", "GoalStatus[] status_list\n"},
    {"action_msgs/srv/CancelGoal",
     "GoalInfo goal_info\n---\nint8 ERROR_NONE=0\nint8 ERROR_REJECTED=1\nint8 ERROR_UNKNOWN_GOAL_ID=2\nint8 "
     "ERROR_GOAL_TERMINATED=3\nint8 return_code\nGoalInfo[] goals_canceling\n"},
    {"geometry_msgs/PolygonInstance", "Polygon polygon\nint64 id\n"},
    {"geometry_msgs/PolygonInstanceStamped", "std_msgs/Header header\nPolygonInstance polygon\n"},
    {"geometry_msgs/VelocityStamped",
     "std_msgs/Header header\nstring body_frame_id\nstring reference_frame_id\nTwist velocity\n"},
    {"lifecycle_msgs/State",
     "uint8 PRIMARY_STATE_UNKNOWN=0\nuint8 PRIMARY_STATE_UNCONFIGURED=1\nuint8 PRIMARY_STATE_INACTIVE=2\nuint8 "
     "PRIMARY_STATE_ACTIVE=3\nuint8 PRIMARY_STATE_FINALIZED=4\nuint8 id\nstring label\n"},
    {"lifecycle_msgs/Transition", "uint8 id\nstring label\n"},
    {"lifecycle_msgs/TransitionDescription", "Transition transition\nState start_state\nState goal_state\n"},
    {"lifecycle_msgs/TransitionEvent",
     "uint64 timestamp\nTransition transition\nState start_state\nState goal_state\n"},
    {"map_msgs/OccupancyGridUpdate",
     "std_msgs/Header header\nint32 x\nint32 y\nuint32 width\nuint32 height\nint8[] data\n"},
    {"map_msgs/PointCloud2Update",
     "uint32 ADD=0\nuint32 DELETE=1\nstd_msgs/Header header\nuint32 type\nsensor_msgs/PointCloud2 points\n"},
    {"map_msgs/ProjectedMap", "nav_msgs/OccupancyGrid map\nfloat64 min_z\nfloat64 max_z\n"},
    {"map_msgs/ProjectedMapInfo",
     "string frame_id\nfloat64 x\nfloat64 y\nfloat64 width\nfloat64 height\nfloat64 min_z\nfloat64 max_z\n"},
    {"nav_msgs/Goals", "std_msgs/Header header\ngeometry_msgs/PoseStamped[] goals\n"},
    {"nav_msgs/GridCells",
     "std_msgs/Header header\nfloat32 cell_width\nfloat32 cell_height\ngeometry_msgs/Point[] cells\n"},
    {"rcl_interfaces/FloatingPointRange", "float64 from_value\nfloat64 to_value\nfloat64 step\n"},
    {"rcl_interfaces/IntegerRange", "int64 from_value\nint64 to_value\nuint64 step\n"},
    {"rcl_interfaces/ListParametersResult", "string[] names\nstring[] prefixes\n"},
    {"rcl_interfaces/Parameter", "string name\nParameterValue value\n"},
    {"rcl_interfaces/ParameterDescriptor",
     "string name\nuint8 type\nstring description\nstring additional_constraints\nbool read_only false\nbool "
     "dynamic_typing false\nFloatingPointRange[<=1] floating_point_range\nIntegerRange[<=1] integer_range\n"},
    {"rcl_interfaces/ParameterEvent",
     "builtin_interfaces/Time stamp\nstring node\nParameter[] new_parameters\nParameter[] "
     "changed_parameters\nParameter[] deleted_parameters\n"},
    {"rcl_interfaces/ParameterEventDescriptors", "ParameterDescriptor[] new_parameters\nParameterDescriptor[] "
                                                 "changed_parameters\nParameterDescriptor[] deleted_parameters\n"},
    {"rcl_interfaces/ParameterType",
     "uint8 PARAMETER_NOT_SET=0\nuint8 PARAMETER_BOOL=1\nuint8 PARAMETER_INTEGER=2\nuint8 PARAMETER_DOUBLE=3\nuint8 "
     "PARAMETER_STRING=4\nuint8 PARAMETER_BYTE_ARRAY=5\nuint8 PARAMETER_BOOL_ARRAY=6\nuint8 "
     "PARAMETER_INTEGER_ARRAY=7\nuint8 PARAMETER_DOUBLE_ARRAY=8\nuint8 PARAMETER_STRING_ARRAY=9\n"},
    {"rcl_interfaces/ParameterValue",
     "uint8 type\nbool bool_value\nint64 integer_value\nfloat64 double_value\nstring string_value\nbyte[] "
     "byte_array_value\nbool[] bool_array_value\nint64[] integer_array_value\nfloat64[] double_array_value\nstring[] "
     "string_array_value\n"},
    {"rcl_interfaces/SetParametersResult", "bool successful\nstring reason\n"},
    {"rcl_interfaces/srv/DescribeParameters", "string[] names\n---\nParameterDescriptor[] descriptors\n"},
    {"rcl_interfaces/srv/GetParameterTypes", "string[] names\n---\nuint8[] types\n"},
    {"rcl_interfaces/srv/GetParameters", "string[] names\n---\nParameterValue[] values\n"},
    {"rcl_interfaces/srv/ListParameters",
     "uint64 DEPTH_RECURSIVE=0\nstring[] prefixes\nuint64 depth\n---\nListParametersResult result\n"},
    {"rcl_interfaces/srv/SetParameters", "Parameter[] parameters\n---\nSetParametersResult[] results\n"},
    {"rcl_interfaces/srv/SetParametersAtomically", "Parameter[] parameters\n---\nSetParametersResult result\n"},
    {"sensor_msgs/ChannelFloat32", "string name\nfloat32[] values\n"},
    {"sensor_msgs/PointCloud", "std_msgs/Header header\ngeometry_msgs/Point32[] points\nChannelFloat32[] channels\n"},
    {"service_msgs/ServiceEventInfo",
     "uint8 REQUEST_SENT=0\nuint8 REQUEST_RECEIVED=1\nuint8 RESPONSE_SENT=2\nuint8 RESPONSE_RECEIVED=3\nuint8 "
     "event_type\nbuiltin_interfaces/Time stamp\nchar[16] client_gid\nint64 sequence_number\n"},
    {"statistics_msgs/MetricsMessage",
     "string measurement_source_name\nstring metrics_source\nstring unit\nbuiltin_interfaces/Time "
     "window_start\nbuiltin_interfaces/Time window_stop\nStatisticDataPoint[] statistics\n"},
    {"statistics_msgs/StatisticDataPoint", "uint8 data_type\nfloat64 data\n"},
    {"std_srvs/srv/Empty", "---\n"},
    {"std_srvs/srv/SetBool", "bool data\n---\nbool success\nstring message\n"},
    {"std_srvs/srv/Trigger", "---\nbool success\nstring message\n"},
    {"test_msgs/BasicTypes",
     "bool bool_value\nbyte byte_value\nchar char_value\nfloat32 float32_value\nfloat64 float64_value\nint8 "
     "int8_value\nuint8 uint8_value\nint16 int16_value\nuint16 uint16_value\nint32 int32_value\nuint32 "
     "uint32_value\nint64 int64_value\nuint64 uint64_value\n"},
    {"test_msgs/Builtins", "builtin_interfaces/Duration duration_value\nbuiltin_interfaces/Time time_value\n"},
    {"test_msgs/Empty", ""},
    {"test_msgs/Nested", "BasicTypes basic_types_value\n"},
    {"test_msgs/Strings",
     "string string_value\nstring string_value_default1\nstring string_value_default2\nstring "
     "string_value_default3\nstring string_value_default4\nstring string_value_default5\nstring<=22 "
     "bounded_string_value\nstring<=22 bounded_string_value_default1\nstring<=22 "
     "bounded_string_value_default2\nstring<=22 bounded_string_value_default3\nstring<=22 "
     "bounded_string_value_default4\nstring<=22 bounded_string_value_default5\n"},
    {"tf2_msgs/TF2Error",
     "uint8 NO_ERROR=0\nuint8 LOOKUP_ERROR=1\nuint8 CONNECTIVITY_ERROR=2\nuint8 EXTRAPOLATION_ERROR=3\nuint8 "
     "INVALID_ARGUMENT_ERROR=4\nuint8 TIMEOUT_ERROR=5\nuint8 TRANSFORM_ERROR=6\nuint8 error\nstring error_string\n"},
    {"turtlesim/Color", "uint8 r\nuint8 g\nuint8 b\n"},
    {"turtlesim/Pose", "float32 x\nfloat32 y\nfloat32 theta\nfloat32 linear_velocity\nfloat32 angular_velocity\n"},
    {"visualization_msgs/InteractiveMarkerFeedback",
     "uint8 KEEP_ALIVE=0\nuint8 POSE_UPDATE=1\nuint8 MENU_SELECT=2\nuint8 BUTTON_CLICK=3\nuint8 MOUSE_DOWN=4\nuint8 "
     "MOUSE_UP=5\nstd_msgs/Header header\nstring client_id\nstring marker_name\nstring control_name\nuint8 "
     "event_type\ngeometry_msgs/Pose pose\nuint32 menu_entry_id\ngeometry_msgs/Point mouse_point\nbool "
     "mouse_point_valid\n"},
    {"visualization_msgs/InteractiveMarkerInit", "string server_id\nuint64 seq_num\nInteractiveMarker[] markers\n"},
    {"visualization_msgs/InteractiveMarkerPose", "std_msgs/Header header\ngeometry_msgs/Pose pose\nstring name\n"},
    {"visualization_msgs/InteractiveMarkerUpdate",
     "uint8 KEEP_ALIVE=0\nuint8 UPDATE=1\nstring server_id\nuint64 seq_num\nuint8 type\nInteractiveMarker[] "
     "markers\nInteractiveMarkerPose[] poses\nstring[] erases\n"},
};
const size_t ros2_more_texts_count = sizeof ros2_more_texts / sizeof *ros2_more_texts;

const struct ros_standard_text ros1_more_texts[] = {
    {"dynamic_reconfigure/BoolParameter", "string name\nbool value\n"},
    {"dynamic_reconfigure/Config", "BoolParameter[] bools\nIntParameter[] ints\nStrParameter[] strs\nDoubleParameter[] "
                                   "doubles\nGroupState[] groups\n"},
    {"dynamic_reconfigure/ConfigDescription", "Group[] groups\nConfig max\nConfig min\nConfig dflt\n"},
    {"dynamic_reconfigure/DoubleParameter", "string name\nfloat64 value\n"},
    {"dynamic_reconfigure/Group", "string name\nstring type\nParamDescription[] parameters\nint32 parent\nint32 id\n"},
    {"dynamic_reconfigure/GroupState", "string name\nbool state\nint32 id\nint32 parent\n"},
    {"dynamic_reconfigure/IntParameter", "string name\nint32 value\n"},
    {"dynamic_reconfigure/ParamDescription",
     "string name\nstring type\nuint32 level\nstring description\nstring edit_method\n"},
    {"dynamic_reconfigure/StrParameter", "string name\nstring value\n"},
    {"rosgraph_msgs/TopicStatistics",
     "string topic\nstring node_pub\nstring node_sub\ntime window_start\ntime window_stop\nint32 delivered_msgs\nint32 "
     "dropped_msgs\nint32 traffic\nduration period_mean\nduration period_stddev\nduration period_max\nduration "
     "stamp_age_mean\nduration stamp_age_stddev\nduration stamp_age_max\n"},
    {"roslib/Clock", "time clock\n"},
    {"roslib/Header", "uint32 seq\ntime stamp\nstring frame_id\n"},
    {"std_msgs/Duration", "duration data\n"},
    {"std_msgs/Time", "time data\n"},
    {"tf/tfMessage", "geometry_msgs/TransformStamped[] transforms\n"},
    {"uuid_msgs/UniqueID", "uint8[16] uuid\n"},
};
const size_t ros1_more_texts_count = sizeof ros1_more_texts / sizeof *ros1_more_texts;

/* Layouts that a type had until a distribution. */
const struct ros_older_text ros2_older_texts[] = {
    {"rcl_interfaces/ParameterDescriptor",
     "string name\nuint8 type\nstring description\nstring additional_constraints\nbool read_only "
     "false\nFloatingPointRange[<=1] floating_point_range\nIntegerRange[<=1] integer_range\n",
     ROS_FOXY},
    {"sensor_msgs/Range",
     "std_msgs/Header header\nuint8 ULTRASOUND=0\nuint8 INFRARED=1\nuint8 radiation_type\nfloat32 "
     "field_of_view\nfloat32 min_range\nfloat32 max_range\nfloat32 range\n",
     ROS_HUMBLE},
    {"shape_msgs/SolidPrimitive",
     "uint8 BOX=1\nuint8 SPHERE=2\nuint8 CYLINDER=3\nuint8 CONE=4\nuint8 type\nfloat64[] dimensions\nuint8 "
     "BOX_X=0\nuint8 BOX_Y=1\nuint8 BOX_Z=2\nuint8 SPHERE_RADIUS=0\nuint8 CYLINDER_HEIGHT=0\nuint8 "
     "CYLINDER_RADIUS=1\nuint8 CONE_HEIGHT=0\nuint8 CONE_RADIUS=1\n",
     ROS_FOXY},
    {"visualization_msgs/Marker",
     "int32 ARROW=0\nint32 CUBE=1\nint32 SPHERE=2\nint32 CYLINDER=3\nint32 LINE_STRIP=4\nint32 LINE_LIST=5\nint32 "
     "CUBE_LIST=6\nint32 SPHERE_LIST=7\nint32 POINTS=8\nint32 TEXT_VIEW_FACING=9\nint32 MESH_RESOURCE=10\nint32 "
     "TRIANGLE_LIST=11\nint32 ADD=0\nint32 MODIFY=0\nint32 DELETE=2\nint32 DELETEALL=3\nstd_msgs/Header header\nstring "
     "ns\nint32 id\nint32 type\nint32 action\ngeometry_msgs/Pose pose\ngeometry_msgs/Vector3 scale\nstd_msgs/ColorRGBA "
     "color\nbuiltin_interfaces/Duration lifetime\nbool frame_locked\ngeometry_msgs/Point[] "
     "points\nstd_msgs/ColorRGBA[] colors\nstring text\nstring mesh_resource\nbool mesh_use_embedded_materials\n",
     ROS_FOXY},
};
const size_t ros2_older_texts_count = sizeof ros2_older_texts / sizeof *ros2_older_texts;
