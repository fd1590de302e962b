// The messages of a ULog file by @foxglove/ulog, as JSON lines in the order of time: [topic, value] of data and texts, and last [null, {parameters, infos}].
//   node ulog_values.mjs FILE
import ulog from "@foxglove/ulog";
import node from "@foxglove/ulog/dist/node/index.js";

function plain(value) {
  if (typeof value === "bigint") {
    return value > 9007199254740992n || value < -9007199254740992n ? String(value) : Number(value);
  }
  if (typeof value === "number" && !Number.isFinite(value)) {
    return String(value);
  }
  if (typeof value === "string") {
    return value.split("\0")[0];
  }
  if (Array.isArray(value)) {
    return value.map(plain);
  }
  return typeof value === "object" && value !== null ? Object.fromEntries(Object.entries(value).map(([k, v]) => [k, plain(v)])) : value;
}

const log = new ulog.ULog(new node.FileReader(process.argv[2]));
await log.open();
const rows = [];
for await (const m of log.readMessages()) {
  if (m.type === ulog.MessageType.Data) {
    const { name, multiId } = log.subscriptions.get(m.msgId);
    rows.push([multiId > 0 ? `/${name}/${multiId}` : `/${name}`, plain(m.value)]);
  } else if (m.type === ulog.MessageType.Log || m.type === ulog.MessageType.LogTagged) {
    rows.push(["/log_message", { time: Number(m.timestamp), text: m.message }]);
  }
}
const parameters = Object.fromEntries([...log.header.parameters].map(([k, v]) => [k, plain(v.value)]));
rows.push([null, { parameters, infos: Object.fromEntries([...log.header.information].map(([k, v]) => [k, plain(v)])) }]);
process.stdout.write(rows.map((row) => JSON.stringify(row)).join("\n") + "\n");
