"""Clients of S3 against our /s3, each as its users type it (docs/s3.md): awscli, s3cmd, rclone, boto3, AWS's client for JavaScript, and DuckDB
where it has its extension."""
import hashlib
import json
import os
import shutil
import subprocess
import tempfile
import unittest

from harness import API, PATIENCE, Server, create_token
from peer_mcap import HERE, prepare
from samples import bag, lab_messages
from signed import Keys

DATA = bag(lab_messages(3, blob=2000))
NAMES = ['2024-01.bag', '2024/a&b c+d.bag', '2024/june/run=1.bag', 'walk.bag', 'é/ü%20.bag']
AWS = '/usr/bin/aws'  # Debian's


def data_of(name):
    return DATA[:-4] + NAMES.index(name).to_bytes(4, 'little')


class Clients(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = Server()
        cls.addClassCleanup(cls.server.stop)
        cls.folder = tempfile.mkdtemp(prefix='reel-peers-')
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        for name in NAMES:
            cls.server.added(name, data_of(name))
        cls.keys = Keys(create_token(cls.server, 'read', 's3', '--s3'))
        cls.endpoint = cls.server.base + '/s3'

    def run_in(self, *command, code=0, **env):
        # no proxy and no settings of the machine
        env = {'PATH': os.environ['PATH'], 'HOME': self.folder, 'AWS_ACCESS_KEY_ID': self.keys.access, 'AWS_SECRET_ACCESS_KEY': self.keys.secret,
               'AWS_DEFAULT_REGION': 'us-east-1', 'AWS_EC2_METADATA_DISABLED': 'true', 'LANG': 'C.UTF-8', **env}
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=2 * PATIENCE, env=env)
        self.assertEqual(done.returncode, code, (command, done.stdout, done.stderr))
        return done.stdout.decode() if code == 0 else done.stderr.decode()

    def same_files(self, folder):
        found = {os.path.relpath(os.path.join(at, name), folder) for at, _, names in os.walk(folder) for name in names}
        self.assertEqual(found, set(NAMES))
        for name in NAMES:
            with open(os.path.join(folder, name), 'rb') as f:
                self.assertEqual(f.read(), data_of(name), name)

    def listed(self, key, bucket='lab'):
        """The size that a list has, and the bytes of the object."""
        page = self.boto().list_objects_v2(Bucket=bucket, Prefix=key)['Contents']
        return {item['Key']: item['Size'] for item in page}[key]

    def boto(self, endpoint=None):
        try:
            import boto3
            import botocore.client
        except ImportError:
            self.skipTest('python3-boto3 is not installed')
        config = botocore.client.Config(s3={'addressing_style': 'path'}, retries={'max_attempts': 3})
        return boto3.client('s3', endpoint_url=endpoint or self.endpoint, aws_access_key_id=self.keys.access, aws_secret_access_key=self.keys.secret,
                            region_name='us-east-1', config=config)

    @unittest.skipUnless(os.path.exists(AWS), 'awscli is not installed')
    def test_awscli(self):
        def aws(*args, code=0):
            return self.run_in(AWS, '--endpoint-url', self.endpoint, *args, code=code)
        self.assertEqual([line.split()[-1] for line in aws('s3', 'ls').splitlines()], ['archive', 'datasets', 'lab', 'searches', 'tables'])
        self.assertEqual([line.split()[-1] for line in aws('s3', 'ls', 's3://lab').splitlines()],
                         ['2024-01.bag.as/', '2024/', 'walk.bag.as/', 'é/', '2024-01.bag', 'walk.bag'])
        self.assertEqual(len(aws('s3', 'ls', '--recursive', 's3://lab').splitlines()), len(NAMES))
        target = os.path.join(self.folder, 'aws')
        aws('s3', 'sync', '--quiet', 's3://lab', target)
        self.same_files(target)
        self.assertEqual(aws('s3', 'sync', 's3://lab', target), '')  # nothing is new
        aws('s3', 'cp', '--quiet', 's3://lab/walk.bag.as/walk.mcap', os.path.join(self.folder, 'walk.mcap'))
        self.assertEqual(os.path.getsize(os.path.join(self.folder, 'walk.mcap')), self.listed('walk.bag.as/walk.mcap'))
        head = json.loads(aws('s3api', 'head-object', '--bucket', 'lab', '--key', NAMES[1]))
        self.assertEqual(head['ContentLength'], len(DATA))
        pages = json.loads(aws('s3api', 'list-objects-v2', '--bucket', 'lab', '--page-size', '2'))
        self.assertEqual([item['Key'] for item in pages['Contents']], NAMES)
        address = aws('s3', 'presign', 's3://lab/' + NAMES[2]).strip()
        self.assertEqual(self.run_in('curl', '-sf', '-o', os.path.join(self.folder, 'presigned'), '-w', '%{size_download}', address), str(len(DATA)))
        self.assertIn('AccessDenied', aws('s3', 'cp', os.path.join(self.folder, 'walk.mcap'), 's3://lab/new.mcap', code=1))
        self.assertIn('AccessDenied', aws('s3', 'rm', 's3://lab/walk.bag', code=1))

    @unittest.skipUnless(shutil.which('s3cmd'), 's3cmd is not installed')
    def test_s3cmd(self):
        host = '127.0.0.1:%d' % self.server.port  # it knows no path of an endpoint

        def s3cmd(*args, code=0):
            return self.run_in('s3cmd', '--config', '/dev/null', '--access_key', self.keys.access, '--secret_key', self.keys.secret, '--no-ssl',
                               '--host', host, '--host-bucket', host, *args, code=code)
        self.assertEqual([line.split()[-1] for line in s3cmd('ls').splitlines()], ['s3://archive', 's3://datasets', 's3://lab', 's3://searches', 's3://tables'])
        self.assertEqual(sorted(line.split('s3://lab/', 1)[1] for line in s3cmd('ls', '--recursive', 's3://lab').splitlines()), sorted(NAMES))
        target = os.path.join(self.folder, 's3cmd')
        os.mkdir(target)
        s3cmd('sync', 's3://lab/', target + '/')
        self.same_files(target)
        s3cmd('get', 's3://lab/walk.bag.as/walk.tide', os.path.join(self.folder, 'walk.tide'))
        self.assertEqual(os.path.getsize(os.path.join(self.folder, 'walk.tide')), self.listed('walk.bag.as/walk.tide'))
        self.assertIn(str(len(DATA)), s3cmd('info', 's3://lab/walk.bag'))
        self.assertIn('AccessDenied', s3cmd('del', 's3://lab/walk.bag', code=77))

    @unittest.skipUnless(shutil.which('rclone'), 'rclone is not installed')
    def test_rclone(self):
        remote = ':s3,provider=Other,env_auth=true,endpoint="%s":' % self.endpoint

        def rclone(*args, code=0):
            return self.run_in('rclone', '--config', '/dev/null', *args, code=code)
        self.assertEqual([line.split()[-1] for line in rclone('lsd', remote).splitlines()], ['archive', 'datasets', 'lab', 'searches', 'tables'])
        sizes = {line.split(None, 1)[1]: int(line.split(None, 1)[0]) for line in rclone('ls', '--fast-list', remote + 'lab').splitlines()}
        self.assertEqual(sizes, {name: len(DATA) for name in NAMES})
        target = os.path.join(self.folder, 'rclone')
        rclone('copy', '--fast-list', remote + 'lab', target)
        self.same_files(target)
        self.assertEqual(rclone('copy', '--exclude', '*.as/**', remote + 'lab', target + '2'), '')  # folder by folder
        self.same_files(target + '2')
        self.assertIn('AccessDenied', rclone('delete', remote + 'lab/walk.bag', '--retries', '1', code=1))

    def test_boto3(self):
        for endpoint in (self.endpoint, self.server.base):  # signed requests are found without the path, too
            client = self.boto(endpoint)
            self.assertEqual([b['Name'] for b in client.list_buckets()['Buckets']], ['archive', 'datasets', 'lab', 'searches', 'tables'])
            pages = client.get_paginator('list_objects_v2').paginate(Bucket='lab', PaginationConfig={'PageSize': 2})
            self.assertEqual([item['Key'] for page in pages for item in page['Contents']], NAMES)
            pages = client.get_paginator('list_objects').paginate(Bucket='lab', PaginationConfig={'PageSize': 2})
            self.assertEqual([item['Key'] for page in pages for item in page['Contents']], NAMES)
            for name in NAMES:
                answer = client.get_object(Bucket='lab', Key=name)
                self.assertEqual(answer['Body'].read(), data_of(name))
                with self.assertRaises(client.exceptions.ClientError) as raised:
                    client.get_object(Bucket='lab', Key=name, IfNoneMatch=answer['ETag'])
                self.assertEqual(raised.exception.response['ResponseMetadata']['HTTPStatusCode'], 304)
            with self.assertRaises(client.exceptions.NoSuchKey):
                client.get_object(Bucket='lab', Key='none')
            path = os.path.join(self.folder, 'boto')
            client.download_file('lab', 'walk.bag.as/walk.mcap', path)
            self.assertEqual(os.path.getsize(path), self.listed('walk.bag.as/walk.mcap'))

    def test_tables(self):
        """Each object of a table is a Parquet file of the length that was listed."""
        client = self.boto()
        items = client.list_objects_v2(Bucket='tables', Prefix='odom/')['Contents']
        self.assertEqual(len(items), len(NAMES))
        for item in items:
            body = client.get_object(Bucket='tables', Key=item['Key'])['Body'].read()
            self.assertEqual((len(body), body[:4], body[-4:]), (item['Size'], b'PAR1', b'PAR1'))

    def node(self, script, *args):
        problem = prepare()
        if problem:
            self.skipTest(problem)
        return json.loads(self.run_in('node', os.path.join(HERE, script), *args))

    def test_client_s3(self):
        report = self.node('s3_client.mjs', self.endpoint, self.keys.access, self.keys.secret, 'lab', NAMES[1])
        data = data_of(NAMES[1])
        self.assertEqual(report['buckets'], ['archive', 'datasets', 'lab', 'searches', 'tables'])
        self.assertEqual((report['keys'], report['folders']), (NAMES, ['2024-01.bag.as/', '2024/', 'walk.bag.as/', 'é/']))
        self.assertEqual((report['sha256'], report['head'][0]), (hashlib.sha256(data).hexdigest(), len(data)))
        self.assertEqual(report['range'], ['bytes 10-19/%d' % len(data), data[10:20].hex()])
        self.assertEqual(report['codes'], ['NoSuchKey', 'NoSuchBucket', 'AccessDenied', 'PreconditionFailed'])
        self.assertEqual(report['presigned'], [200, len(data)])

    def test_duckdb(self):
        report = self.node('s3_sql.mjs', '127.0.0.1:%d' % self.server.port, self.keys.access, self.keys.secret,
                           "SELECT count(*) AS n, count(DISTINCT recording) AS recordings FROM read_parquet('s3://tables/odom/*/part.parquet', hive_partitioning = true)")
        if 'skipped' in report:
            self.skipTest(report['skipped'])
        messages = sum(1 for m in lab_messages(3, blob=2000) if m.topic == '/odom')
        self.assertEqual(report['rows'], [{'n': str(len(NAMES) * messages), 'recordings': str(len(NAMES))}])


if __name__ == '__main__':
    unittest.main()
