// Decodes the messages of an MCAP file by their definitions in OMG IDL with Foxglove's packages, and writes those that their writer can write into a
// second one, in plain CDR of another version or byte order: FILE OUT. Prints [topic, value] for each message, then [topic, value, "written"].
import { open, readFile } from "node:fs/promises";
import { EncapsulationKind } from "@foxglove/cdr";
import { parseIDL } from "@foxglove/omgidl-parser";
import { MessageReader, MessageWriter } from "@foxglove/omgidl-serialization";
import { parseRos2idl } from "@foxglove/ros2idl-parser";
import { MessageReader as Ros2Reader } from "@foxglove/rosmsg2-serialization";
import { McapStreamReader, McapWriter } from "@mcap/core";

const KINDS = [EncapsulationKind.CDR_LE, EncapsulationKind.CDR2_LE, EncapsulationKind.CDR2_BE, EncapsulationKind.CDR_BE];

// As our JSON has it: bytes as base64, integers beyond 2^53 as texts.
function plain(value) {
  if (typeof value === "bigint") {
    const size = value < 0n ? -value : value;
    return size > 9007199254740992n ? String(value) : Number(value);
  }
  if (value instanceof Uint8Array) {
    return { $base64: Buffer.from(value).toString("base64") };
  }
  if (ArrayBuffer.isView(value) || Array.isArray(value)) {
    return Array.from(value, plain);
  }
  return value && typeof value === "object" ? Object.fromEntries(Object.entries(value).map(([k, v]) => [k, plain(v)])) : value;
}

const file = await open(process.argv[3], "w");
let position = 0n;
const out = new McapWriter({
  writable: {
    position: () => position,
    write: async (data) => {
      position += BigInt((await file.write(data)).bytesWritten);
    },
  },
});
await out.start({ profile: "", library: "" });

// The payload that their writer makes of a value, if their reader has the same value of it: it knows no unions and no arrays of several dimensions.
function rewrite(channel, value, n) {
  if (!channel.types) {
    return undefined;
  }
  try {
    const data = new MessageWriter(channel.name, channel.types, { kind: KINDS[n % KINDS.length] }).writeMessage(value);
    const again = plain(channel.reader.readMessage(data));
    return JSON.stringify(again) === JSON.stringify(plain(value)) ? data : undefined;
  } catch {
    return undefined;
  }
}

const stream = new McapStreamReader();
const schemas = new Map();
const channels = new Map();
let n = 0;
stream.append(await readFile(process.argv[2]));
for (let record; (record = stream.nextRecord()); ) {
  if (record.type === "Schema") {
    schemas.set(record.id, record);
  } else if (record.type === "Channel") {
    const schema = schemas.get(record.schemaId);
    const text = new TextDecoder().decode(schema.data);
    const types = schema.encoding === "omgidl" ? parseIDL(text) : undefined;
    const reader = types ? new MessageReader(schema.name, types) : new Ros2Reader(parseRos2idl(text));
    const schemaId = await out.registerSchema({ name: schema.name, encoding: schema.encoding, data: schema.data });
    const channelId = await out.registerChannel({ topic: record.topic, schemaId, messageEncoding: "cdr", metadata: new Map() });
    channels.set(record.id, { topic: record.topic, name: schema.name, types, channelId, reader });
  } else if (record.type === "Message") {
    const channel = channels.get(record.channelId);
    let value;
    try {
      value = channel.reader.readMessage(record.data);
    } catch (error) {
      throw new Error(`${channel.topic}: ${error.message}`);
    }
    const data = rewrite(channel, value, n++);
    console.log(JSON.stringify([channel.topic, plain(value)]));
    if (data) {
      await out.addMessage({ channelId: channel.channelId, sequence: n, logTime: record.logTime, publishTime: record.logTime, data });
      console.log(JSON.stringify([channel.topic, plain(value), "written"]));
    }
  }
}
await out.end();
await file.close();
