"""Cap'n Proto messages that capnp makes of random JSON, decoded by us and by capnp."""
import json
import os
import random
import shutil
import subprocess
import unittest

from peer_flatbuffers import single, text
from peer_values import Decoding, same

SCHEMA = '''@0xbf5147cbbecf40c1;
enum Colour { red @0; green @1; blue @2; }
struct Vec { x @0 :Float32; y @1 :Float64 = 2.5; }
struct Root {
  b @0 :Bool = true; i8 @1 :Int8 = -3; i16 @2 :Int16; i32 @3 :Int32 = -5; i64 @4 :Int64 = -7; u8 @5 :UInt8 = 3; u16 @6 :UInt16; u32 @7 :UInt32; u64 @8 :UInt64 = 7;
  f @9 :Float32 = 1.5; d @10 :Float64; s @11 :Text; raw @12 :Data; c @13 :Colour = blue; v @14 :Vec; names @15 :List(Text); vs @16 :List(Vec);
  ints @17 :List(Int32); bools @18 :List(Bool); bytes @19 :List(UInt8); doubles @20 :List(Float64); colours @21 :List(Colour); deep @22 :List(List(Int16));
  nothing @23 :Void;
  union { one @24 :Int32; two @25 :Text; three :group { x @26 :Int32; y @27 :Text; } none @28 :Void; }
  place :group { lat @29 :Float64; lon @30 :Float64 = 3; kind :union { sea @31 :Void; land @32 :UInt8 = 9; } }
  self @33 :Root; voids @34 :List(Void); raws @35 :List(Data); b2 @36 :Bool; longs @37 :List(UInt64); parts @38 :List(Root);
}
'''
RANGES = {'i8': 8, 'i16': 16, 'i32': 32}
NATURALS = {'u8': 8, 'u16': 16, 'u32': 32}


def vec(r):
    return {k: v for k, v in (('x', single(r)), ('y', single(r))) if r.random() < 0.7}


def root(r, depth=0):
    """Each field or none, and one member of each union."""
    def many(of, most=4):
        return [of(r) for _ in range(r.randrange(most))]

    def octets(r):
        return many(lambda r: r.randrange(256), 10)

    def small(r):
        return r.randrange(-2**15, 2**15)
    out = {k: r.randrange(-2**(n - 1), 2**(n - 1)) for k, n in RANGES.items()}
    out.update({k: r.randrange(2**n) for k, n in NATURALS.items()})
    out.update(b=r.random() < 0.5, b2=r.random() < 0.5, i64=str(r.randrange(-2**63, 2**63)), u64=str(r.randrange(2**64)), f=single(r), d=single(r), s=text(r),
               raw=octets(r), c=r.choice(['red', 'green', 'blue']), v=vec(r), names=many(text), vs=many(vec), ints=many(small), bools=many(lambda r: r.random() < 0.5, 20),
               bytes=octets(r), doubles=many(single), colours=many(lambda r: r.choice(['red', 'blue'])), deep=many(lambda r: many(small)),
               place={'lat': single(r), 'kind': r.choice([{'sea': None}, {'land': r.randrange(256)}])}, voids=many(lambda r: None), raws=many(octets),
               longs=many(lambda r: str(r.randrange(2**64))))
    out = {k: v for k, v in out.items() if r.random() < 0.6}
    out.update(r.choice([{}, {'one': small(r)}, {'two': text(r)}, {'three': {'x': small(r), 'y': text(r)}}, {'none': None}]))
    if depth < 3 and r.random() < 0.7:
        out['self'] = root(r, depth + 1)
    if depth < 2 and r.random() < 0.5:
        out['parts'] = [root(r, 3) for _ in range(r.randrange(3))]
    return out


def theirs(value, key=None):
    """As capnp writes it, in our way: bytes are not a list, and only large integers are texts."""
    if isinstance(value, dict):
        return {k: theirs(v, k) for k, v in value.items()}
    if key in ('raw', 'bytes'):
        return bytes(value)
    if isinstance(value, list):
        return [bytes(v) for v in value] if key == 'raws' else [theirs(v, key) for v in value]
    return int(value) if key in ('i64', 'u64', 'longs') else value


class CapnProto(Decoding):
    def capnp(self, *args, given=b''):
        return subprocess.run(('capnp',) + args, cwd=self.folder, check=True, input=given, stdout=subprocess.PIPE).stdout

    def test_random_messages(self):
        if not shutil.which('capnp'):
            self.skipTest('capnp is not installed')
        with open(os.path.join(self.folder, 'demo.capnp'), 'w') as f:
            f.write(SCHEMA)
        request = self.capnp('compile', '-o-', 'demo.capnp')
        r, payloads, expected = random.Random(7), [], []
        for i in range(60):
            made = json.dumps(root(r) if i > 0 else {}).encode()
            payloads.append(self.capnp('convert', 'json:binary', 'demo.capnp', 'Root', given=made))
            expected.append(theirs(json.loads(self.capnp('convert', 'binary:json', 'demo.capnp', 'Root', given=payloads[-1]))))
        ours = self.decoded('capnproto', ('demo.capnp:Root', 'capnproto', request), payloads)
        for i, (a, b) in enumerate(zip(ours, expected)):
            self.assertTrue(same(a, b), '%d: %s\nis not\n%s' % (i, a, b))


if __name__ == '__main__':
    unittest.main()
