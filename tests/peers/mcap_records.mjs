// The channels and messages of an MCAP file by @mcap/core, record by record from front to back, every CRC checked. A line of standard input is
// [PATH], the answer one line of JSON: {channels, messages, stopped}. `stopped` says why reading ended before the footer, null where it did not.
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { McapStreamReader } from "@mcap/core";
import { decompress as unzstd } from "fzstd";
import lz4 from "lz4js";

const decompressHandlers = {
  zstd: (data, size) => unzstd(data, new Uint8Array(Number(size))),
  lz4: (data, size) => lz4.decompress(data, Number(size)),
};

// An id that gets another topic later is another channel, so its key names both.
const keyOf = (channel) => `${channel.id} ${channel.topic}`;

function recordsOf(path) {
  const reader = new McapStreamReader({ validateCrcs: true, decompressHandlers });
  const channels = new Map();
  const keys = new Map();
  const messages = [];
  const result = (stopped) => ({ channels: [...channels.values()], messages, stopped });
  reader.append(new Uint8Array(readFileSync(path)));
  try {
    for (let record; (record = reader.nextRecord()); ) {
      if (record.type === "Channel") {
        keys.set(record.id, keyOf(record));
        channels.set(keyOf(record), { key: keyOf(record), topic: record.topic });
      } else if (record.type === "Message") {
        messages.push({ key: keys.get(record.channelId), time: String(record.logTime), data: Buffer.from(record.data).toString("hex") });
      }
    }
  } catch (error) {
    if (error.message.includes("magic")) {
      throw error;
    }
    return result(error.message);
  }
  return result(reader.done() ? null : "no footer");
}

for await (const line of createInterface({ input: process.stdin })) {
  let answer;
  try {
    answer = recordsOf(JSON.parse(line)[0]);
  } catch (error) {
    answer = { error: error.message };
  }
  process.stdout.write(JSON.stringify(answer) + "\n");
}
