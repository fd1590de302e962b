// Uploads a file with the independent client tus-js-client, as a page or a script would. Prints {"url", "requests", "resumed_at": […], "failed": […]} as JSON.
//   node tus_push.mjs FILE ENDPOINT NAME [--chunk BYTES] [--parallel N] [--stop-after BYTES] [--url URL] [--during-creation]
// --stop-after: aborts there, prints, and leaves the upload as it is; --url: goes on with that upload.
import { createReadStream, readFileSync, statSync } from "node:fs";
import { Upload } from "tus-js-client";

const [file, endpoint, name, ...rest] = process.argv.slice(2);
const option = (key) => (rest.includes(key) ? rest[rest.indexOf(key) + 1] : undefined);
const stopAfter = Number(option("--stop-after") ?? Infinity);
const report = { url: null, requests: [], resumed_at: [], failed: [] };
const done = (code) => {
  console.log(JSON.stringify(report));
  process.exit(code);
};

const parallel = Number(option("--parallel") ?? 1); // parts are cut from what is in memory, and their sizes known
const upload = new Upload(parallel > 1 ? readFileSync(file) : createReadStream(file), {
  endpoint,
  uploadUrl: option("--url") ?? null,
  uploadSize: parallel > 1 ? null : statSync(file).size,
  chunkSize: Number(option("--chunk") ?? Infinity),
  parallelUploads: parallel,
  uploadDataDuringCreation: rest.includes("--during-creation"),
  retryDelays: [200, 500, 1000, 2000, 2000, 2000, 2000, 2000],
  metadata: { filename: name, filetype: "application/octet-stream", collection: "tus" },
  storeFingerprintForResuming: false,
  onBeforeRequest: (request) => report.requests.push(request.getMethod()),
  onAfterResponse: (request, response) => {
    if (request.getMethod() === "HEAD") {
      report.resumed_at.push(Number(response.getHeader("Upload-Offset")));
    }
    if (response.getStatus() >= 400) {
      report.failed.push(response.getStatus());
    }
  },
  onProgress: (sent) => {
    if (sent >= stopAfter && report.url === null) {
      report.url = upload.url;
      upload.abort(false).then(() => done(0));
    }
  },
  onError: (error) => {
    report.error = String(error);
    report.url = upload.url;
    done(1);
  },
  onSuccess: () => {
    report.url = upload.url;
    done(0);
  },
});
upload.start();
