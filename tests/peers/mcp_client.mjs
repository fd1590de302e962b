// Asks POST /mcp with the independent clients of the Model Context Protocol: @modelcontextprotocol/sdk (its revisions begin with initialize) or
// @modelcontextprotocol/client (the stateless revision of 2026-07-28).
//   node mcp_client.mjs URL initialize|stateless TRANSCRIPT [TOKEN]
// Finds the run in which the battery fell below 11 V as an agent would, reads it and prints what it found as JSON. TRANSCRIPT gets each request and
// the beginning of each answer, without the token.
import { writeFileSync } from "node:fs";

const [url, era, transcript, token] = process.argv.slice(2);
const lines = [];
const note = (direction, text) => lines.push(`${direction} ${token ? text.replaceAll(token, "TOKEN") : text}`.slice(0, 2000));

const noting = async (address, init) => {
  const headers = new Headers(init.headers);
  note(">", `${init.method} ${new URL(address).pathname} ${headers.get("mcp-protocol-version") ?? "-"} ${headers.get("mcp-method") ?? "-"} ${init.body ?? ""}`);
  const answer = await fetch(address, init);
  note("<", `${answer.status} ${await answer.clone().text()}`);
  return answer;
};

const module = era === "stateless" ? await import("@modelcontextprotocol/client") : {
  ...(await import("@modelcontextprotocol/sdk/client/index.js")),
  ...(await import("@modelcontextprotocol/sdk/client/streamableHttp.js")),
};
const options = era === "stateless" ? { versionNegotiation: { mode: { pin: "2026-07-28" } } } : {};
const client = new module.Client({ name: "reel-peer", version: "1" }, options);
const requestInit = token ? { headers: { Authorization: `Bearer ${token}` } } : {};
await client.connect(new module.StreamableHTTPClientTransport(new URL(url), { requestInit, fetch: noting }));

const call = async (name, args) => {
  const result = await client.callTool({ name, arguments: args });
  if (result.isError) {
    throw new Error(`${name}: ${JSON.stringify(result.content)}`);
  }
  return result.content;
};

const report = { server: client.getServerVersion().name };
const { tools } = await client.listTools();
report.tools = tools.map((tool) => tool.name);
report.read_only = tools.every((tool) => tool.annotations.readOnlyHint);

const recordings = JSON.parse((await call("search_recordings", { limit: 10 }))[1].text).items;
const topics = JSON.parse((await call("describe_recording", { id: recordings[0].id, kind: "topics" }))[1].text);
report.topics = JSON.stringify(topics).includes("/battery");
const found = JSON.parse((await call("query_values", { where: ["/battery.voltage<11"] }))[1].text);
report.found = found.items;
const id = report.found[0].recording?.id ?? report.found[0].id ?? report.found[0].recording;
report.id = id;
const rows = (await call("series", { id, field: ["/battery.voltage"], max_points: 100, agg: "minmax" }))[1].text.trim().split("\n").slice(1);
report.lowest = Math.min(...rows.map((row) => Number(row.split(",").at(-1))).filter(Number.isFinite));
report.link = (await call("export_link", { id, name: "low.mcap", topic: ["/battery"] }))[0];
const wrong = await client.callTool({ name: "series", arguments: { id: "gone", field: ["/x.y"] } });
report.wrong = wrong.isError;
report.unknown = await client.callTool({ name: "none", arguments: {} }).then(() => null, (error) => error.code);

await client.close();
writeFileSync(transcript, lines.join("\n") + "\n");
console.log(JSON.stringify(report));
