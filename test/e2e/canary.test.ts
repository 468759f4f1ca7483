import { expect, test } from "@jest/globals";
import { createClient } from "@vendor-verification/client";
import { atEnd, eventually, silentLogger } from "@vvs/testing";
import { startCanary } from "../../services/canary/src/canary.ts";
import { createOrganization } from "../support/organization.ts";
import { sharedProduct } from "../support/product.ts";
import { startSubscriber } from "../support/subscriber.ts";

test("the canary receives signed changes of one monitor after the other", async () => {
  const organization = await createOrganization();
  const client = createClient({ baseUrl: sharedProduct().baseUrl, apiKey: organization.keys.sandbox });
  const accepted: string[] = [];
  const refused: string[] = [];
  const subscriber = await startSubscriber(({ body, headers }, response) => {
    canary.receive(Buffer.from(body), headers).then((isValid) => {
      (isValid ? accepted : refused).push(JSON.parse(body).monitor_id);
      response.writeHead(isValid ? 204 : 400).end();
    });
  });
  const stop = new AbortController();
  const canary = startCanary({
    client,
    webhookUrl: subscriber.url,
    secrets: [organization.webhookSecrets.sandbox],
    frequency: "hourly",
    renewMs: 12_000,
    now: () => new Date(),
    stopping: stop.signal,
    logger: silentLogger,
  });
  atEnd(() => {
    stop.abort();
    return canary.close();
  });
  await eventually(() => new Set(accepted).size >= 2, { timeoutMs: 55_000 });
  expect(refused).toEqual([]);
  const { monitors } = await client.listMonitors();
  expect(monitors.filter(({ status }) => status === "active").length).toBeLessThanOrEqual(2);
}, 90_000);
