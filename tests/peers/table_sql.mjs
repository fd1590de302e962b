// The rows of queries in DuckDB, a JSON line each: node table_sql.mjs QUERY…
import { DuckDBInstance } from "@duckdb/node-api";

const duck = await (await DuckDBInstance.create(":memory:")).connect();
for (const query of process.argv.slice(2)) {
  console.log(JSON.stringify((await duck.runAndReadAll(query)).getRowsJson()));
}
