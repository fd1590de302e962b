"""`reel bag info` against `rosbag info`: byte for byte, of every real sample that rosbag reads and of bags that we write."""
import glob
import os
import shutil
import subprocess
import tempfile
import unittest

from harness import LONG, reel
from real_samples import SAMPLES, needs_samples
from samples import bag, lab_messages, nanover, nanover_messages

FORMS = [], ['--yaml'], ['--freq']


@unittest.skipUnless(shutil.which('rosbag'), 'rosbag is not installed')
class BagInfo(unittest.TestCase):
    def compare(self, path):
        """False: rosbag does not read it. With ./dev test --long in each form, else in the next."""
        self.files = getattr(self, 'files', 0) + 1
        for options in FORMS if LONG else [FORMS[self.files % len(FORMS)]]:
            theirs = subprocess.run(['rosbag', 'info', *options, path], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            if theirs.returncode != 0:
                return False
            if options == ['--freq'] and 'unsorted' in path:
                continue  # rosbag takes the median of periods in file order, which are negative there
            with self.subTest('%s %s' % (os.path.basename(path), ' '.join(options))):
                self.assertEqual(reel('bag', 'info', *options, path).stdout.decode(), theirs.stdout.decode())
        return True

    @needs_samples(16)
    def test_real_bags(self):
        files = glob.glob(os.path.join(SAMPLES, 'rosbag1', '*.bag')) + glob.glob(os.path.join(SAMPLES, 'rosbag2.0', '*.bag'))
        refused = {os.path.basename(f) for f in sorted(files) if not self.compare(f)}
        self.assertEqual(refused, {'crashed_index_pos_0.bag', 'ekf_test_v1.1.bag', 'first_pos_is_message.bag'})

    def test_bags_of_ours(self):
        with tempfile.TemporaryDirectory() as folder:
            sources = {'lab.bag': bag(lab_messages(100, blob=9000)), 'mol.nanover.zip': nanover(nanover_messages())}
            for name, data in sources.items():
                source = os.path.join(folder, name)
                with open(source, 'wb') as f:
                    f.write(data)
                for i, options in enumerate((['--version', '1.2'], [], ['--compression', 'lz4'], ['--compression', 'bz2'])):
                    path = os.path.join(folder, '%s.%d.bag' % (name, i))
                    reel('convert', source, path, *options)
                    self.assertTrue(self.compare(path), path)
