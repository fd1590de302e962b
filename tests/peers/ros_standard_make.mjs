// MCAP files with a channel and a message for every standard message, by the definitions that @foxglove/rosmsg-msgs-common has of ROS 1 and of ROS 2 Jazzy.
//   node ros_standard_make.mjs ROS1.mcap ROS2.mcap
import { open } from "node:fs/promises";
import { McapWriter } from "@mcap/core";
import { ros1, ros2jazzy } from "@foxglove/rosmsg-msgs-common";
import { stringify } from "@foxglove/rosmsg";
import { MessageWriter } from "@foxglove/rosmsg-serialization";
import { MessageWriter as Ros2Writer } from "@foxglove/rosmsg2-serialization";

// A type and all that it needs. The writer's parser calls the times of ROS 2 "time" and "duration".
function closure(all, name, ros2, out = new Map()) {
  if (!out.has(name)) {
    out.set(name, { name, definitions: all[name].definitions });
    for (const field of all[name].definitions) {
      const type = ros2 && field.type === "time" ? "builtin_interfaces/Time" : ros2 && field.type === "duration" ? "builtin_interfaces/Duration" : field.type;
      if (type.includes("/")) {
        closure(all, type, ros2, out);
      }
    }
  }
  return [...out.values()];
}

function text(types, ros2) {
  let out = stringify(types);
  if (ros2) {
    out = out.replace(/^time(?=[ [])/gm, "builtin_interfaces/Time").replace(/^duration(?=[ [])/gm, "builtin_interfaces/Duration");
  }
  return out;
}

let seed = 4321;
function random(n) {
  seed ^= seed << 13;
  seed ^= seed >>> 17;
  seed ^= seed << 5;
  return (seed >>> 0) % n;
}

// A value in the range that both sides have: `level` of a log is mapped.
function make(all, name) {
  const message = {};
  for (const field of all[name].definitions.filter((d) => d.isConstant !== true)) {
    const one = () => {
      if (field.isComplex) {
        return make(all, field.type);
      }
      switch (field.type) {
        case "bool": return random(2) === 1;
        case "string": return "text".slice(0, random(5));
        case "time": case "duration": return { sec: random(1000000), nsec: random(1000000000) };
        case "int64": case "uint64": return BigInt(random(1000000));
        case "float32": case "float64": return random(1000) / 8;
        default: return name.endsWith("/Log") && field.name === "level" ? (all === ros1 ? 2 : 20) : random(100);
      }
    };
    const count = field.arrayLength ?? random(4);
    message[field.name] = field.isArray ? Array.from({ length: count }, one) : one();
  }
  return message;
}

async function write(path, all, ros2) {
  const file = await open(path, "w");
  let position = 0n;
  const writer = new McapWriter({
    writable: {
      position: () => position,
      write: async (data) => {
        position += BigInt((await file.write(data)).bytesWritten);
      },
    },
  });
  await writer.start({ profile: ros2 ? "ros2" : "ros1", library: "" });
  let time = 1n;
  // Their decoder takes a type without fields for a module of constants; those are in the vectors of tests/unit/formats/ros/translate.c.
  for (const name of Object.keys(all).filter((n) => !n.startsWith("test_msgs/") && !all[n].definitions.every((d) => d.isConstant))) {
    const types = closure(all, name, ros2).map((t) => (t.name === name ? { definitions: t.definitions } : t));
    const full = ros2 ? name.replace("/", "/msg/") : name;
    const schemaId = await writer.registerSchema({ name: full, encoding: ros2 ? "ros2msg" : "ros1msg", data: new TextEncoder().encode(text(types, ros2)) });
    const channelId = await writer.registerChannel({ topic: "/" + name, schemaId, messageEncoding: ros2 ? "cdr" : "ros1", metadata: new Map() });
    const message = new (ros2 ? Ros2Writer : MessageWriter)(types).writeMessage(make(all, name));
    await writer.addMessage({ channelId, sequence: 0, logTime: time, publishTime: time++, data: message });
  }
  await writer.end();
  await file.close();
}

await write(process.argv[2], ros1, false);
await write(process.argv[3], ros2jazzy, true);
