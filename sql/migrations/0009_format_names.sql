-- The container formats' names in the API: both ROS 1 bags are found by "rosbag".
UPDATE recordings SET format = 'rosbag-1.2' WHERE format = 'rosbag1';
UPDATE recordings SET format = 'rosbag-2.0' WHERE format = 'bag2';
