// Reads /hf with the Hub's own client for JavaScript, as its users do. Prints {"info", "files", "exists", "download", "slice", "snapshot"} as JSON.
//   node hub_client.mjs URL TOKEN REPOSITORY PATH FOLDER
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join, relative } from "node:path";
import { datasetInfo, downloadFile, fileDownloadInfo, fileExists, listFiles, pathsInfo, snapshotDownload } from "@huggingface/hub";

const [hubUrl, token, name, path, cacheDir] = process.argv.slice(2);
console.debug = () => {};
const repo = { type: "dataset", name };
const options = { hubUrl, ...(token && { accessToken: "hf_" + token }) };
const files = [];
for await (const file of listFiles({ ...options, repo, recursive: true })) {
  files.push([file.type, file.path, file.size]);
}
const sha256 = (bytes) => createHash("sha256").update(bytes).digest("hex");
const blob = await downloadFile({ ...options, repo, path });
const info = await datasetInfo({ ...options, name, additionalFields: ["sha"] });
const folder = await snapshotDownload({ ...options, repo, cacheDir });
const below = (at) =>
  readdirSync(at).flatMap((one) => (statSync(join(at, one)).isDirectory() ? below(join(at, one)) : [join(at, one)]));
console.log(
  JSON.stringify({
    info: [info.name, info.sha, info.private],
    files,
    exists: [await fileExists({ ...options, repo, path }), await fileExists({ ...options, repo, path: "none" })],
    download: sha256(Buffer.from(await blob.arrayBuffer())),
    slice: Buffer.from(await blob.slice(10, 20).arrayBuffer()).toString("hex"),
    size: (await fileDownloadInfo({ ...options, repo, path })).size,
    paths: (await pathsInfo({ ...options, repo, paths: [path, "none"], expand: true })).map((one) => [one.path, one.lastCommit.id]),
    snapshot: Object.fromEntries(below(folder).map((one) => [relative(folder, one), sha256(readFileSync(one))])),
  }),
);
