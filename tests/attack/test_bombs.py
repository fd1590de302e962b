"""Small files that decode to gigabytes: chunks without records are not decoded, and a principal's large scans do not hold another's small one."""
import bz2
import os
import re
import struct
import threading
from functools import lru_cache

from harness import API, Case, create_token, eventually, files_below, in_a_folder
from samples import bag, lab_messages

PIECE = 45 << 20
DARK = 4
PIECES = 90  # some 4 GB for each chunk


def token(server, name):
    return {'Authorization': 'Bearer ' + create_token(server, 'upload', name)}


def field(name, value):
    both = name.encode() + b'=' + value
    return struct.pack('<I', len(both)) + both


def record(fields, data):
    header = b''.join(field(k, v) for k, v in fields.items())
    return struct.pack('<I', len(header)) + header + struct.pack('<I', len(data)) + data


@lru_cache
def zeros():
    return bz2.compress(bytes(PIECE))


def chunk(packed, size):
    return record({'op': b'\5', 'compression': b'bz2', 'size': struct.pack('<I', size)}, packed)


def bag2(*chunks):
    head = record({'op': b'\3', 'index_pos': bytes(8), 'conn_count': bytes(4), 'chunk_count': bytes(4)}, b' ' * 4027)
    return b'#ROSBAG V2.0\n' + head + b''.join(chunks)


CONNECTION = record({'op': b'\7', 'conn': bytes(4), 'topic': b'/dark'},
                    field('topic', b'/dark') + field('type', b'std_msgs/Empty') + field('md5sum', b'd41d8cd98f00b204e9800998ecf8427e') + field('message_definition', b''))


def bomb(n):
    """Each chunk decodes to 4 GB of zeros, which are no records."""
    return bag2(chunk(bz2.compress(CONNECTION), len(CONNECTION)), *[chunk(zeros() * PIECES, PIECE * PIECES)] * n)


def dark(salt):
    """One message of zeros, which is a recording though it expands as much."""
    size = DARK * PIECE
    begin = CONNECTION + message_head(size, salt)
    return bag2(chunk(bz2.compress(begin) + zeros() * DARK, len(begin) + size))


def message_head(size, salt):
    header = field('op', b'\2') + field('conn', bytes(4)) + field('time', struct.pack('<II', 1000 + salt, 0))
    return struct.pack('<I', len(header)) + header + struct.pack('<I', size)


class Bombs(Case):
    @classmethod
    def fill(cls):
        cls.one, cls.other = token(cls.server, 'one'), token(cls.server, 'other')

    def put(self, name, body, headers):
        return self.server.request('PUT', '%s/recordings/by-name/lab/%s' % (API, name), body, {**headers, 'Prefer': 'wait=50'})

    def blobs(self):
        return sum(re.fullmatch('[0-9a-f]{64}', os.path.basename(path)) is not None for path in files_below(os.path.join(self.server.data, 'blobs')))

    def test_chunks_without_records_are_not_decoded(self):
        body = bomb(1000)  # an hour of work
        answer = self.put('bomb.bag', body, self.one)
        self.assertEqual(answer.status, 422, answer)
        self.assertIn(b'no records begin in it', answer.body)

    def test_a_recording_of_zeros_is_read(self):
        answer = self.put('dark.bag', dark(0), self.one)
        self.assertEqual((answer.status, answer.json()['messages'], answer.json()['payload_bytes']), (201, 1, DARK * PIECE), answer)

    @in_a_folder
    def test_another_small_file_does_not_wait(self):
        ended, before = [], self.blobs()

        def send(name, body, headers):
            ended.append((name, self.put(name, body, headers).status))
        many = [threading.Thread(target=send, args=('many-%d.bag' % i, dark(1 + i), self.one)) for i in range(6)]
        for thread in many:
            thread.start()
        self.assertTrue(eventually(lambda: self.blobs() >= before + len(many)))  # all are received, two are scanned
        send('small.bag', bag(lab_messages(2)), self.other)
        for thread in many:
            thread.join()
        self.assertEqual(sorted(status for _, status in ended), [201] * 7, ended)
        self.assertLess(ended.index(('small.bag', 201)), 4, ended)
