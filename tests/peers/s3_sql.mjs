// A query of DuckDB over s3://, where its extension httpfs is installed: {"rows": […]}, or {"skipped": why}.
//   node s3_sql.mjs HOST ACCESS SECRET SQL
import { DuckDBInstance } from "@duckdb/node-api";

const [host, access, secret, sql] = process.argv.slice(2);
const db = await (await DuckDBInstance.create(":memory:")).connect();
try {
  await db.run("LOAD httpfs");
} catch (error) {
  console.log(JSON.stringify({ skipped: `DuckDB has no httpfs here: ${String(error.message).split("\n")[0]}` }));
  process.exit(0);
}
await db.run(
  `CREATE SECRET reel (TYPE s3, KEY_ID '${access}', SECRET '${secret}', REGION 'us-east-1', ENDPOINT '${host}', URL_STYLE 'path', USE_SSL false)`,
);
const result = await db.runAndReadAll(sql);
console.log(JSON.stringify({ rows: result.getRowObjectsJson() }));
