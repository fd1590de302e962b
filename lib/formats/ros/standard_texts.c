/* The texts of standard.h: fields and constants in order, sorted by name. */
#include "formats/ros/standard.h"

const struct ros_standard_text ros2_texts[] = {
    {"actionlib_msgs/GoalID", "builtin_interfaces/Time stamp\nstring id\n"},
    {"actionlib_msgs/GoalStatus",
     "GoalID goal_id\nuint8 status\nuint8 PENDING=0\nuint8 ACTIVE=1\nuint8 PREEMPTED=2\nuint8 SUCCEEDED=3\nuint8 "
     "ABORTED=4\nuint8 "
     "REJECTED=5\nuint8 PREEMPTING=6\nuint8 RECALLING=7\nuint8 RECALLED=8\nuint8 LOST=9\nstring text\n"},
    {"actionlib_msgs/GoalStatusArray", "std_msgs/Header header\nGoalStatus[] status_list\n"},
    {"builtin_interfaces/Duration", "int32 sec\nuint32 nanosec\n"},
    {"builtin_interfaces/Time", "int32 sec\nuint32 nanosec\n"},
    {"diagnostic_msgs/DiagnosticArray", "std_msgs/Header header\nDiagnosticStatus[] status\n"},
    {"diagnostic_msgs/DiagnosticStatus",
     "byte OK=0\nbyte WARN=1\nbyte ERROR=2\nbyte STALE=3\nbyte level\nstring name\nstring "
     "message\nstring hardware_id\nKeyValue[] values\n"},
    {"diagnostic_msgs/KeyValue", "string key\nstring value\n"},
    {"geometry_msgs/Accel", "Vector3 linear\nVector3 angular\n"},
    {"geometry_msgs/AccelStamped", "std_msgs/Header header\nAccel accel\n"},
    {"geometry_msgs/AccelWithCovariance", "Accel accel\nfloat64[36] covariance\n"},
    {"geometry_msgs/AccelWithCovarianceStamped", "std_msgs/Header header\nAccelWithCovariance accel\n"},
    {"geometry_msgs/Inertia",
     "float64 m\nVector3 com\nfloat64 ixx\nfloat64 ixy\nfloat64 ixz\nfloat64 iyy\nfloat64 iyz\nfloat64 izz\n"},
    {"geometry_msgs/InertiaStamped", "std_msgs/Header header\nInertia inertia\n"},
    {"geometry_msgs/Point", "float64 x\nfloat64 y\nfloat64 z\n"},
    {"geometry_msgs/Point32", "float32 x\nfloat32 y\nfloat32 z\n"},
    {"geometry_msgs/PointStamped", "std_msgs/Header header\nPoint point\n"},
    {"geometry_msgs/Polygon", "Point32[] points\n"},
    {"geometry_msgs/PolygonStamped", "std_msgs/Header header\nPolygon polygon\n"},
    {"geometry_msgs/Pose", "Point position\nQuaternion orientation\n"},
    {"geometry_msgs/PoseArray", "std_msgs/Header header\nPose[] poses\n"},
    {"geometry_msgs/PoseStamped", "std_msgs/Header header\nPose pose\n"},
    {"geometry_msgs/PoseWithCovariance", "Pose pose\nfloat64[36] covariance\n"},
    {"geometry_msgs/PoseWithCovarianceStamped", "std_msgs/Header header\nPoseWithCovariance pose\n"},
    {"geometry_msgs/Quaternion", "float64 x 0\nfloat64 y 0\nfloat64 z 0\nfloat64 w 1\n"},
    {"geometry_msgs/QuaternionStamped", "std_msgs/Header header\nQuaternion quaternion\n"},
    {"geometry_msgs/Transform", "Vector3 translation\nQuaternion rotation\n"},
    {"geometry_msgs/TransformStamped", "std_msgs/Header header\nstring child_frame_id\nTransform transform\n"},
    {"geometry_msgs/Twist", "Vector3 linear\nVector3 angular\n"},
    {"geometry_msgs/TwistStamped", "std_msgs/Header header\nTwist twist\n"},
    {"geometry_msgs/TwistWithCovariance", "Twist twist\nfloat64[36] covariance\n"},
    {"geometry_msgs/TwistWithCovarianceStamped", "std_msgs/Header header\nTwistWithCovariance twist\n"},
    {"geometry_msgs/Vector3", "float64 x\nfloat64 y\nfloat64 z\n"},
    {"geometry_msgs/Vector3Stamped", "std_msgs/Header header\nVector3 vector\n"},
    {"geometry_msgs/Wrench", "Vector3 force\nVector3 torque\n"},
    {"geometry_msgs/WrenchStamped", "std_msgs/Header header\nWrench wrench\n"},
    {"nav_msgs/MapMetaData", "builtin_interfaces/Time map_load_time\nfloat32 resolution\nuint32 width\nuint32 "
                             "height\ngeometry_msgs/Pose origin\n"},
    {"nav_msgs/OccupancyGrid", "std_msgs/Header header\nMapMetaData info\nint8[] data\n"},
    {"nav_msgs/Odometry", "std_msgs/Header header\nstring child_frame_id\ngeometry_msgs/PoseWithCovariance "
                          "pose\ngeometry_msgs/TwistWithCovariance twist\n"},
    {"nav_msgs/Path", "std_msgs/Header header\ngeometry_msgs/PoseStamped[] poses\n"},
    {"rcl_interfaces/Log",
     "uint8 DEBUG=10\nuint8 INFO=20\nuint8 WARN=30\nuint8 ERROR=40\nuint8 FATAL=50\nbuiltin_interfaces/Time "
     "stamp\nuint8 level\nstring name\nstring msg\nstring file\nstring function\nuint32 line\n"},
    {"rosgraph_msgs/Clock", "builtin_interfaces/Time clock\n"},
    {"sensor_msgs/BatteryState",
     "uint8 POWER_SUPPLY_STATUS_UNKNOWN=0\nuint8 POWER_SUPPLY_STATUS_CHARGING=1\nuint8 "
     "POWER_SUPPLY_STATUS_DISCHARGING=2\nuint8 "
     "POWER_SUPPLY_STATUS_NOT_CHARGING=3\nuint8 POWER_SUPPLY_STATUS_FULL=4\nuint8 POWER_SUPPLY_HEALTH_UNKNOWN=0\nuint8 "
     "POWER_SUPPLY_HEALTH_GOOD=1\nuint8 POWER_SUPPLY_HEALTH_OVERHEAT=2\nuint8 POWER_SUPPLY_HEALTH_DEAD=3\nuint8 "
     "POWER_SUPPLY_HEALTH_OVERVOLTAGE=4\nuint8 POWER_SUPPLY_HEALTH_UNSPEC_FAILURE=5\nuint8 "
     "POWER_SUPPLY_HEALTH_COLD=6\nuint8 "
     "POWER_SUPPLY_HEALTH_WATCHDOG_TIMER_EXPIRE=7\nuint8 POWER_SUPPLY_HEALTH_SAFETY_TIMER_EXPIRE=8\nuint8 "
     "POWER_SUPPLY_TECHNOLOGY_UNKNOWN=0\nuint8 POWER_SUPPLY_TECHNOLOGY_NIMH=1\nuint8 "
     "POWER_SUPPLY_TECHNOLOGY_LION=2\nuint8 "
     "POWER_SUPPLY_TECHNOLOGY_LIPO=3\nuint8 POWER_SUPPLY_TECHNOLOGY_LIFE=4\nuint8 "
     "POWER_SUPPLY_TECHNOLOGY_NICD=5\nuint8 "
     "POWER_SUPPLY_TECHNOLOGY_LIMN=6\nuint8 POWER_SUPPLY_TECHNOLOGY_TERNARY=7\nuint8 "
     "POWER_SUPPLY_TECHNOLOGY_VRLA=8\nstd_msgs/Header "
     "header\nfloat32 voltage\nfloat32 temperature\nfloat32 current\nfloat32 charge\nfloat32 capacity\nfloat32 "
     "design_capacity\nfloat32 "
     "percentage\nuint8 power_supply_status\nuint8 power_supply_health\nuint8 power_supply_technology\nbool "
     "present\nfloat32[] "
     "cell_voltage\nfloat32[] cell_temperature\nstring location\nstring serial_number\n"},
    {"sensor_msgs/CameraInfo",
     "std_msgs/Header header\nuint32 height\nuint32 width\nstring distortion_model\nfloat64[] d\nfloat64[9] "
     "k\nfloat64[9] r\nfloat64[12] p\nuint32 binning_x\nuint32 binning_y\nRegionOfInterest roi\n"},
    {"sensor_msgs/CompressedImage", "std_msgs/Header header\nstring format\nuint8[] data\n"},
    {"sensor_msgs/FluidPressure", "std_msgs/Header header\nfloat64 fluid_pressure\nfloat64 variance\n"},
    {"sensor_msgs/Illuminance", "std_msgs/Header header\nfloat64 illuminance\nfloat64 variance\n"},
    {"sensor_msgs/Image", "std_msgs/Header header\nuint32 height\nuint32 width\nstring encoding\nuint8 "
                          "is_bigendian\nuint32 step\nuint8[] data\n"},
    {"sensor_msgs/Imu",
     "std_msgs/Header header\ngeometry_msgs/Quaternion orientation\nfloat64[9] "
     "orientation_covariance\ngeometry_msgs/Vector3 "
     "angular_velocity\nfloat64[9] angular_velocity_covariance\ngeometry_msgs/Vector3 linear_acceleration\nfloat64[9] "
     "linear_acceleration_covariance\n"},
    {"sensor_msgs/JointState",
     "std_msgs/Header header\nstring[] name\nfloat64[] position\nfloat64[] velocity\nfloat64[] effort\n"},
    {"sensor_msgs/Joy", "std_msgs/Header header\nfloat32[] axes\nint32[] buttons\n"},
    {"sensor_msgs/JoyFeedback",
     "uint8 TYPE_LED=0\nuint8 TYPE_RUMBLE=1\nuint8 TYPE_BUZZER=2\nuint8 type\nuint8 id\nfloat32 intensity\n"},
    {"sensor_msgs/JoyFeedbackArray", "JoyFeedback[] array\n"},
    {"sensor_msgs/LaserEcho", "float32[] echoes\n"},
    {"sensor_msgs/LaserScan",
     "std_msgs/Header header\nfloat32 angle_min\nfloat32 angle_max\nfloat32 angle_increment\nfloat32 "
     "time_increment\nfloat32 "
     "scan_time\nfloat32 range_min\nfloat32 range_max\nfloat32[] ranges\nfloat32[] intensities\n"},
    {"sensor_msgs/MagneticField",
     "std_msgs/Header header\ngeometry_msgs/Vector3 magnetic_field\nfloat64[9] magnetic_field_covariance\n"},
    {"sensor_msgs/MultiDOFJointState", "std_msgs/Header header\nstring[] joint_names\ngeometry_msgs/Transform[] "
                                       "transforms\ngeometry_msgs/Twist[] twist\ngeometry_msgs/Wrench[] wrench\n"},
    {"sensor_msgs/MultiEchoLaserScan",
     "std_msgs/Header header\nfloat32 angle_min\nfloat32 angle_max\nfloat32 angle_increment\nfloat32 "
     "time_increment\nfloat32 "
     "scan_time\nfloat32 range_min\nfloat32 range_max\nLaserEcho[] ranges\nLaserEcho[] intensities\n"},
    {"sensor_msgs/NavSatFix",
     "std_msgs/Header header\nNavSatStatus status\nfloat64 latitude\nfloat64 longitude\nfloat64 altitude\nfloat64[9] "
     "position_covariance\nuint8 COVARIANCE_TYPE_UNKNOWN=0\nuint8 COVARIANCE_TYPE_APPROXIMATED=1\nuint8 "
     "COVARIANCE_TYPE_DIAGONAL_KNOWN=2\nuint8 COVARIANCE_TYPE_KNOWN=3\nuint8 position_covariance_type\n"},
    {"sensor_msgs/NavSatStatus",
     "int8 STATUS_UNKNOWN=-2\nint8 STATUS_NO_FIX=-1\nint8 STATUS_FIX=0\nint8 STATUS_SBAS_FIX=1\nint8 "
     "STATUS_GBAS_FIX=2\nint8 status -2\nuint16 SERVICE_UNKNOWN=0\nuint16 SERVICE_GPS=1\nuint16 "
     "SERVICE_GLONASS=2\nuint16 SERVICE_COMPASS=4\nuint16 SERVICE_GALILEO=8\nuint16 service\n"},
    {"sensor_msgs/PointCloud2",
     "std_msgs/Header header\nuint32 height\nuint32 width\nPointField[] fields\nbool is_bigendian\nuint32 "
     "point_step\nuint32 row_step\nuint8[] data\nbool is_dense\n"},
    {"sensor_msgs/PointField",
     "uint8 INT8=1\nuint8 UINT8=2\nuint8 INT16=3\nuint8 UINT16=4\nuint8 INT32=5\nuint8 UINT32=6\nuint8 "
     "FLOAT32=7\nuint8 FLOAT64=8\nstring name\nuint32 offset\nuint8 datatype\nuint32 count\n"},
    {"sensor_msgs/Range", "std_msgs/Header header\nuint8 ULTRASOUND=0\nuint8 INFRARED=1\nuint8 radiation_type\nfloat32 "
                          "field_of_view\nfloat32 min_range\nfloat32 max_range\nfloat32 range\nfloat32 variance\n"},
    {"sensor_msgs/RegionOfInterest",
     "uint32 x_offset\nuint32 y_offset\nuint32 height\nuint32 width\nbool do_rectify\n"},
    {"sensor_msgs/RelativeHumidity", "std_msgs/Header header\nfloat64 relative_humidity\nfloat64 variance\n"},
    {"sensor_msgs/Temperature", "std_msgs/Header header\nfloat64 temperature\nfloat64 variance\n"},
    {"sensor_msgs/TimeReference", "std_msgs/Header header\nbuiltin_interfaces/Time time_ref\nstring source\n"},
    {"shape_msgs/Mesh", "MeshTriangle[] triangles\ngeometry_msgs/Point[] vertices\n"},
    {"shape_msgs/MeshTriangle", "uint32[3] vertex_indices\n"},
    {"shape_msgs/Plane", "float64[4] coef\n"},
    {"shape_msgs/SolidPrimitive",
     "uint8 BOX=1\nuint8 SPHERE=2\nuint8 CYLINDER=3\nuint8 CONE=4\nuint8 PRISM=5\nuint8 type\nfloat64[<=3] "
     "dimensions\nuint8 "
     "BOX_X=0\nuint8 BOX_Y=1\nuint8 BOX_Z=2\nuint8 SPHERE_RADIUS=0\nuint8 CYLINDER_HEIGHT=0\nuint8 "
     "CYLINDER_RADIUS=1\nuint8 "
     "CONE_HEIGHT=0\nuint8 CONE_RADIUS=1\nuint8 PRISM_HEIGHT=0\ngeometry_msgs/Polygon polygon\n"},
    {"std_msgs/Bool", "bool data\n"},
    {"std_msgs/Byte", "byte data\n"},
    {"std_msgs/ByteMultiArray", "MultiArrayLayout layout\nbyte[] data\n"},
    {"std_msgs/Char", "char data\n"},
    {"std_msgs/ColorRGBA", "float32 r\nfloat32 g\nfloat32 b\nfloat32 a\n"},
    {"std_msgs/Empty", ""},
    {"std_msgs/Float32", "float32 data\n"},
    {"std_msgs/Float32MultiArray", "MultiArrayLayout layout\nfloat32[] data\n"},
    {"std_msgs/Float64", "float64 data\n"},
    {"std_msgs/Float64MultiArray", "MultiArrayLayout layout\nfloat64[] data\n"},
    {"std_msgs/Header", "builtin_interfaces/Time stamp\nstring frame_id\n"},
    {"std_msgs/Int16", "int16 data\n"},
    {"std_msgs/Int16MultiArray", "MultiArrayLayout layout\nint16[] data\n"},
    {"std_msgs/Int32", "int32 data\n"},
    {"std_msgs/Int32MultiArray", "MultiArrayLayout layout\nint32[] data\n"},
    {"std_msgs/Int64", "int64 data\n"},
    {"std_msgs/Int64MultiArray", "MultiArrayLayout layout\nint64[] data\n"},
    {"std_msgs/Int8", "int8 data\n"},
    {"std_msgs/Int8MultiArray", "MultiArrayLayout layout\nint8[] data\n"},
    {"std_msgs/MultiArrayDimension", "string label\nuint32 size\nuint32 stride\n"},
    {"std_msgs/MultiArrayLayout", "MultiArrayDimension[] dim\nuint32 data_offset\n"},
    {"std_msgs/String", "string data\n"},
    {"std_msgs/UInt16", "uint16 data\n"},
    {"std_msgs/UInt16MultiArray", "MultiArrayLayout layout\nuint16[] data\n"},
    {"std_msgs/UInt32", "uint32 data\n"},
    {"std_msgs/UInt32MultiArray", "MultiArrayLayout layout\nuint32[] data\n"},
    {"std_msgs/UInt64", "uint64 data\n"},
    {"std_msgs/UInt64MultiArray", "MultiArrayLayout layout\nuint64[] data\n"},
    {"std_msgs/UInt8", "uint8 data\n"},
    {"stereo_msgs/DisparityImage",
     "std_msgs/Header header\nsensor_msgs/Image image\nfloat32 f\nfloat32 t\nsensor_msgs/RegionOfInterest "
     "valid_window\nfloat32 min_disparity\nfloat32 max_disparity\nfloat32 delta_d\n"},
    {"tf2_msgs/TFMessage", "geometry_msgs/TransformStamped[] transforms\n"},
    {"trajectory_msgs/JointTrajectory",
     "std_msgs/Header header\nstring[] joint_names\nJointTrajectoryPoint[] points\n"},
    {"trajectory_msgs/JointTrajectoryPoint",
     "float64[] positions\nfloat64[] velocities\nfloat64[] accelerations\nfloat64[] "
     "effort\nbuiltin_interfaces/Duration time_from_start\n"},
    {"trajectory_msgs/MultiDOFJointTrajectory",
     "std_msgs/Header header\nstring[] joint_names\nMultiDOFJointTrajectoryPoint[] points\n"},
    {"trajectory_msgs/MultiDOFJointTrajectoryPoint",
     "geometry_msgs/Transform[] transforms\ngeometry_msgs/Twist[] velocities\ngeometry_msgs/Twist[] "
     "accelerations\nbuiltin_interfaces/Duration time_from_start\n"},
    {"unique_identifier_msgs/UUID", "uint8[16] uuid\n"},
    {"visualization_msgs/ImageMarker", "int32 CIRCLE=0\nint32 LINE_STRIP=1\nint32 LINE_LIST=2\nint32 POLYGON=3\nint32 "
                                       "POINTS=4\nint32 ADD=0\nint32 REMOVE=1\nstd_msgs/Header "
                                       "header\nstring ns\nint32 id\nint32 type\nint32 action\ngeometry_msgs/Point "
                                       "position\nfloat32 scale\nstd_msgs/ColorRGBA "
                                       "outline_color\nuint8 filled\nstd_msgs/ColorRGBA "
                                       "fill_color\nbuiltin_interfaces/Duration lifetime\ngeometry_msgs/Point[] "
                                       "points\nstd_msgs/ColorRGBA[] outline_colors\n"},
    {"visualization_msgs/InteractiveMarker",
     "std_msgs/Header header\ngeometry_msgs/Pose pose\nstring name\nstring description\nfloat32 "
     "scale\nMenuEntry[] menu_entries\nInteractiveMarkerControl[] controls\n"},
    {"visualization_msgs/InteractiveMarkerControl",
     "string name\ngeometry_msgs/Quaternion orientation\nuint8 INHERIT=0\nuint8 FIXED=1\nuint8 VIEW_FACING=2\nuint8 "
     "orientation_mode\nuint8 NONE=0\nuint8 MENU=1\nuint8 BUTTON=2\nuint8 MOVE_AXIS=3\nuint8 MOVE_PLANE=4\nuint8 "
     "ROTATE_AXIS=5\nuint8 "
     "MOVE_ROTATE=6\nuint8 MOVE_3D=7\nuint8 ROTATE_3D=8\nuint8 MOVE_ROTATE_3D=9\nuint8 interaction_mode\nbool "
     "always_visible\nMarker[] "
     "markers\nbool independent_marker_orientation\nstring description\n"},
    {"visualization_msgs/Marker", "int32 ARROW=0\nint32 CUBE=1\nint32 SPHERE=2\nint32 CYLINDER=3\nint32 "
                                  "LINE_STRIP=4\nint32 LINE_LIST=5\nint32 CUBE_LIST=6\nint32 "
                                  "SPHERE_LIST=7\nint32 POINTS=8\nint32 TEXT_VIEW_FACING=9\nint32 "
                                  "MESH_RESOURCE=10\nint32 TRIANGLE_LIST=11\nint32 ARROW_STRIP=12\nint32 "
                                  "ADD=0\nint32 MODIFY=0\nint32 DELETE=2\nint32 DELETEALL=3\nstd_msgs/Header "
                                  "header\nstring ns\nint32 id\nint32 type\nint32 "
                                  "action\ngeometry_msgs/Pose pose\ngeometry_msgs/Vector3 scale\nstd_msgs/ColorRGBA "
                                  "color\nbuiltin_interfaces/Duration lifetime\nbool "
                                  "frame_locked\ngeometry_msgs/Point[] points\nstd_msgs/ColorRGBA[] colors\nstring "
                                  "texture_resource\nsensor_msgs/CompressedImage "
                                  "texture\nUVCoordinate[] uv_coordinates\nstring text\nstring mesh_resource\nMeshFile "
                                  "mesh_file\nbool mesh_use_embedded_materials\n"},
    {"visualization_msgs/MarkerArray", "Marker[] markers\n"},
    {"visualization_msgs/MenuEntry",
     "uint32 id\nuint32 parent_id\nstring title\nstring command\nuint8 FEEDBACK=0\nuint8 ROSRUN=1\nuint8 "
     "ROSLAUNCH=2\nuint8 command_type\n"},
    {"visualization_msgs/MeshFile", "string filename\nuint8[] data\n"},
    {"visualization_msgs/UVCoordinate", "float32 u\nfloat32 v\n"},
};
const size_t ros2_texts_count = sizeof ros2_texts / sizeof *ros2_texts;

const struct ros_standard_text ros1_texts[] = {
    {"rosgraph_msgs/Log",
     "byte DEBUG=1\nbyte INFO=2\nbyte WARN=4\nbyte ERROR=8\nbyte FATAL=16\nHeader header\nbyte level\nstring "
     "name\nstring msg\nstring file\nstring function\nuint32 line\nstring[] topics\n"},
    {"sensor_msgs/BatteryState",
     "uint8 POWER_SUPPLY_STATUS_UNKNOWN=0\nuint8 POWER_SUPPLY_STATUS_CHARGING=1\nuint8 "
     "POWER_SUPPLY_STATUS_DISCHARGING=2\nuint8 "
     "POWER_SUPPLY_STATUS_NOT_CHARGING=3\nuint8 POWER_SUPPLY_STATUS_FULL=4\nuint8 POWER_SUPPLY_HEALTH_UNKNOWN=0\nuint8 "
     "POWER_SUPPLY_HEALTH_GOOD=1\nuint8 POWER_SUPPLY_HEALTH_OVERHEAT=2\nuint8 POWER_SUPPLY_HEALTH_DEAD=3\nuint8 "
     "POWER_SUPPLY_HEALTH_OVERVOLTAGE=4\nuint8 POWER_SUPPLY_HEALTH_UNSPEC_FAILURE=5\nuint8 "
     "POWER_SUPPLY_HEALTH_COLD=6\nuint8 "
     "POWER_SUPPLY_HEALTH_WATCHDOG_TIMER_EXPIRE=7\nuint8 POWER_SUPPLY_HEALTH_SAFETY_TIMER_EXPIRE=8\nuint8 "
     "POWER_SUPPLY_TECHNOLOGY_UNKNOWN=0\nuint8 POWER_SUPPLY_TECHNOLOGY_NIMH=1\nuint8 "
     "POWER_SUPPLY_TECHNOLOGY_LION=2\nuint8 "
     "POWER_SUPPLY_TECHNOLOGY_LIPO=3\nuint8 POWER_SUPPLY_TECHNOLOGY_LIFE=4\nuint8 "
     "POWER_SUPPLY_TECHNOLOGY_NICD=5\nuint8 "
     "POWER_SUPPLY_TECHNOLOGY_LIMN=6\nHeader header\nfloat32 voltage\nfloat32 temperature\nfloat32 current\nfloat32 "
     "charge\nfloat32 "
     "capacity\nfloat32 design_capacity\nfloat32 percentage\nuint8 power_supply_status\nuint8 "
     "power_supply_health\nuint8 "
     "power_supply_technology\nbool present\nfloat32[] cell_voltage\nfloat32[] cell_temperature\nstring "
     "location\nstring serial_number\n"},
    {"sensor_msgs/CameraInfo",
     "Header header\nuint32 height\nuint32 width\nstring distortion_model\nfloat64[] D\nfloat64[9] K\nfloat64[9] "
     "R\nfloat64[12] P\nuint32 binning_x\nuint32 binning_y\nRegionOfInterest roi\n"},
    {"sensor_msgs/NavSatStatus",
     "int8 STATUS_NO_FIX=-1\nint8 STATUS_FIX=0\nint8 STATUS_SBAS_FIX=1\nint8 STATUS_GBAS_FIX=2\nint8 status\nuint16 "
     "SERVICE_GPS=1\nuint16 "
     "SERVICE_GLONASS=2\nuint16 SERVICE_COMPASS=4\nuint16 SERVICE_GALILEO=8\nuint16 service\n"},
    {"sensor_msgs/Range",
     "Header header\nuint8 ULTRASOUND=0\nuint8 INFRARED=1\nuint8 radiation_type\nfloat32 field_of_view\nfloat32 "
     "min_range\nfloat32 max_range\nfloat32 range\n"},
    {"shape_msgs/SolidPrimitive", "uint8 BOX=1\nuint8 SPHERE=2\nuint8 CYLINDER=3\nuint8 CONE=4\nuint8 type\nfloat64[] "
                                  "dimensions\nuint8 BOX_X=0\nuint8 BOX_Y=1\nuint8 "
                                  "BOX_Z=2\nuint8 SPHERE_RADIUS=0\nuint8 CYLINDER_HEIGHT=0\nuint8 "
                                  "CYLINDER_RADIUS=1\nuint8 CONE_HEIGHT=0\nuint8 CONE_RADIUS=1\n"},
    {"std_msgs/Header", "uint32 seq\ntime stamp\nstring frame_id\n"},
    {"stereo_msgs/DisparityImage",
     "Header header\nsensor_msgs/Image image\nfloat32 f\nfloat32 T\nsensor_msgs/RegionOfInterest "
     "valid_window\nfloat32 min_disparity\nfloat32 max_disparity\nfloat32 delta_d\n"},
    {"visualization_msgs/ImageMarker", "uint8 CIRCLE=0\nuint8 LINE_STRIP=1\nuint8 LINE_LIST=2\nuint8 POLYGON=3\nuint8 "
                                       "POINTS=4\nuint8 ADD=0\nuint8 REMOVE=1\nHeader "
                                       "header\nstring ns\nint32 id\nint32 type\nint32 action\ngeometry_msgs/Point "
                                       "position\nfloat32 scale\nstd_msgs/ColorRGBA "
                                       "outline_color\nuint8 filled\nstd_msgs/ColorRGBA fill_color\nduration "
                                       "lifetime\ngeometry_msgs/Point[] points\nstd_msgs/ColorRGBA[] "
                                       "outline_colors\n"},
    {"visualization_msgs/Marker",
     "uint8 ARROW=0\nuint8 CUBE=1\nuint8 SPHERE=2\nuint8 CYLINDER=3\nuint8 LINE_STRIP=4\nuint8 LINE_LIST=5\nuint8 "
     "CUBE_LIST=6\nuint8 "
     "SPHERE_LIST=7\nuint8 POINTS=8\nuint8 TEXT_VIEW_FACING=9\nuint8 MESH_RESOURCE=10\nuint8 TRIANGLE_LIST=11\nuint8 "
     "ADD=0\nuint8 "
     "MODIFY=0\nuint8 DELETE=2\nuint8 DELETEALL=3\nHeader header\nstring ns\nint32 id\nint32 type\nint32 "
     "action\ngeometry_msgs/Pose "
     "pose\ngeometry_msgs/Vector3 scale\nstd_msgs/ColorRGBA color\nduration lifetime\nbool "
     "frame_locked\ngeometry_msgs/Point[] "
     "points\nstd_msgs/ColorRGBA[] colors\nstring text\nstring mesh_resource\nbool mesh_use_embedded_materials\n"},
};
const size_t ros1_texts_count = sizeof ros1_texts / sizeof *ros1_texts;
