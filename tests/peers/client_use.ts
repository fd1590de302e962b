// A client by the types that openapi-typescript makes of the document (client.d.ts beside it): node client_use.js ADDRESS prints what it read as JSON.
import type { components, paths } from "./client.js";

type Json<T> = T extends { content: { "application/json": infer Body } } ? Body : never;
type Get<Path extends keyof paths> = paths[Path] extends { get: { responses: { 200: infer Answer } } } ? Json<Answer> : never;
type Query<Path extends keyof paths> = paths[Path] extends { get: { parameters: { query?: infer Names } } } ? Names : never;
type Problem = components["schemas"]["Problem"];

declare const process: { argv: string[] }; // of node
const base = process.argv[2];

async function get<Path extends keyof paths>(path: Path, query: Query<Path>, names: Record<string, string> = {}): Promise<Get<Path>> {
  const place = path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(names[name] ?? ""));
  const given = Object.entries(query ?? {}).flatMap(([key, value]) => [value].flat().map((one) => [key, String(one)]));
  const answer = await fetch(`${base}${place}?${new URLSearchParams(given)}`);
  if (!answer.ok) {
    const problem = (await answer.json()) as Problem;
    throw new Error(`${problem.status} ${problem.type}: ${problem.detail}`);
  }
  return (await answer.json()) as Get<Path>;
}

const page = await get("/api/v1/recordings", { format: "rosbag-1.2", limit: 5, count: true });
const names: string[] = page.items.map((recording) => recording.name);
const one: string = page.items[0]!.id;
const topics = await get("/api/v1/recordings/{id}/topics", {}, { id: one });
const messages: (number | string)[] = topics.items.map((topic) => topic.messages);
const refused = await get("/api/v1/recordings/{id}/topics", {}, { id: "none" }).catch((error: Error) => error.message);

// @ts-expect-error: the types know the parameters
await get("/api/v1/recordings", { limits: 5 }).catch(() => undefined);
// @ts-expect-error: … their values
const wrong: Query<"/api/v1/stats"> = { by: "weekday" };
// @ts-expect-error: … the paths
type Missing = paths["/api/v1/recording"];
// @ts-expect-error: … and the members of answers
const none = page.items[0]!.nmae;

console.log(JSON.stringify({ names, messages, refused, none, wrong }));
