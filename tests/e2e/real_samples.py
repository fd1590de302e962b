"""The real recordings of ../shared/samples, which are not in the repository. What is tested with them is tested with made ones too."""
import os
import unittest

SAMPLES = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', '..', 'shared', 'samples')
GOLDEN = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'golden')


def needs_samples(count):
    """Skips a test of so many real samples where they are not."""
    return unittest.skipUnless(os.path.isdir(SAMPLES), '%d real samples' % count)


def golden(name):
    """The golden input of FORMAT/CASE."""
    folder = os.path.join(GOLDEN, name)
    file, = [f for f in os.listdir(folder) if f.startswith('input.')]
    return os.path.join(folder, file)
