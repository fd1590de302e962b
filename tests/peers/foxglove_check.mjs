// Reads an MCAP file made with view=foxglove by the independent library @mcap/core and prints what is in it as JSON. Every message that the view
// made must hold against the schema in the file and, where the schema is one of Foxglove's, against the schema they publish (ajv for both); the
// schemas in the file must be such as viewers read; every ROS message must be read by the definition in the file. "roots" are those of the trees
// of frames: a picture hangs together when there is one. Exit code 1 with a line on stderr otherwise.
//   node foxglove_check.mjs FILE [TOPIC…]      with topics: their messages too
import { open } from "node:fs/promises";
import { parse as parseDefinition } from "@foxglove/rosmsg";
import { MessageReader } from "@foxglove/rosmsg-serialization";
import * as published from "@foxglove/schemas/jsonschema.js";
import { McapIndexedReader } from "@mcap/core";
import Ajv from "ajv";
import { checkReadable, demand } from "./json_schema.mjs";

const ajv = new Ajv({ strict: false });

class FileReadable {
  constructor(handle) {
    this.handle = handle;
  }
  async size() {
    return BigInt((await this.handle.stat()).size);
  }
  async read(offset, size) {
    const buffer = new Uint8Array(Number(size));
    await this.handle.read(buffer, 0, buffer.length, Number(offset));
    return buffer;
  }
}

// A function from bytes to the value, which must hold; nothing for what the view did not make and no schema defines.
function readerOf(schema) {
  if (schema.encoding === "ros1msg") {
    const reader = new MessageReader(parseDefinition(new TextDecoder().decode(schema.data)));
    return (data) => reader.readMessage(data);
  }
  if (schema.encoding === "jsonschema" && /^(foxglove|reel)\./.test(schema.name)) {
    const checks = validators(schema);
    return (data) => {
      const value = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(data));
      for (const check of checks) {
        demand(check(value), JSON.stringify(check.errors?.[0]));
      }
      return value;
    };
  }
}

function validators(schema) {
  const own = JSON.parse(new TextDecoder().decode(schema.data));
  demand(own.type === "object", `${schema.name}: its schema is no object`);
  checkReadable(own, schema.name);
  const list = [ajv.compile(own)];
  if (schema.name.startsWith("foxglove.")) {
    const theirs = published[schema.name.slice("foxglove.".length)];
    demand(theirs, `${schema.name} is not published`);
    list.push(ajv.compile(theirs));
  }
  return list;
}

class Frames {
  parent = new Map();
  used = new Set();
  take(message) {
    for (const t of message.transforms ?? []) {
      const parent = t.parent_frame_id ?? t.header.frame_id; // ours, or tf's
      demand(t.child_frame_id !== "" && parent !== t.child_frame_id, `frame ${t.child_frame_id} is its own parent`);
      this.parent.set(t.child_frame_id, parent);
      const r = t.rotation ?? t.transform.rotation;
      demand(Math.abs(Math.hypot(r.x, r.y, r.z, r.w) - 1) < 1e-4, `frame ${t.child_frame_id}: its turn is none`);
    }
    for (const e of message.entities ?? []) {
      this.used.add(e.frame_id);
    }
    if (typeof message.frame_id === "string") {
      this.used.add(message.frame_id);
    }
  }
  root(frame) {
    for (let steps = 0; this.parent.has(frame); steps++) {
      demand(steps < 1000, `frames go round at ${frame}`);
      frame = this.parent.get(frame);
    }
    return frame;
  }
  roots() {
    return [...new Set([...this.parent.keys(), ...this.used].map((f) => this.root(f)))].sort();
  }
}

async function main(path, wanted) {
  const handle = await open(path);
  try {
    const reader = await McapIndexedReader.Initialize({ readable: new FileReadable(handle), decompressHandlers: {} });
    const readers = new Map([...reader.schemasById.values()].map((schema) => [schema.id, readerOf(schema)]));
    const topics = {};
    const messages = {};
    const frames = new Frames();
    for (const c of reader.channelsById.values()) {
      const schema = reader.schemasById.get(c.schemaId);
      topics[c.topic] = { schema: schema?.name ?? null, encoding: c.messageEncoding, read: readers.get(c.schemaId) !== undefined, count: 0 };
    }
    for await (const m of reader.readMessages({ validateCrcs: true })) {
      const channel = reader.channelsById.get(m.channelId);
      const read = readers.get(channel.schemaId);
      topics[channel.topic].count++;
      if (!read) {
        continue;
      }
      let value;
      try {
        value = read(m.data);
      } catch (error) {
        throw new Error(`${channel.topic} at ${m.logTime}: ${error.message}`);
      }
      frames.take(value);
      if (wanted.includes(channel.topic)) {
        (messages[channel.topic] ??= []).push({ time: String(m.logTime), value });
      }
    }
    process.stdout.write(JSON.stringify({ topics, roots: frames.roots(), frames: [...frames.parent.keys()].sort(), messages }) + "\n");
  } finally {
    await handle.close();
  }
}

if (process.argv.length < 3) {
  process.stderr.write("usage: node foxglove_check.mjs FILE [TOPIC…]\n");
  process.exit(2);
}
main(process.argv[2], process.argv.slice(3)).catch((error) => {
  process.stderr.write(`${process.argv[2]}: ${error.message}\n`);
  process.exit(1);
});
