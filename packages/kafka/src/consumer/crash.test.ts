import { spawn } from "node:child_process";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { StringValueSchema } from "@bufbuild/protobuf/wkt";
import { expect, test } from "@jest/globals";
import { eventually, silentLogger as logger } from "@vvs/testing";
import { testKafka } from "../testing.ts";
import { subscription } from "./consumer.ts";

const { kafka, prefix, createTopic, send, committed } = testKafka();

/** A process that processes "a1" and then hangs in the handler of the next record. */
const doomed = `
  import { StringValueSchema } from "@bufbuild/protobuf/wkt";
  import { createLogger } from "@vvs/logging";
  import { createKafka } from "../index.ts";
  const [brokers, topicPrefix, topic] = process.argv.slice(1);
  const logger = createLogger({ service: "doomed", level: "silent" });
  const kafka = createKafka({ brokers: brokers.split(","), clientId: "doomed", logger, topicPrefix, sessionTimeoutMs: 6_000 });
  const handle = async ({ value }) => {
    process.stdout.write(value);
    if (value !== "a1") await new Promise(() => undefined);
  };
  kafka.runConsumer({
    groupId: "crash", concurrency: 1, logger, subscriptions: [{ topic, schema: StringValueSchema, handle }],
  });
`;

test("a record whose process was killed is delivered to another one; committed records are not", async () => {
  const topic = await createTopic("crash");
  await send(topic, "a1", "a2", "a3");

  const child = spawn(
    process.execPath,
    ["--input-type=module-typescript", "--eval", doomed, "--", process.env.KAFKA_BROKERS!, prefix, topic],
    { cwd: dirname(fileURLToPath(import.meta.url)), stdio: ["ignore", "pipe", "inherit"] },
  );
  let output = "";
  child.stdout.on("data", (chunk) => {
    output += chunk;
  });
  try {
    await eventually(async () => output === "a1a2" && (await committed("crash", topic))[0] === 1);
  } finally {
    child.kill("SIGKILL");
  }

  const seen: string[] = [];
  const handle = async (message: { value: string }) => void seen.push(message.value);
  const heir = kafka.runConsumer({
    groupId: "crash",
    concurrency: 1,
    logger,
    subscriptions: [subscription({ topic, schema: StringValueSchema, handle })],
  });
  await eventually(async () => (await committed("crash", topic))[0] === 3, { timeoutMs: 40_000 });
  expect(seen).toEqual(["a2", "a3"]);
  await heir.stop();
});
