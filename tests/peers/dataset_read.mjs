// Rows, columns and key-value metadata of Parquet files, by hyparquet and by DuckDB: {PATH: {"rows", "duck", "columns", "metadata"}}; numbers of 64 bits
// are numbers.
//   node dataset_read.mjs PATH…
import { DuckDBInstance } from "@duckdb/node-api";
import { asyncBufferFromFile, parquetMetadataAsync, parquetReadObjects } from "hyparquet";
import { compressors } from "hyparquet-compressors";

const duck = await (await DuckDBInstance.create(":memory:")).connect();
const out = {};
for (const path of process.argv.slice(2)) {
  const file = await asyncBufferFromFile(path);
  const metadata = await parquetMetadataAsync(file);
  const read = await duck.runAndReadAll(`SELECT * FROM read_parquet('${path}')`);
  const plain = (value) =>
    typeof value === "bigint" ? Number(value) : value?.items ? value.items.map(plain) : Array.isArray(value) ? value.map(plain) : value;
  out[path] = {
    rows: (await parquetReadObjects({ file, metadata, compressors })).map((row) =>
      Object.fromEntries(Object.entries(row).map(([k, v]) => [k, ArrayBuffer.isView(v) ? Array.from(v, plain) : plain(v)])),
    ),
    duck: read.getRows().map((row) => Object.fromEntries(row.map((value, i) => [read.columnNames()[i], plain(value)]))),
    columns: Object.fromEntries(read.columnNames().map((name, i) => [name, String(read.columnTypes()[i])])),
    nullable: metadata.schema.slice(1).filter((e) => e.repetition_type === "OPTIONAL").map((e) => e.name),
    metadata: Object.fromEntries((metadata.key_value_metadata ?? []).map(({ key, value }) => [key, value])),
  };
}
console.log(JSON.stringify(out));
