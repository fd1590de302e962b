// Holds values against the schemas of an OpenAPI 3.1 document with ajv, an independent validator, and prints what does not hold as JSON.
//   node openapi_check.mjs DOCUMENT.json VALUES.json      VALUES: [{where, pointer, value}], pointer: of the schema in the document
// Objects are closed first: a member that the schema does not have is as wrong as one that is missing.
import { readFile } from "node:fs/promises";
import Ajv2020 from "ajv/dist/2020.js";

const SAID_AT_MOST = 40;

function close(node) {
  if (typeof node !== "object" || node === null) {
    return;
  }
  if (node.type === "object" && node.properties && node.additionalProperties === undefined) {
    node.additionalProperties = false;
  }
  Object.values(node).forEach(close);
}

const [document, values] = await Promise.all(process.argv.slice(2, 4).map(async (file) => JSON.parse(await readFile(file, "utf8"))));
close(document);
const ajv = new Ajv2020({ strict: false, allErrors: false, validateFormats: false });
ajv.addSchema(document, "document", false, false);
const wrong = [];
for (const { where, pointer, value } of values) {
  const validate = ajv.getSchema("document" + pointer) ?? ajv.compile({ $ref: "document" + pointer });
  if (!validate(value) && wrong.length < SAID_AT_MOST) {
    wrong.push({ where, pointer, errors: validate.errors.map((e) => `${e.instancePath || "/"} ${e.message} ${JSON.stringify(e.params)}`), value: JSON.stringify(value).slice(0, 600) });
  }
}
console.log(JSON.stringify(wrong, null, 1));
