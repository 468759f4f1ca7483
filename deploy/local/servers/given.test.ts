import { expect, test } from "@jest/globals";
import { freePort } from "./free-port.ts";
import { faultOf, givenServers, redacted } from "./given.ts";
import { StartError } from "./start-error.ts";

test.each([
  ["mongodb://bob:s%40cret@db.example:27017/?authSource=admin", "mongodb://***@db.example:27017/"],
  ["mongodb://bob:raw/p@ss@db.example", "mongodb://***@db.example"],
  ["redis://:pw@cache.example:6379/1", "redis://***@cache.example:6379/1"],
  ["redis://cache.example?password=pw", "redis://cache.example"],
  ["mongodb://a.example,b.example/?replicaSet=rs0", "mongodb://a.example,b.example/"],
])("%s is shown without credentials", (uri, shown) => {
  expect(redacted(uri)).toBe(shown);
});

test.each([
  ["connect ECONNREFUSED 127.0.0.1:9", "accepts no connections"],
  ["getaddrinfo ENOTFOUND auth.example", "names a host that does not exist"],
  ["Authentication failed.", "refuses the credentials"],
  ["WRONGPASS invalid username-password pair", "refuses the credentials"],
  ["self-signed certificate", "cannot be reached over TLS"],
  ["timed out", "does not answer"],
])("the error '%s' is described for the user who set the variable", (cause, words) => {
  expect(faultOf(new Error("the client failed", { cause: new Error(cause) }))).toContain(words);
});

test.each([
  ["MONGODB_URI", "http://db.example"],
  ["KAFKA_BROKERS", "broker.example"],
  ["KAFKA_BROKERS", "bob:secret@broker.example:9092"],
  ["REDIS_URL", "cache.example:6379"],
])("%s=%s is refused with the variable's name, without its value", async (variable, value) => {
  const refusal = await refusalOf({ [variable]: value });
  expect(refusal.message).toMatch(new RegExp(`^${variable}`));
  expect(refusal.message).not.toContain("secret");
});

test.each([
  ["KAFKA_BROKERS", (port: number) => `127.0.0.1:${port}`],
  ["REDIS_URL", (port: number) => `redis://:secret@127.0.0.1:${port}`],
])("%s with a port on which nothing listens is refused in one sentence", async (variable, value) => {
  const refusal = await refusalOf({ [variable]: value(await freePort()) });
  expect(refusal.message).toMatch(new RegExp(`^${variable}.*accepts no connections: is it running there\\?$`));
  expect(refusal.message).not.toContain("secret");
});

test("servers that answer are used unchanged", async () => {
  const { MONGODB_URI, KAFKA_BROKERS, REDIS_URL } = process.env;
  expect(await givenServers({ MONGODB_URI, KAFKA_BROKERS, REDIS_URL })).toEqual({
    mongodbUri: MONGODB_URI,
    kafkaBrokers: KAFKA_BROKERS?.split(","),
    redisUrl: REDIS_URL,
  });
});

async function refusalOf(env: NodeJS.ProcessEnv): Promise<StartError> {
  const fault = await givenServers(env).catch((error: unknown) => error);
  if (fault instanceof StartError) return fault;
  throw new Error("no refusal", { cause: fault });
}
