// The definitions of an MCAP file that Reel has converted, against those of @foxglove/rosmsg-msgs-common: prints a line for each channel whose own differs.
//   node ros_standard_check.mjs FILE 1|2
import { readFile } from "node:fs/promises";
import { McapStreamReader } from "@mcap/core";
import { ros1, ros2jazzy } from "@foxglove/rosmsg-msgs-common";
import { parse, md5 } from "@foxglove/rosmsg";

const ros2 = process.argv[3] === "2";
const all = ros2 ? ros2jazzy : ros1;

// What the parsers know of a field; the other is a field of a parser's own.
const plain = (d) => [d.name, d.type, d.isConstant ?? false, d.isArray ?? false, d.arrayLength ?? null, d.arrayUpperBound ?? null, d.isConstant ? d.value : null];
const definition = (types, name) => JSON.stringify(types.find((t) => t.name === name || t.name === undefined).definitions.map(plain), (_, v) => (typeof v === "bigint" ? String(v) : v));

const reader = new McapStreamReader();
reader.append(await readFile(process.argv[2]));
const schemas = new Map(), types = new Set();
for (let record; (record = reader.nextRecord()); ) {
  if (record.type === "Schema") {
    schemas.set(record.id, record);
  } else if (record.type === "Channel" && !types.has(record.topic)) {
    const schema = schemas.get(record.schemaId), name = schema.name.replace("/msg/", "/");
    types.add(record.topic);
    if (!all[name]) {
      console.log(JSON.stringify([record.topic, name]));
      continue;
    }
    const parsed = parse(new TextDecoder().decode(schema.data), { ros2 });
    parsed[0].name = name;
    for (const type of ros2 ? parsed : []) {
      // their own names of the numbers of ROS 1
      const ours = definition([type], type.name), theirs = type.name && all[type.name] ? definition([all[type.name]], type.name) : ours;
      if (ours !== theirs) {
        console.log(JSON.stringify([record.topic, type.name, ours, theirs]));
      }
    }
    const needed = (n, out = []) => (out.some((t) => t.name === n) ? out : all[n].definitions.filter((d) => d.isComplex).reduce((o, d) => needed(d.type, o), [...out, all[n]]));
    if (!ros2 && md5(parsed) !== md5([all[name], ...needed(name).filter((t) => t.name !== name)])) {
      console.log(JSON.stringify([record.topic, name, md5(parsed)]));
    }
  }
}
console.log(JSON.stringify(["channels", types.size]));
