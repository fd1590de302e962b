"""What the tests of a cluster run on: set by run.py."""
import os
import subprocess


def make_database(name):
    catalog = os.environ['REEL_TEST_CATALOG']
    subprocess.run(['psql', '-qAt', catalog + '/postgres', '-c', 'CREATE DATABASE ' + name], stdout=subprocess.DEVNULL, check=True)
    return '%s/%s' % (catalog, name)
