import { randomUUID } from "node:crypto";
import { mkdtemp, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { temporaryFolder } from "@vvs/testing";
import { serverCacheDir } from "../../deploy/local/servers/index.ts";
import { playServer, sendJson } from "../outside/played-server.ts";
import { createOrganization } from "../support/organization.ts";
import { sharedProduct } from "../support/product.ts";
import { callsOf, generators, whyMissing } from "./generators.ts";

// Clients that generators make of the OpenAPI document compile, and make the same calls of the running product. They also
// read answers of tomorrow: a field, a value and an error code that are not in the document.

const organization = await createOrganization();
const folder = temporaryFolder();
await writeFile(join(folder, "openapi.json"), await (await fetch(`${sharedProduct().baseUrl}/v1/openapi.json`)).text());

/** Answers as a later version could. */
const tomorrow = await playServer(({ method }, response) => {
  if (method === "GET") {
    return sendJson(response, 200, {
      ...{
        id: "ent_01m7yps8kqf59an8zca6rhtk3v",
        legal_name: "A",
        addresses: [],
        confidence: 1,
        brand_new: { deep: [1] },
      },
      identifiers: { uei: "SANDBXACTVE1", lei: "X" },
      sam_gov: { registration_status: "paused", since: "2030-01-01" },
      sources: [{ name: "another_registry", retrieved_at: "2030-01-01T00:00:00.000Z", kind: "new" }],
    });
  }
  const error = { error: "brand_new_code", message: "m", request_id: "r", doc_url: "https://example.com/docs" };
  return sendJson(response, 409, { ...error, hint: "new" });
});

const webhook = {
  ...{ event: "monitor.change_detected", monitor_id: "mon_01m7yps8kqf59an8zca6rhtk3v", test: true, brand_new: 1 },
  ...{ entity_id: "ent_01m7yps8kqf59an8zca6rhtk3v", verification_id: "ver_01m7yps8kqf59an8zca6rhtk3v" },
  delivered_at: "2026-11-26T12:00:00.000Z",
  changes: [
    {
      ...{ field: "sam_registration.registration_status", previous: null, current: "expired" },
      detected_at: "2026-11-26T12:00:00.000Z",
    },
  ],
};

test.each(generators.map((generator) => [generator.name, generator] as const))(
  "%s makes a client that compiles, calls and survives what is added",
  async (name, generator) => {
    const missing = await whyMissing(generator);
    if (missing) return console.log(`${name} was skipped: ${missing}`);
    const called = await callsOf(generator, {
      folder: await mkdtemp(join(folder, "client-")),
      document: join(folder, "openapi.json"),
      env: {
        BASE_URL: sharedProduct().baseUrl,
        API_KEY: organization.keys.sandbox,
        TOMORROW_URL: tomorrow.url,
        WEBHOOK: JSON.stringify(webhook),
        WEBHOOK_URL: "http://127.0.0.1:9932/hook",
        NEW_NAME: `Made by ${name}`,
        IDEMPOTENCY_KEY: randomUUID(),
      },
      cache: { cacheDir: serverCacheDir(process.env), log: console.log },
    });
    expect(called).toEqual({
      ...{
        vendor: expect.stringContaining("Sandbox"),
        fuzzy: true,
        read: true,
        created: `Made by ${name}`,
        listed: true,
      },
      ...{ verified: "pass", again: true, evidence: "sam_registration", monitor: "active", events: true },
      job: [
        ["SANDBXACTVE1", "pay"],
        ["SANDBXEXPRD1", "hold"],
      ],
      // Java's client takes every answer for JSON, so it can't read a receipt.
      receipt: name.endsWith("Java") ? undefined : 3,
      ...{ missing: "entity_not_found", webhook: "expired", status: "paused", unknown: "brand_new_code" },
    });
  },
  300_000,
);
