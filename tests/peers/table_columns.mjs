// The columns and rows of a table: node table_columns.mjs FILE.parquet|FILE.arrows
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tableFromIPC } from "apache-arrow";

const path = process.argv[2], wasm = createRequire(import.meta.url)("parquet-wasm/node");
const bytes = readFileSync(path);
const table = tableFromIPC(path.endsWith(".parquet") ? wasm.readParquet(bytes).intoIPCStream() : bytes);
const plain = (_, value) => (typeof value === "bigint" ? Number(value) : value);
console.log(JSON.stringify({ columns: table.schema.fields.map((f) => f.name), rows: table.toArray().map((row) => row.toJSON()) }, plain));
