"""Bags made of a TIDE 2.0 log whose types need other types, read by ROS's own python3-rosbag: values by its own classes, and its md5 sums."""
import os
import struct
import sys
import tempfile
import unittest

import genpy.dynamic
import rosbag

import matrix_readers
from harness import API, Server

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'e2e'))
from test_dependencies import tide  # noqa: E402


class Dependencies(unittest.TestCase):
    def test_rosbag_reads_them(self):
        server = Server()
        try:
            number = server.added('typed.tide', tide())
            data = server.get('%s/recordings/%s/as/x.bag?version=2.0&topic=/wrap&topic=/pose' % (API, number)).body
        finally:
            server.stop()
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, 'x.bag')
            with open(path, 'wb') as f:
                f.write(data)
            with rosbag.Bag(path) as bag:
                seen = {topic: message for topic, message, _ in bag.read_messages()}
                connections = {c.topic: c for c in bag._get_connections()}
        self.assertEqual((seen['/wrap'].position.x, seen['/wrap'].position.z), (1, 3))
        self.assertEqual((seen['/pose'].position.y, seen['/pose'].orientation.w), (2, 7))
        for topic, connection in connections.items():
            made = genpy.dynamic.generate_dynamic(connection.datatype, connection.msg_def)[connection.datatype]
            self.assertEqual(made._md5sum, connection.md5sum, topic)  # computed by ROS from the definition

    @unittest.skipUnless(matrix_readers.TIDE, 'needs ../shared/readers')
    def test_a_log_has_a_block_for_each_type(self):
        server = Server()
        try:
            number = server.added('typed.tide', tide())
            bag = server.added('typed.bag', server.get('%s/recordings/%s/as/x.bag?topic=/wrap&topic=/pose' % (API, number)).body)
            seen = matrix_readers.TIDE.parse(server.get('%s/recordings/%s/as/x.tide?version=2.0' % (API, bag)).body)
        finally:
            server.stop()
        types = {t['name']: t for t in seen['types']}
        self.assertEqual(sorted(t['name'] for t in seen['types']), ['geometry_msgs/Point', 'geometry_msgs/Pose', 'geometry_msgs/Quaternion', 'pkg/Wrap'])
        self.assertEqual({t['syntax'] for t in seen['types']}, {'ros-msg-1.0'})
        self.assertEqual(types['geometry_msgs/Pose']['deps'], [types['geometry_msgs/Point']['hash'], types['geometry_msgs/Quaternion']['hash']])
        self.assertEqual(types['pkg/Wrap']['deps'], [types['geometry_msgs/Point']['hash']])
        own = {c['name']: c['type_hashes'] for c in seen['channels'].values()}
        self.assertEqual(own, {'/wrap': [types['pkg/Wrap']['hash']], '/pose': [types['geometry_msgs/Pose']['hash']]})


if __name__ == '__main__':
    unittest.main()
