import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { parse } from "yaml";
import { projectRoot } from "../../deploy/local/services.ts";
import { topology } from "../../deploy/local/topology.ts";

const compose = parse(readFileSync(join(projectRoot, "deploy/compose.yaml"), "utf8"), { merge: true });
const STORES = { mongodb: "MONGODB_URI", kafka: "KAFKA_BROKERS", redis: "REDIS_URL" } as const;

test.each(Object.keys(topology))("compose runs %s with only its own stores and secrets", (name) => {
  const { command, environment } = compose.services[name];
  const { stores, optionalSecrets } = topology[name]!;
  const secrets = [...topology[name]!.secrets, ...optionalSecrets];
  expect(command).toEqual([name]);
  for (const [store, variable] of Object.entries(STORES)) {
    expect({ store, reached: variable in environment }).toEqual({
      store,
      reached: stores.includes(store as keyof typeof STORES),
    });
  }
  const given = Object.keys(environment).filter((variable) => variable.endsWith("_FILE"));
  expect(new Set(given)).toEqual(new Set(secrets.map((secret) => `${secret}_FILE`)));
  for (const secret of secrets) expect(compose.services.secrets.command).toContain(secret);
});

test("no two services of compose listen on the same port, since they share a network", () => {
  const ports = Object.keys(topology).map((name) => compose.services[name].environment.ADMIN_PORT);
  expect(new Set(ports).size).toBe(ports.length);
  expect(ports).not.toContain(undefined);
});
