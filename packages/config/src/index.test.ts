import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { keyRing, loadConfig, port, z } from "./index.ts";

const schema = z.object({ PORT: port().default(8080), MONGODB_URI: z.string(), KEYS: keyRing() });
const key = Buffer.alloc(32, 1).toString("base64");

test("all problems are reported together, without values", () => {
  let message = "";
  try {
    loadConfig(schema, { PORT: "70000", KEYS: "k1:c2hvcnQ=" });
  } catch (error) {
    message = (error as Error).message;
  }
  expect(message.split("\n").map((line) => line.split(":")[0])).toEqual(["PORT", "MONGODB_URI", "KEYS"]);
  expect(message).not.toContain("c2hvcnQ=");
});

test("a value may be mounted as a file, and an empty variable counts as absent", () => {
  const folder = mkdtempSync(join(tmpdir(), "config-"));
  try {
    writeFileSync(join(folder, "keys"), `new:${key},old:${key}\n`);
    const config = loadConfig(schema, { PORT: "", MONGODB_URI: "mongodb://db", KEYS_FILE: join(folder, "keys") });
    expect(config.PORT).toBe(8080);
    expect(config.KEYS.map(({ id }) => id)).toEqual(["new", "old"]);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
