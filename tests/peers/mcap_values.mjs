// The messages of an MCAP file as values, by libraries that are not ours: @mcap/core, and @foxglove/rosmsg with @foxglove/rosmsg-serialization (ros1) or
// @foxglove/rosmsg2-serialization (cdr). One JSON line each, in the order of time: [topic, value], as our JSON has them.
//   node mcap_values.mjs FILE
import { readFile } from "node:fs/promises";
import { McapStreamReader } from "@mcap/core";
import { parse } from "@foxglove/rosmsg";
import { MessageReader } from "@foxglove/rosmsg-serialization";
import { MessageReader as Ros2Reader } from "@foxglove/rosmsg2-serialization";
import { decompress as unzstd } from "fzstd";
import lz4 from "lz4js";

const decompressHandlers = { zstd: (data, size) => unzstd(data, new Uint8Array(Number(size))), lz4: (data, size) => lz4.decompress(data, Number(size)) };

// Integers beyond 2^53 and numbers that are not finite are texts, bytes as base64.
function plain(value) {
  if (typeof value === "bigint") {
    return (value < 0n ? -value : value) > 9007199254740992n ? String(value) : Number(value);
  }
  if (typeof value === "number" && !Number.isFinite(value)) {
    return String(value);
  }
  if (value instanceof Uint8Array) {
    return { $base64: Buffer.from(value).toString("base64") };
  }
  if (Array.isArray(value) || ArrayBuffer.isView(value)) {
    return Array.from(value, plain);
  }
  return typeof value === "object" && value !== null ? Object.fromEntries(Object.entries(value).map(([k, v]) => [k, plain(v)])) : value;
}

function decoder(channel, schema) {
  const text = schema ? new TextDecoder().decode(schema.data) : "";
  if (channel.messageEncoding === "ros1") {
    const reader = new MessageReader(parse(text));
    return (data) => plain(reader.readMessage(data));
  }
  if (channel.messageEncoding === "cdr" && schema.encoding === "ros2msg") {
    const types = parse(text, { ros2: true });
    if (types[0].definitions.every((d) => d.isConstant)) { // which the reader takes for a module of constants
      return () => ({});
    }
    const reader = new Ros2Reader(types);
    return (data) => plain(reader.readMessage(data));
  }
  if (channel.messageEncoding === "json") {
    return (data) => JSON.parse(new TextDecoder().decode(data));
  }
  throw new Error(`no decoder for ${channel.messageEncoding} of ${channel.topic}`);
}

const reader = new McapStreamReader({ validateCrcs: true, decompressHandlers });
reader.append(await readFile(process.argv[2]));
const schemas = new Map(), channels = new Map(), messages = [];
for (let record; (record = reader.nextRecord()); ) {
  if (record.type === "Schema") {
    schemas.set(record.id, record);
  } else if (record.type === "Channel" && !channels.has(record.id)) {
    channels.set(record.id, { topic: record.topic, decode: decoder(record, schemas.get(record.schemaId)) });
  } else if (record.type === "Message") {
    const { topic, decode } = channels.get(record.channelId);
    messages.push({ time: record.logTime, line: JSON.stringify([topic, decode(record.data)]) });
  }
}
messages.sort((a, b) => (a.time < b.time ? -1 : a.time > b.time ? 1 : 0));
process.stdout.write(messages.map((m) => m.line + "\n").join(""));
