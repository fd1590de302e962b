// Reads /s3 with AWS's own client for JavaScript. Prints {"buckets", "keys", "folders", "sha256", "range", "head", "codes", "presigned"} as JSON.
//   node s3_client.mjs ENDPOINT ACCESS SECRET BUCKET KEY
import { createHash } from "node:crypto";
import {
  GetObjectCommand,
  HeadObjectCommand,
  ListBucketsCommand,
  ListObjectsV2Command,
  paginateListObjectsV2,
  PutObjectCommand,
  S3Client,
} from "@aws-sdk/client-s3";
import { getSignedUrl } from "@aws-sdk/s3-request-presigner";

const [endpoint, accessKeyId, secretAccessKey, Bucket, Key] = process.argv.slice(2);
const client = new S3Client({
  endpoint,
  region: "us-east-1",
  forcePathStyle: true,
  credentials: { accessKeyId, secretAccessKey },
  maxAttempts: 2,
});
const codeOf = (command) => client.send(command).then(
  () => "done",
  (error) => error.name,
);

const keys = [];
for await (const page of paginateListObjectsV2({ client, pageSize: 2 }, { Bucket })) {
  keys.push(...(page.Contents ?? []).map((item) => item.Key));
}
const body = await (await client.send(new GetObjectCommand({ Bucket, Key }))).Body.transformToByteArray();
const range = await client.send(new GetObjectCommand({ Bucket, Key, Range: "bytes=10-19" }));
const head = await client.send(new HeadObjectCommand({ Bucket, Key }));
const url = await getSignedUrl(client, new GetObjectCommand({ Bucket, Key }), { expiresIn: 60 });
const presigned = await fetch(url);
console.log(
  JSON.stringify({
    buckets: (await client.send(new ListBucketsCommand({}))).Buckets.map((bucket) => bucket.Name),
    keys,
    folders: (await client.send(new ListObjectsV2Command({ Bucket, Delimiter: "/" }))).CommonPrefixes.map((one) => one.Prefix),
    sha256: createHash("sha256").update(body).digest("hex"),
    range: [range.ContentRange, Buffer.from(await range.Body.transformToByteArray()).toString("hex")],
    head: [head.ContentLength, head.ETag],
    codes: [
      await codeOf(new GetObjectCommand({ Bucket, Key: "none" })),
      await codeOf(new GetObjectCommand({ Bucket: "none", Key })),
      await codeOf(new PutObjectCommand({ Bucket, Key: "new", Body: "x" })),
      await codeOf(new GetObjectCommand({ Bucket, Key, IfMatch: '"other"' })),
    ],
    presigned: [presigned.status, (await presigned.arrayBuffer()).byteLength],
  }),
);
