// Reads ROS bags of version 2.0 with the independent library @foxglove/rosbag, once as its viewers do, by the time of the index, and once chunk
// by chunk, and says what is in them. A line of standard input is [PATH, UNWRAP], its answer a line of JSON: {plain, topics}, or {error} when
// the library fails or the two ways do not see the same. With UNWRAP, `topics` has the data of a std_msgs/UInt8MultiArray, as the library
// decodes it by the definition that is in the bag.
import { createHash } from "node:crypto";
import { createInterface } from "node:readline";
import { Bag } from "@foxglove/rosbag";
import { FileReader } from "@foxglove/rosbag/node.js";
import lz4 from "lz4js";
import bzip2 from "seek-bzip";

const WRAPPER = "std_msgs/UInt8MultiArray";

// What @foxglove/rosbag leaves to others; it does not hold the size against the chunk's header.
const sized = (bytes, size) => {
  if (bytes.length !== size) {
    throw new Error(`a chunk of ${size} bytes came out as ${bytes.length}`);
  }
  return bytes;
};
const decompress = {
  lz4: (data, size) => sized(lz4.decompress(data, size), size),
  bz2: (data, size) => sized(bzip2.decode(data), size),
};

const nanoseconds = ({ sec, nsec }) => BigInt(sec) * 1_000_000_000n + BigInt(nsec);
const byTime = (a, b) => (a.time < b.time ? -1 : a.time > b.time ? 1 : 0);
const lineOf = (topic, time, data) => `${topic} ${nanoseconds(time)} ${createHash("sha256").update(data).digest("hex")}`;

function demandEqual(what, one, other) {
  if (String(one) !== String(other)) {
    throw new Error(`${what}: ${one} and ${other}`);
  }
}

// By the index, in the order of time; messages of one moment come in any order.
async function iterated(bag) {
  const lines = [];
  if (bag.chunkInfos.length > 0) {
    for await (const m of bag.messageIterator({ start: { sec: 0, nsec: 0 } })) {
      lines.push(lineOf(m.topic, m.timestamp, m.data));
    }
  }
  return lines;
}

// Chunk by chunk, with the messages of each topic in the order of time and those of one moment in the order of the file.
async function chunked(bag, unwrap) {
  const topics = new Map();
  const [wrapped, others] = [[], []];
  for (const topic of new Set([...bag.connections.values()].map((c) => c.topic))) {
    const types = [...bag.connections.values()].filter((c) => c.topic === topic).map((c) => c.type);
    (unwrap && types.every((type) => type === WRAPPER) ? wrapped : others).push(topic);
  }
  const take = ({ topic, timestamp, data, message }) => {
    const list = topics.get(topic) ?? [];
    list.push({ time: nanoseconds(timestamp), data, inner: message?.data ?? data, line: lineOf(topic, timestamp, data) });
    topics.set(topic, list);
  };
  await bag.readMessages({ topics: others, decompress, noParse: true }, take);
  await bag.readMessages({ topics: wrapped, decompress }, take);
  topics.forEach((list) => list.sort(byTime));
  return topics;
}

function summary(messages, pick) {
  const hash = createHash("sha256");
  let bytes = 0;
  for (const message of messages) {
    hash.update(pick(message));
    bytes += pick(message).length;
  }
  return { count: messages.length, bytes, first: String(messages[0].time), last: String(messages.at(-1).time), sha256: hash.digest("hex") };
}

const summed = (topics, pick) => Object.fromEntries([...topics].map(([name, messages]) => [name, summary(messages, pick)]));

async function inspect(path, unwrap) {
  const file = new FileReader(path);
  try {
    const bag = new Bag(file, { decompress, parse: false });
    await bag.open();
    const topics = await chunked(bag, unwrap);
    const lines = [...topics.values()].flatMap((list) => list.map((m) => m.line));
    demandEqual("messages, by the chunk infos and read", bag.chunkInfos.flatMap((i) => i.connections).reduce((n, c) => n + c.count, 0), lines.length);
    const other = await iterated(bag);
    demandEqual("messages, chunk by chunk and by the index", lines.length, other.length);
    other.sort();
    lines.sort().forEach((line, i) => demandEqual("a message, chunk by chunk and by the index", line, other[i]));
    return { plain: summed(topics, (m) => m.data), topics: summed(topics, (m) => m.inner) };
  } finally {
    await file.close();
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  const [path, unwrap] = JSON.parse(line);
  const answer = await inspect(path, unwrap).catch((error) => ({ error: `${path}: ${error.message}` }));
  process.stdout.write(JSON.stringify(answer) + "\n");
}
