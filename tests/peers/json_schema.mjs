export function demand(good, text) {
  if (!good) {
    throw new Error(text);
  }
}

// What open viewers' own reader of JSON Schema takes; a channel with anything else disappears there.
export function checkReadable(schema, place) {
  demand(typeof schema.type === "string", `${place}: no single type`);
  for (const word of ["$ref", "anyOf", "allOf", "oneOf"]) {
    demand(schema[word] === undefined, `${place}: has ${word}`);
  }
  if (schema.type === "object") {
    for (const [name, member] of Object.entries(schema.properties ?? {})) {
      checkReadable(member, `${place}.${name}`);
    }
  } else if (schema.type === "array") {
    demand(schema.items?.type !== undefined && schema.items.type !== "array", `${place}: a list of lists, or of an unknown type`);
    checkReadable(schema.items, `${place}[]`);
  }
}
