// Takes each definition in a bag or MCAP file as viewers take it, with their own packages, and decodes each message by it. A line of standard
// input is [PATH, DECODE, OWN]: whether messages are decoded, and whether Reel wrote the JSON Schemas, which must be such as viewers read. Its
// answer is a line of JSON: {definitions, messages}, or {error}.
import { readFile } from "node:fs/promises";
import { createInterface } from "node:readline";
import { Bag } from "@foxglove/rosbag";
import { FileReader } from "@foxglove/rosbag/node.js";
import { parse } from "@foxglove/rosmsg";
import { MessageReader } from "@foxglove/rosmsg-serialization";
import { MessageReader as Ros2Reader } from "@foxglove/rosmsg2-serialization";
import { McapStreamReader } from "@mcap/core";
import { decompress as zstd } from "fzstd";
import lz4 from "lz4js";
import bzip2 from "seek-bzip";
import { checkReadable } from "./json_schema.mjs";

const decompress = { lz4: (data) => lz4.decompress(data), bz2: (data, size) => bzip2.decode(data, size), zstd: (data) => zstd(data) };
const text = (data) => new TextDecoder("utf-8", { fatal: true }).decode(data);

// A function that decodes a message; nothing where there is no definition, or one that these packages do not read.
function readerOf(encoding, schema, own) {
  if (encoding === "ros1msg") {
    const reader = new MessageReader(parse(schema));
    return (data) => reader.readMessage(data);
  }
  if (encoding === "ros2msg") {
    const reader = new Ros2Reader(parse(schema, { ros2: true }));
    return (data) => reader.readMessage(data);
  }
  if (encoding === "jsonschema") {
    const parsed = JSON.parse(schema);
    if (own) {
      checkReadable(parsed, "schema");
    }
    return (data) => JSON.parse(text(data));
  }
}

class Seen {
  definitions = 0;
  messages = 0;
  constructor(decode, own) {
    Object.assign(this, { decode, own });
  }
  define(place, encoding, schema) {
    try {
      const read = readerOf(encoding, schema, this.own);
      this.definitions += read ? 1 : 0;
      return (data) => {
        try {
          this.messages += read && this.decode ? 1 : 0;
          return this.decode && read?.(data);
        } catch (error) {
          throw new Error(`a message of ${place}: ${error.message}`);
        }
      };
    } catch (error) {
      throw new Error(`${place}: ${error.message}`);
    }
  }
}

async function bagFile(path, seen) {
  const file = new FileReader(path);
  try {
    const bag = new Bag(file, { decompress, parse: false });
    await bag.open();
    const readers = new Map([...bag.connections.values()].map((c) => [c.conn, seen.define(c.topic, "ros1msg", c.messageDefinition)]));
    if (bag.chunkInfos.length > 0) {
      for await (const m of bag.messageIterator({ start: { sec: 0, nsec: 0 } })) {
        readers.get(m.connectionId)(m.data);
      }
    }
  } finally {
    await file.close();
  }
}

async function mcapFile(path, seen) {
  const stream = new McapStreamReader({ decompressHandlers: { lz4: decompress.lz4, zstd: decompress.zstd } });
  const schemas = new Map();
  const readers = new Map();
  stream.append(await readFile(path));
  for (let record; (record = stream.nextRecord()); ) {
    if (record.type === "Schema") {
      schemas.set(record.id, record);
    } else if (record.type === "Channel" && !readers.has(record.id)) {
      const schema = schemas.get(record.schemaId);
      const known = schema && { ros1msg: "ros1", ros2msg: "cdr", jsonschema: "json" }[schema.encoding] === record.messageEncoding;
      readers.set(record.id, seen.define(record.topic, known ? schema.encoding : "", known ? text(schema.data) : ""));
    } else if (record.type === "Message") {
      readers.get(record.channelId)(record.data);
    }
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  const [path, decode, own] = JSON.parse(line);
  const seen = new Seen(decode, own);
  const answer = await (path.endsWith(".bag") ? bagFile : mcapFile)(path, seen).then(
    () => seen,
    (error) => ({ error: error.message }),
  );
  process.stdout.write(JSON.stringify({ ...answer, decode: undefined, own: undefined }) + "\n");
}
