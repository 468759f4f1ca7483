import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { ConfigError, environmentWithLocalRun } from "./index.ts";

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "local-run-"));
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

function writeRun(text: string): void {
  mkdirSync(join(folder, ".local"), { recursive: true });
  writeFileSync(join(folder, ".local", "environment.json"), text);
}

test("a command without a database takes the variables of the local run in its folder", () => {
  writeRun(JSON.stringify({ MONGODB_URI: "mongodb://local", API_KEY_PEPPERS: "run" }));
  expect(environmentWithLocalRun({ PATH: "/bin" }, folder)).toEqual({
    PATH: "/bin",
    MONGODB_URI: "mongodb://local",
    API_KEY_PEPPERS: "run",
  });
});

test("a variable of the environment wins over the run's, and an empty one counts as absent", () => {
  writeRun(JSON.stringify({ MONGODB_URI: "mongodb://local", LOG_LEVEL: "info" }));
  expect(environmentWithLocalRun({ MONGODB_URI: "", LOG_LEVEL: "warn" }, folder)).toEqual({
    MONGODB_URI: "mongodb://local",
    LOG_LEVEL: "warn",
  });
});

test.each([{ MONGODB_URI: "mongodb://given" }, { MONGODB_URI_FILE: "/secrets/uri" }])(
  "an environment that names a database never mixes with a local run's secrets: %p",
  (env) => {
    writeRun(JSON.stringify({ MONGODB_URI: "mongodb://local", API_KEY_PEPPERS: "run" }));
    expect(environmentWithLocalRun(env, folder)).toEqual(env);
  },
);

test("the local run is found in the data folder that it was given", () => {
  writeFileSync(join(folder, "environment.json"), JSON.stringify({ MONGODB_URI: "mongodb://elsewhere" }));
  expect(environmentWithLocalRun({ VVS_LOCAL_DIR: folder }, "/")).toEqual({
    VVS_LOCAL_DIR: folder,
    MONGODB_URI: "mongodb://elsewhere",
  });
});

test("a command that uses only Kafka takes the run's variables unless its own brokers are named", () => {
  writeRun(JSON.stringify({ KAFKA_BROKERS: "local:9092", KAFKA_TOPIC_PREFIX: "run." }));
  expect(environmentWithLocalRun({}, folder, "KAFKA_BROKERS")).toMatchObject({ KAFKA_BROKERS: "local:9092" });
  expect(environmentWithLocalRun({ KAFKA_BROKERS: "given:9092" }, folder, "KAFKA_BROKERS")).toEqual({
    KAFKA_BROKERS: "given:9092",
  });
});

test("without a local run the environment is unchanged", () => {
  expect(environmentWithLocalRun({ A: "1" }, folder)).toEqual({ A: "1" });
});

test.each(["{", "[]", '{"MONGODB_URI": 1}'])(
  "a damaged file is a configuration error without its content: %s",
  (text) => {
    writeRun(text);
    expect(() => environmentWithLocalRun({}, folder)).toThrow(ConfigError);
  },
);
