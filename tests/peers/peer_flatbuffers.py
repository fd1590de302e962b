"""FlatBuffers that flatc makes of random JSON, decoded by us and by flatc."""
import json
import os
import random
import shutil
import subprocess
import unittest

from peer_values import Decoding, same

SCHEMA = '''namespace demo;
enum Colour : byte { Red = 0, Green, Blue = 5 }
struct Time { sec:uint; nsec:uint; }
struct Vec { x:float; y:double; z:[short:3]; c:Colour; }
struct Two { a:Vec; t:[Time:2]; }
table Small { name:string; n:int = 7; }
table Other { x:double; }
union Shape { Small, Other, V:Vec, S:string }
table Root {
  b:bool; i8:byte; u8:ubyte = 3; i16:short; u16:ushort; i32:int = -5; u32:uint; i64:long; u64:ulong; f:float = 1.5; d:double;
  s:string; c:Colour = Blue; cs:[Colour]; v:Vec; two:Two; t:Time; small:Small; smalls:[Small]; names:[string]; vs:[Vec]; bytes:[ubyte];
  ints:[int]; longs:[ulong]; bools:[bool]; doubles:[double]; floats:[float]; times:[Time]; maybe:int = null; shape:Shape; shapes:[Shape]; self:Root;
  i8s:[byte];
}
root_type Root;
'''
RANGES = {'i8': 8, 'i16': 16, 'i32': 32, 'i64': 64, 'maybe': 32}
NATURALS = {'u8': 8, 'u16': 16, 'u32': 32, 'u64': 64}


def single(r):
    """flatc prints six decimals."""
    return r.randrange(-2**20, 2**20) / 64


def vec(r):
    return {'x': single(r), 'y': single(r), 'z': [r.randrange(-2**15, 2**15) for _ in range(3)], 'c': r.choice(['Red', 'Green', 'Blue'])}


def time(r):
    return {'sec': r.randrange(2**32), 'nsec': r.randrange(10**9)}


def text(r):
    return ''.join(r.choice('aZ ü€😀"\\') for _ in range(r.randrange(6)))


def small(r):
    return {k: v for k, v in (('name', text(r)), ('n', r.randrange(-2**31, 2**31))) if r.random() < 0.7}


def shape(r):
    return r.choice([('Small', small), ('Other', lambda r: {'x': single(r)}), ('V', vec), ('S', text)])


def root(r, depth=0):
    """Each field or none."""
    many = lambda of: [of(r) for _ in range(r.randrange(4))]
    kinds, one = [shape(r) for _ in range(r.randrange(4))], shape(r)
    out = {k: r.randrange(-2**(n - 1), 2**(n - 1)) for k, n in RANGES.items()}
    out.update({k: r.randrange(2**n) for k, n in NATURALS.items()})
    out.update(b=r.random() < 0.5, f=single(r), d=single(r), s=text(r), c=r.choice(['Red', 'Green', 'Blue']), v=vec(r),
               cs=many(lambda r: r.choice(['Red', 'Blue'])), two={'a': vec(r), 't': [time(r), time(r)]}, t=time(r), small=small(r), smalls=many(small),
               names=many(text), vs=many(vec), bytes=many(lambda r: r.randrange(256)), ints=many(lambda r: r.randrange(-2**31, 2**31)),
               longs=many(lambda r: r.randrange(2**64)), bools=many(lambda r: r.random() < 0.5), doubles=many(single), floats=many(single),
               times=many(time), i8s=many(lambda r: r.randrange(-128, 128)))
    out = {k: v for k, v in out.items() if r.random() < 0.6}
    if r.random() < 0.6:
        out.update(shape_type=one[0], shape=one[1](r))
    if r.random() < 0.6:
        out.update(shapes_type=[k for k, _ in kinds], shapes=[make(r) for _, make in kinds])
    if depth < 3 and r.random() < 0.7:
        out['self'] = root(r, depth + 1)
    return out


def theirs(value):
    """As flatc writes it, in our way: bytes are not a list, and what has no default is absent."""
    if isinstance(value, dict):
        return {k: bytes(v) if k == 'bytes' else theirs(v) for k, v in value.items() if v is not None and (k, v) != ('shape_type', 'NONE')}
    return [theirs(v) for v in value] if isinstance(value, list) else value


class FlatBuffers(Decoding):
    def flatc(self, *args):
        subprocess.run(('flatc',) + args, cwd=self.folder, check=True, stdout=subprocess.DEVNULL)

    def test_random_messages(self):
        if not shutil.which('flatc'):
            self.skipTest('flatc is not installed')
        path = lambda name: os.path.join(self.folder, name)
        with open(path('demo.fbs'), 'w') as f:
            f.write(SCHEMA)
        self.flatc('-b', '--schema', 'demo.fbs')
        r, payloads, expected = random.Random(7), [], []
        for i in range(60):
            with open(path('m.json'), 'w') as f:
                json.dump(root(r) if i > 0 else {}, f)
            self.flatc('-b', 'demo.fbs', 'm.json')
            with open(path('m.bin'), 'rb') as f:
                payloads.append(f.read())
            self.flatc('--json', '--strict-json', '--defaults-json', '--raw-binary', 'demo.bfbs', '--', 'm.bin')
            with open(path('m.json')) as f:
                expected.append(theirs(json.load(f)))
        with open(path('demo.bfbs'), 'rb') as f:
            ours = self.decoded('flatbuffer', ('demo.Root', 'flatbuffer', f.read()), payloads)
        for i, (a, b) in enumerate(zip(ours, expected)):
            self.assertTrue(same(a, b), '%d: %s\nis not\n%s' % (i, a, b))


if __name__ == '__main__':
    unittest.main()
