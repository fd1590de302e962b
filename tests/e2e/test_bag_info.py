"""What formats' own tools tell: rosbag info over HTTP and on the command line, and the channels of a TIDE file."""
import csv
import io
import os
import tempfile

from harness import API, Case, reel
from samples import bag, lab_messages, nanover, nanover_messages

BAG = bag(lab_messages(10))
INFO = '''path:        {path}
version:     1.2
duration:    10.0s
start:       Jun 02 2010 23:12:35.00 (1275520355.00)
end:         Jun 02 2010 23:12:44.98 (1275520364.98)
size:        {size:.1f} KB
messages:    561
compression: none
types:       geometry_msgs/Point [4a842b65f413084dc2b10fb484ea7f17]
             lab_msgs/Blob       [f43a8e1b362b75baa741461b46adc7e0]
             std_msgs/Empty      [d41d8cd98f00b204e9800998ecf8427e]
             std_msgs/String     [992ce8a1687cec8c8bd883ec73ca41d1]
topics:      /map               1 msg            : lab_msgs/Blob      
             /odom            500 msgs @ 50.0 Hz : geometry_msgs/Point
             /robot/chatter    50 msgs @  5.0 Hz : std_msgs/String    
             tick              10 msgs @  1.0 Hz : std_msgs/Empty
'''


def info(path):
    return INFO.format(path=path, size=len(BAG) / 1024).encode()


class BagInfo(Case):
    @classmethod
    def setUpClass(cls):
        os.environ['TZ'] = 'UTC'  # rosbag tells local time
        super().setUpClass()
        cls.number = cls.server.added('lab.bag', BAG)
        cls.mol = cls.server.added('mol.nanover.zip', nanover(nanover_messages()))

    def path(self, number, rest):
        return '%s/recordings/%s/%s' % (API, number, rest)

    def test_text_and_yaml(self):
        answer = self.get(self.path(self.number, 'bag/info'))
        self.assertEqual(answer.headers['Content-Type'], 'text/plain; charset=utf-8')
        self.assertEqual(answer.body, info('lab.bag'))
        answer = self.get(self.path(self.number, 'bag/info?yaml=true'))
        self.assertEqual(answer.headers.get_content_type(), 'application/yaml')
        lines = answer.body.decode().split('\n')
        self.assertEqual(lines[:9], ['path: lab.bag', 'version: 1.2', 'duration: 9.980001', 'start: 1275520355.000000', 'end: 1275520364.980001',
                                     'size: %d' % len(BAG), 'messages: 561', 'indexed: True', 'compression: none'])
        self.assertIn('      frequency: 50.0000', lines)

    def test_other_formats(self):
        self.assertProblem(self.server.get(self.path(self.mol, 'bag/info')), 422, 'NanoVer')
        as_mcap = self.server.added('lab.mcap', self.get(self.path(self.number, 'as/x.mcap'), Prefer='wait=60').body)
        text = self.get(self.path(as_mcap, 'bag/info?freq=true')).body.decode()
        self.assertIn('version:     MCAP0', text)
        self.assertEqual(text.split('types:')[1], info('').decode().split('types:')[1])
        self.assertNotIn('Hz', self.get(self.path(as_mcap, 'bag/info')).body.decode())  # as of bags of version 2

    def test_command_line(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, 'x.bag')
            with open(path, 'wb') as f:
                f.write(BAG)
            self.assertEqual(reel('bag', 'info', path).stdout, info(path))
            self.assertEqual(reel('bag', 'info', path, path).stdout, info(path) + b'---\n' + info(path))
            self.assertTrue(reel('bag', 'info', path, '--yaml').stdout.startswith(b'path: %s\nversion: 1.2\n' % path.encode()))
            self.assertEqual(reel('bag', 'play', path, check=False).returncode, 2)

    def test_tide_channels(self):
        tide = self.server.added('lab.tide', self.get(self.path(self.number, 'as/x.tide'), Prefer='wait=60').body)
        rows = {r['name']: r for r in self.get(self.path(tide, 'tide/channels')).json()}
        self.assertEqual(set(rows), {'/map', '/odom', '/robot/chatter', 'tick'})
        odom = rows['/odom']
        self.assertEqual((odom['scope'], odom['type'], odom['encoding']), ('/odom', 'geometry_msgs/Point', 'ros1'))
        self.assertEqual((odom['messages'], odom['payload_bytes']), (500, 12000))
        self.assertAlmostEqual(odom['rate_hz'], 50, places=6)
        self.assertIsNone(rows['/map']['rate_hz'])
        table = list(csv.DictReader(io.StringIO(self.get(self.path(tide, 'tide/channels'), Accept='text/csv').body.decode(), newline='')))
        self.assertEqual({r['name']: int(r['messages']) for r in table}, {n: r['messages'] for n, r in rows.items()})
        self.assertProblem(self.server.get(self.path(self.number, 'tide/channels')), 422, 'TIDE')
        self.assertProblem(self.server.get(self.path(tide, 'tide/channels'), Accept='image/png'), 406)
