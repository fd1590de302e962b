// Tables (Parquet, Arrow) in independent readers, each value compared with the NDJSON of the same messages: hyparquet, DuckDB, parquet-wasm (arrow-rs)
// and apache-arrow.
//   node table_check.mjs LIST    LIST: a JSON file [{"name", "ndjson", "parquet", "arrows"}, …]; the last two may be missing
// Prints what differs, then "N tables, N values".
import { readFileSync } from "node:fs";
import { DuckDBInstance } from "@duckdb/node-api";
import { DataType, tableFromIPC } from "apache-arrow";
import { asyncBufferFromFile, parquetMetadataAsync, parquetReadObjects } from "hyparquet";
import { compressors } from "hyparquet-compressors";
import { createRequire } from "node:module";

const wasm = createRequire(import.meta.url)("parquet-wasm/node");
let values = 0;

// ---- what a reader gives, as plain values: times as {ns}, 64-bit integers as bigint, bytes as Uint8Array

const parsers = {
  timestampFromNanoseconds: (ns) => ({ ns }),
  timestampFromMilliseconds: (ms) => ({ ns: ms * 1000000n }),
  timestampFromMicroseconds: (us) => ({ ns: us * 1000n }),
};

async function hyparquet(path) {
  const file = await asyncBufferFromFile(path);
  const metadata = await parquetMetadataAsync(file);
  return parquetReadObjects({ file, metadata, compressors, utf8: false, parsers });
}

function fromDuck(value) {
  if (value === null || typeof value !== "object") {
    return value;
  }
  if (value.items) {
    return value.items.map(fromDuck);
  }
  if (value.entries) {
    return Object.fromEntries(Object.entries(value.entries).map(([k, v]) => [k, fromDuck(v)]));
  }
  if (value.micros !== undefined) {
    return { us: value.micros };
  }
  return value.bytes ?? value;
}

let duck;
async function duckdb(path) {
  duck ??= await (await DuckDBInstance.create(":memory:")).connect();
  const read = await duck.runAndReadAll(`SELECT * FROM read_parquet('${path}')`);
  const names = read.columnNames();
  return read.getRows().map((row) => Object.fromEntries(row.map((value, i) => [names[i], fromDuck(value)])));
}

// Of one slot of Arrow's buffers: the library's own values have lost the nanoseconds.
function fromArrow(data, i) {
  const type = data.type;
  if (data.nullCount > 0 && data.nullBitmap.length > 0 && !((data.nullBitmap[(data.offset + i) >> 3] >> ((data.offset + i) & 7)) & 1)) {
    return null;
  }
  if (DataType.isList(type)) {
    return Array.from({ length: data.valueOffsets[i + 1] - data.valueOffsets[i] }, (_, k) => fromArrow(data.children[0], data.valueOffsets[i] + k));
  }
  if (DataType.isStruct(type)) {
    return Object.fromEntries(type.children.map((child, k) => [child.name, fromArrow(data.children[k], i)]));
  }
  if (DataType.isUtf8(type)) {
    return new TextDecoder().decode(data.values.subarray(data.valueOffsets[i], data.valueOffsets[i + 1]));
  }
  if (DataType.isBinary(type)) {
    return data.values.slice(data.valueOffsets[i], data.valueOffsets[i + 1]);
  }
  if (DataType.isBool(type)) {
    return Boolean((data.values[(data.offset + i) >> 3] >> ((data.offset + i) & 7)) & 1);
  }
  return DataType.isTimestamp(type) ? { ns: data.values[i] } : data.values[i];
}

function arrow(bytes) {
  const table = tableFromIPC(bytes);
  const rows = [];
  for (const batch of table.batches) {
    for (let i = 0; i < batch.numRows; i++) {
      rows.push(fromArrow(batch.data, i));
    }
  }
  return rows;
}

// ---- comparison

// As ROS has them, or as ProtoJSON does.
const TIME = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d+))?Z$/, DURATION = /^(-?)(\d+)(?:\.(\d+))?s$/;
const isTime = (v) =>
  typeof v === "string" ? TIME.test(v) || DURATION.test(v) : v !== null && typeof v === "object" && "sec" in v && ("nsec" in v || "nanosec" in v) && Object.keys(v).length === 2;

function nanoseconds(v) {
  if (typeof v !== "string") {
    return BigInt(v.sec) * 1000000000n + BigInt(v.nsec ?? v.nanosec);
  }
  const [, time, decimals = ""] = TIME.exec(v) ?? [];
  if (time) {
    return BigInt(Date.parse(`${time}Z`)) * 1000000n + BigInt(decimals.padEnd(9, "0"));
  }
  const [, sign, seconds, part = ""] = DURATION.exec(v), ns = BigInt(seconds) * 1000000000n + BigInt(part.padEnd(9, "0"));
  return sign ? -ns : ns;
}

function sameTime(expected, got) {
  const ns = isTime(expected) ? nanoseconds(expected) : BigInt(expected);
  return got.ns !== undefined ? got.ns === ns : got.us === ns / 1000n; // DuckDB keeps microseconds
}

function sameNumber(expected, got) {
  if (typeof expected === "string") {
    return String(got) === expected; // beyond 2^53, or not finite
  }
  return typeof got === "bigint" ? BigInt(expected) === got : expected === got || Math.fround(expected) === got;
}

// Texts that are not UTF-8 are shown as \xNN by one, as U+FFFD by the other.
const sameText = (expected, got) => expected === got || (got.includes("\ufffd") && expected.replace(/\\x[0-9a-f]{2}/g, "\ufffd") === got);

function difference(expected, got, path) {
  values++;
  const differs = () => `${path}: ${JSON.stringify(expected)?.slice(0, 200)} is ${String(typeof got === "object" ? JSON.stringify(got, (_, v) => (typeof v === "bigint" ? String(v) : v)) : got).slice(0, 200)}`;
  const missing = expected === undefined || expected === null;
  if (got === null || got === undefined) {
    return missing ? null : differs();
  }
  if (missing) {
    return differs();
  }
  if (got.ns !== undefined || got.us !== undefined) {
    return sameTime(expected, got) ? null : differs();
  }
  if (got instanceof Uint8Array) {
    return expected.$base64 === Buffer.from(got).toString("base64") ? null : differs();
  }
  if (typeof got === "string") {
    if (typeof expected === "string" && sameText(expected, got)) {
      return null;
    }
    try {
      return JSON.stringify(JSON.parse(got)) === JSON.stringify(expected) ? null : differs();
    } catch {
      return String(expected) === got ? null : differs(); // the number of an enum
    }
  }
  if (typeof got === "number" || typeof got === "bigint") {
    return (isTime(expected) ? nanoseconds(expected) === got : sameNumber(expected, got)) ? null : differs();
  }
  if (typeof got === "boolean") {
    return got === expected ? null : differs();
  }
  if (Array.isArray(got)) {
    const list = Array.isArray(expected) && expected.length === got.length;
    for (let i = 0; list && i < got.length; i++) {
      const found = difference(expected[i], got[i], `${path}[${i}]`);
      if (found) {
        return found;
      }
    }
    return list ? null : differs();
  }
  for (const key of new Set([...Object.keys(expected), ...Object.keys(got)])) {
    const name = key === "" ? "_" : key; // what a key without letters is called
    const value = key === "_" ? (expected[key] ?? expected[""]) : expected[key];
    const found = key === "_empty" ? null : difference(value, got[name], `${path}.${key}`);
    if (found) {
      return found;
    }
  }
  return null;
}

const isMap = (v) => v !== null && typeof v === "object" && !Array.isArray(v) && !("$base64" in v);

// The row of a message: fixed columns, then the payload's members, or the payload as `value`, or its bytes as `data`.
function rowOf(message, columns) {
  const { log_time, publish_time, sequence, topic, recording, data } = message;
  const row = { log_time, publish_time, sequence: sequence ?? 0 };
  if (columns.includes("topic") && !(isMap(data) && "topic" in data)) {
    row.topic = topic;
  }
  if (recording !== undefined && columns.includes("recording")) {
    row.recording = recording;
  }
  if (columns.includes("value") && !(isMap(data) && "value" in data)) {
    row.value = data;
  } else if (isMap(data)) {
    for (const [key, value] of Object.entries(data)) {
      row[key in row ? `${key}_2` : key] = value;
    }
  } else {
    row.data = data;
  }
  return row;
}

async function check(table, reader, read) {
  const messages = readFileSync(table.ndjson, "utf8").split("\n").filter(Boolean).map((line) => JSON.parse(line));
  let rows;
  try {
    rows = await read();
  } catch (error) {
    return `${table.name}: ${reader}: ${error}`;
  }
  if (rows.length !== messages.length) {
    return `${table.name}: ${reader}: ${rows.length} rows of ${messages.length}`;
  }
  for (let i = 0; i < rows.length; i++) {
    const found = difference(rowOf(messages[i], Object.keys(rows[i])), rows[i], `row ${i}`);
    if (found) {
      return `${table.name}: ${reader}: ${found}`;
    }
  }
  return null;
}

const tables = JSON.parse(readFileSync(process.argv[2], "utf8"));
let differences = 0;
for (const table of tables) {
  const readers = {};
  if (table.parquet) {
    readers.hyparquet = () => hyparquet(table.parquet);
    readers.duckdb = () => duckdb(table.parquet);
    readers["parquet-wasm"] = () => arrow(wasm.readParquet(readFileSync(table.parquet)).intoIPCStream());
  }
  if (table.arrows) {
    readers["apache-arrow"] = () => arrow(readFileSync(table.arrows));
  }
  for (const [reader, read] of Object.entries(readers)) {
    const found = await check(table, reader, read);
    if (found) {
      console.log(found);
      differences++;
    }
  }
}
console.log(`${tables.length} tables, ${values} values`);
process.exit(differences ? 1 : 0);
