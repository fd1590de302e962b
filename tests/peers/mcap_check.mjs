// Reads MCAP files with the independent library @mcap/core, once by their index and once from front to back, every CRC checked, and says what is
// in them. A line of standard input is [PATH], its answer a line of JSON: {topics, …}, or {error} when either reader fails or the two do not see
// the same.
import { createHash } from "node:crypto";
import { open } from "node:fs/promises";
import { createInterface } from "node:readline";
import { McapIndexedReader, McapStreamReader } from "@mcap/core";
import { decompress as unzstd } from "fzstd";
import lz4 from "lz4js";

// What @mcap/core leaves to others. It checks the size and CRC of what comes out itself.
const decompressHandlers = {
  zstd: (data, size) => unzstd(data, new Uint8Array(Number(size))),
  lz4: (data, size) => lz4.decompress(data, Number(size)),
};

const sha256 = (bytes) => createHash("sha256").update(bytes).digest("hex");

class FileReadable {
  constructor(handle) {
    this.handle = handle;
  }
  async size() {
    return BigInt((await this.handle.stat()).size);
  }
  async read(offset, size) {
    const buffer = new Uint8Array(Number(size));
    const { bytesRead } = await this.handle.read(buffer, 0, buffer.length, Number(offset));
    if (bytesRead !== buffer.length) {
      throw new Error(`read past the end: ${size} bytes at ${offset}`);
    }
    return buffer;
  }
}

// Every message of the file as {topic, time, line}, in the order of the records; `line` is all that the two readers must agree on.
async function readStreamed(handle) {
  const reader = new McapStreamReader({ validateCrcs: true, includeChunks: true, decompressHandlers });
  const seen = { messages: [], channels: new Map(), schemas: new Map(), chunks: 0, attachments: 0, metadata: 0, uncheckedChunks: 0 };
  const take = (record) => {
    if (record.type === "Schema") {
      seen.schemas.set(record.id, record);
    } else if (record.type === "Channel") {
      seen.channels.set(record.id, record);
    } else if (record.type === "Chunk") {
      seen.chunks++;
      seen.uncheckedChunks += record.uncompressedCrc === 0 && record.records.byteLength > 0 ? 1 : 0;
    } else if (record.type === "Attachment") {
      seen.attachments++;
    } else if (record.type === "Metadata") {
      seen.metadata++;
    } else if (record.type === "Message") {
      const { topic } = seen.channels.get(record.channelId);
      seen.messages.push({ topic, time: record.logTime, line: lineOf(record) });
    }
  };
  const piece = Buffer.alloc(1 << 20);
  for (let at = 0; ; ) {
    const { bytesRead } = await handle.read(piece, 0, piece.length, at);
    if (bytesRead === 0) {
      break;
    }
    at += bytesRead;
    reader.append(new Uint8Array(piece.subarray(0, bytesRead)));
    for (let record; (record = reader.nextRecord()); ) {
      take(record);
    }
  }
  if (!reader.done()) {
    throw new Error("streamed: the file does not end with a footer and magic");
  }
  return seen;
}

const lineOf = (m) => `${m.channelId} ${m.sequence} ${m.logTime} ${m.publishTime} ${sha256(m.data)}`;

async function readIndexed(handle) {
  const reader = await McapIndexedReader.Initialize({ readable: new FileReadable(handle), decompressHandlers });
  const topics = new Map();
  for (const channel of reader.channelsById.values()) {
    const schema = reader.schemasById.get(channel.schemaId);
    if (channel.schemaId === 0 || !schema) {
      throw new Error(`indexed: channel ${channel.topic} has no schema`);
    }
    const fresh = {
      hash: createHash("sha256"),
      lines: [],
      bytes: 0,
      channels: 0,
      schema: schema.name,
      schema_encoding: schema.encoding,
      message_encoding: channel.messageEncoding,
    };
    const topic = topics.get(channel.topic) ?? fresh;
    topic.channels++;
    topics.set(channel.topic, topic);
  }
  for await (const message of reader.readMessages({ validateCrcs: true })) {
    const topic = topics.get(reader.channelsById.get(message.channelId).topic);
    topic.hash.update(message.data);
    topic.bytes += message.data.byteLength;
    topic.first ??= message.logTime;
    topic.last = message.logTime;
    topic.lines.push(lineOf(message));
  }
  const attachments = [];
  for await (const a of reader.readAttachments({ validateCrcs: true })) {
    attachments.push({ name: a.name, media_type: a.mediaType, bytes: a.data.byteLength, sha256: sha256(a.data) });
  }
  const metadata = [];
  for await (const m of reader.readMetadata()) {
    metadata.push({ name: m.name, values: Object.fromEntries(m.metadata) });
  }
  return { reader, topics, attachments, metadata };
}

function demandEqual(what, streamed, indexed) {
  if (String(streamed) !== String(indexed)) {
    throw new Error(`${what}: ${streamed} streamed, ${indexed} by the index`);
  }
}

function compare(streamed, { reader, topics, attachments, metadata }) {
  const { statistics } = reader;
  if (!statistics) {
    throw new Error("indexed: there are no statistics");
  }
  demandEqual("chunks", streamed.chunks, reader.chunkIndexes.length);
  demandEqual("chunks in the statistics", streamed.chunks, statistics.chunkCount);
  demandEqual("channels", streamed.channels.size, reader.channelsById.size);
  demandEqual("channels in the statistics", streamed.channels.size, statistics.channelCount);
  demandEqual("schemas", streamed.schemas.size, reader.schemasById.size);
  demandEqual("schemas in the statistics", streamed.schemas.size, statistics.schemaCount);
  demandEqual("attachments", streamed.attachments, attachments.length);
  demandEqual("attachments in the statistics", streamed.attachments, statistics.attachmentCount);
  demandEqual("metadata records", streamed.metadata, metadata.length);
  demandEqual("metadata records in the statistics", streamed.metadata, statistics.metadataCount);
  demandEqual("messages in the statistics", streamed.messages.length, statistics.messageCount);
  const byTopic = new Map();
  for (const message of streamed.messages) {
    const list = byTopic.get(message.topic) ?? [];
    list.push(message);
    byTopic.set(message.topic, list);
  }
  for (const [name, topic] of topics) {
    const list = byTopic.get(name) ?? [];
    list.sort((a, b) => (a.time < b.time ? -1 : a.time > b.time ? 1 : 0));
    demandEqual(`messages of ${name}`, list.length, topic.lines.length);
    list.forEach((message, i) => demandEqual(`message ${i} of ${name}`, message.line, topic.lines[i]));
  }
}

async function inspect(path) {
  const handle = await open(path);
  try {
    const streamed = await readStreamed(handle);
    const indexed = await readIndexed(handle);
    compare(streamed, indexed);
    const topics = {};
    for (const [name, t] of [...indexed.topics].sort(([a], [b]) => (a < b ? -1 : 1))) {
      topics[name] = {
        count: t.lines.length,
        first: t.first === undefined ? null : String(t.first),
        last: t.last === undefined ? null : String(t.last),
        bytes: t.bytes,
        sha256: t.hash.digest("hex"),
        channels: t.channels,
        schema: t.schema,
        schema_encoding: t.schema_encoding,
        message_encoding: t.message_encoding,
      };
    }
    const { header } = indexed.reader;
    const { chunks, uncheckedChunks } = streamed;
    const { attachments, metadata } = indexed;
    const counts = { chunks, chunks_without_crc: uncheckedChunks };
    return { library: header.library, profile: header.profile, ...counts, topics, attachments, metadata };
  } finally {
    await handle.close();
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  const [path] = JSON.parse(line);
  const answer = await inspect(path).catch((error) => ({ error: `${path}: ${error.message}` }));
  process.stdout.write(JSON.stringify(answer) + "\n");
}
