// Writes an MCAP file of ROS 2 messages in CDR, made by Foxglove's own writer from pseudo-random values, and prints the values as JSON lines: [topic, value].
import { open } from "node:fs/promises";
import { McapWriter } from "@mcap/core";
import { parse } from "@foxglove/rosmsg";
import { MessageWriter } from "@foxglove/rosmsg2-serialization";

const LINE = "=".repeat(80) + "\n";
const NESTED = `pkg/Row[] rows\npkg/Row[2] pair\nstring name\npkg/Row one\nbool last\n${LINE}MSG: pkg/Row\nuint8 a\nfloat64[] b\nstring[] c\npkg/Cell cell\n${LINE}MSG: pkg/Cell\nint16 x\nuint64 y\nbool z\n`;
const FLAT = ["bool", "int8", "float64", "uint8", "int16", "byte", "uint16", "float32", "char", "int64", "uint8", "uint32", "string", "uint64", "bool", "int32"];
const IDL = `${LINE}IDL: pkg/msg/Idl
module pkg { module msg {
  typedef double double__3[3];
  struct Part { octet a; double b; string c; };
  struct Idl { boolean a; unsigned short b; double__3 c; sequence<pkg::msg::Part> d; char e; long long f; unsigned long g[2]; string<9> h; float i; pkg::msg::Part j; };
}; };
`;
// The IDL, in the language that the writer's parser knows.
const IDL_AS_MSG = `bool a\nuint16 b\nfloat64[3] c\npkg/Part[] d\nuint8 e\nint64 f\nuint32[2] g\nstring h\nfloat32 i\npkg/Part j\n${LINE}MSG: pkg/Part\nuint8 a\nfloat64 b\nstring c\n`;
const KINDS = [
  ["pkg/msg/Flat", "ros2msg", FLAT.map((t, i) => `${t} f${i}\n`).join("")],
  ["pkg/msg/Lists", "ros2msg", FLAT.map((t, i) => `${t}[] f${i}\nuint8 g${i}\n`).join("")],
  ["pkg/msg/Arrays", "ros2msg", FLAT.map((t, i) => `${t}[3] f${i}\nuint8 g${i}\n`).join("")],
  ["pkg/msg/Nested", "ros2msg", NESTED],
  ["pkg/msg/Idl", "ros2idl", IDL, IDL_AS_MSG],
];

let seed = 12345;
function random(n) {
  seed ^= seed << 13;
  seed ^= seed >>> 17;
  seed ^= seed << 5;
  return (seed >>> 0) % n;
}

const values = {
  bool: () => random(7) > 3,
  int8: () => random(256) - 128,
  uint8: () => random(256),
  int16: () => random(65536) - 32768,
  uint16: () => random(65536),
  int32: () => random(2147483648) - 1073741824,
  uint32: () => random(2147483648) * 2,
  int64: () => BigInt(random(2147483648) - 1073741824) * 1000003n,
  uint64: () => BigInt(random(2147483648)) * 4000000007n,
  float32: () => Math.fround(random(100000) / 7),
  float64: () => random(2147483648) / 7 - 1e8,
  string: () => "a text".slice(0, random(8)),
};

function make(types, type) {
  const message = {};
  for (const field of type.definitions.filter((d) => d.isConstant !== true)) {
    const one = () => (field.isComplex ? make(types, types.find((t) => t.name === field.type)) : values[field.type]());
    const count = field.arrayLength ?? random(4);
    message[field.name] = field.isArray ? Array.from({ length: count }, one) : one();
  }
  return message;
}

// As our JSON has it: bytes as base64, integers beyond 2^53 as texts.
function plain(types, type, message) {
  const out = {};
  for (const field of type.definitions.filter((d) => d.isConstant !== true)) {
    const value = message[field.name];
    const one = (v) => {
      if (typeof v === "bigint") {
        const size = v < 0n ? -v : v;
        return size > 9007199254740992n ? String(v) : Number(v);
      }
      return field.isComplex ? plain(types, types.find((t) => t.name === field.type), v) : v;
    };
    const bytes = field.isArray && field.type === "uint8";
    out[field.name] = bytes ? { $base64: Buffer.from(value).toString("base64") } : field.isArray ? value.map(one) : one(value);
  }
  return out;
}

const file = await open(process.argv[2], "w");
let position = 0n;
const writable = {
  position: () => position,
  write: async (data) => {
    position += BigInt((await file.write(data)).bytesWritten);
  },
};
const writer = new McapWriter({ writable });
await writer.start({ profile: "ros2", library: "" });
let time = 0n;
for (const [name, encoding, text, asMsg] of KINDS) {
  const types = parse(asMsg ?? text, { ros2: true });
  const top = types[0];
  const cdr = new MessageWriter(types);
  const schemaId = await writer.registerSchema({ name, encoding, data: new TextEncoder().encode(text) });
  const channelId = await writer.registerChannel({ topic: "/" + name, schemaId, messageEncoding: "cdr", metadata: new Map() });
  for (let i = 0; i < 200; i++, time++) {
    const message = make(types, top);
    await writer.addMessage({ channelId, sequence: i, logTime: time, publishTime: time, data: cdr.writeMessage(message) });
    console.log(JSON.stringify(["/" + name, plain(types, top, message)]));
  }
}
await writer.end();
await file.close();
