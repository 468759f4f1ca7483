import { expect, test } from "@jest/globals";
import { captureLogs } from "@vvs/testing";
import { checkTransactionLifetime } from "./transaction-lifetime.ts";

test.each([
  ["10 seconds", async () => ({ transactionLifetimeLimitSeconds: 10 }), []],
  ["60 seconds", async () => ({ transactionLifetimeLimitSeconds: 60 }), [{ level: "warn", seconds: 60 }]],
  ["no permission", () => Promise.reject(new Error("not authorized on admin")), [{ level: "debug" }]],
])("a transaction lifetime of more than 10 seconds is logged as a warning: %s", async (_name, command, expected) => {
  const { logger, lines } = captureLogs();
  await checkTransactionLifetime(command, logger);
  expect(lines).toMatchObject(expected);
  expect(lines).toHaveLength(expected.length);
});
