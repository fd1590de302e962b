// One column of a Parquet file over HTTP, read by ranges: node table_http.mjs URL COLUMN
// Prints {"length", "requests", "bytes", "rows", "sum"}: what was asked of the server, and the sum of the column.
import { asyncBufferFromUrl, parquetMetadataAsync, parquetRead } from "hyparquet";
import { compressors } from "hyparquet-compressors";

const [url, column] = process.argv.slice(2);
const remote = await asyncBufferFromUrl({ url });
const asked = { length: remote.byteLength, requests: 0, bytes: 0, rows: 0, sum: 0 };
const file = {
  byteLength: remote.byteLength,
  async slice(start, end) {
    const piece = await remote.slice(start, end);
    asked.requests++;
    asked.bytes += piece.byteLength;
    return piece;
  },
};
const metadata = await parquetMetadataAsync(file);
await parquetRead({
  file,
  metadata,
  compressors,
  columns: [column],
  onChunk: ({ columnData }) => {
    for (const value of columnData) {
      asked.rows++;
      asked.sum += Number(value);
    }
  },
});
console.log(JSON.stringify(asked));
