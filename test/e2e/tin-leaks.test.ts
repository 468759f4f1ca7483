import { randomInt } from "node:crypto";
import { readFileSync } from "node:fs";
import { expect, test } from "@jest/globals";
import { eventually } from "@vvs/testing";
import { everyDocument, everyLog, everyRecord, formsOfText, withoutTimes } from "../support/everything.ts";
import { createOrganization } from "../support/organization.ts";
import { sharedProduct } from "../support/product.ts";
import { type Subscriber, startSubscriber } from "../support/subscriber.ts";

const product = sharedProduct();
let subscriber: Subscriber | undefined;

/** Returns a TIN that occurs nowhere else, with the last digit that decides the sandbox's answer. */
const tinEnding = (last: number) => `9${Array.from({ length: 7 }, () => randomInt(10)).join("")}${last}`;
const asEin = (tin: string) => `${tin.slice(0, 2)}-${tin.slice(2)}`;
const asSsn = (tin: string) => `${tin.slice(0, 3)}-${tin.slice(3, 5)}-${tin.slice(5)}`;

const clientTraceParent = `00-${"ab".repeat(16)}-${"cd".repeat(8)}-01`;

/** Returns the forms in which a TIN could appear: as people write it, and encoded. */
const forms = (tin: string) => [tin, asEin(tin), asSsn(tin)].flatMap(formsOfText);

function leaks(where: string, text: string, tins: Readonly<Record<string, string>>): string[] {
  const lower = text.toLowerCase();
  return Object.entries(tins).flatMap(([input, tin]) =>
    forms(tin)
      .filter((form) => lower.includes(form.toLowerCase()))
      .map((form) => `${where}: the TIN planted in ${input}, as ${form}`),
  );
}

test("a TIN planted in any input appears nowhere: logs, spans, Kafka, evidence, responses, databases", async () => {
  const organization = await createOrganization();
  const api = organization.sandbox;
  // The TINs are random, so what was written before can't contain them.
  const [logsBefore, spansBefore] = [everyLog(product.logDir), readFileSync(product.spansFile, "utf8").length];
  const tins: Record<string, string> = {};
  const plant = (input: string, last = 0) => {
    tins[input] = tinEnding(last);
    return tins[input];
  };
  const responses: string[] = [];
  const send = async (...call: Parameters<typeof api.request>) => {
    const answer = await api.request(...call);
    responses.push(JSON.stringify(answer.body), JSON.stringify([...answer.headers]));
    return answer.body;
  };
  const checks = { checks: ["sam_registration", "tin_match"], mode: "realtime" };

  const created = await send("POST", "/v1/entities", {
    body: { legal_name: "Leaky Pipes LLC", identifiers: { tin: asEin(plant("create")) } },
  });
  await send("PUT", `/v1/entities/${created.id}/external_id`, { body: { external_id: asSsn(tins.create!) } });
  const asNumber = plant("external_id");
  await send("POST", "/v1/entities", {
    body: { legal_name: "Leaky Numbers LLC", identifiers: { tin: asNumber }, external_id: `V-${asEin(asNumber)}` },
  });
  const verified = await send("POST", "/v1/verify", {
    body: {
      identifiers: { uei: "SANDBXACTVE1", tin: plant("verify of a registry entity") },
      legal_name: "Drip Inc",
      ...checks,
    },
  });
  // Each call is about the TIN that it supplies, while the others replace the stored one.
  const supplied = [0, 2, 3, 5, 9].map((last) => plant(`verify at the same moment ${last}`, last));
  await Promise.all(
    supplied.map(async (tin) => {
      const identifiers = { uei: "SANDBXACTVE1", tin };
      const verification = await send("POST", "/v1/verify", { body: { identifiers, ...checks } });
      for (const { evidence_uri } of verification.results) await send("GET", evidence_uri);
      const receipt: string = await send("GET", `/v1/verifications/${verification.id}/receipt`);
      responses.push(Buffer.from(receipt.split(".")[1]!, "base64url").toString());
    }),
  );
  for (const last of [2, 3, 5, 9]) {
    const body = { identifiers: { tin: asSsn(plant(`verify ${last}`, last)) }, legal_name: "Drip Inc", ...checks };
    const verification = await send("POST", "/v1/verify", { body });
    for (const { evidence_uri } of verification.results) await send("GET", evidence_uri);
  }
  await send("POST", "/v1/verify", { body: { identifiers: { tin: plant("placeholder") }, ...checks } });
  await send("POST", "/v1/entities/lookup", { body: { identifiers: { tin: plant("look-up") } } });
  await send("POST", "/v1/entities/lookup", { body: { legal_name: `Acme ${plant("name of a look-up")}` } });
  await send("POST", "/v1/entities/lookup", { body: { address: `1 Main St ${asSsn(plant("address of a look-up"))}` } });
  await send("POST", "/v1/entities", { body: { legal_name: `Acme ${asSsn(plant("name"))}` } });
  const inEntities = [...plant("name in HTML entities")].map((digit) => `&#${digit.charCodeAt(0)};`).join("");
  await send("POST", "/v1/entities", { body: { legal_name: `Acme ${inEntities}` } });
  await send("POST", "/v1/entities", { body: { legal_name: "Acme", [plant("name of a field")]: 1 } });
  await send("POST", "/v1/entities", {
    body: { legal_name: "Acme", identifiers: { ein: plant("unknown identifier") } },
  });
  await send("POST", "/v1/entities", { rawBody: `{"identifiers": {"tin": "${plant("malformed JSON")}"` });
  await send("GET", `/v1/entities?tin=${plant("query")}`);
  await send("GET", `/v1/entities?${plant("name of a query parameter")}=1`);
  await send("GET", `/v1/entities?cursor=${plant("cursor")}`);
  await send("GET", `/v1/verifications?entity_id=${plant("filter")}`);
  await send("GET", `/v1/entities?external_id=${plant("filter by external_id")}`);
  await send("GET", `/v1/entities/${plant("path")}`);
  await send("GET", `/v1/${plant("unknown path")}`);
  await send("GET", "/v1/entities", { headers: { "x-request-id": plant("request id") } });
  for (const header of ["user-agent", "tracestate", "baggage", "x-forwarded-for", "cookie", "referer"]) {
    const value = header === "tracestate" || header === "baggage" ? `tin=${plant(header)}` : plant(header);
    await send("GET", "/v1/entities", { headers: { [header]: value, traceparent: clientTraceParent } });
  }
  await send("POST", "/v1/entities", {
    body: { legal_name: "Idempotent Pipes" },
    headers: { "idempotency-key": plant("idempotency key") },
  });
  await send("GET", "/v1/entities", { headers: { authorization: `Bearer ${plant("authorization")}` } });
  const lastLogged = `the-last-one-${randomInt(1_000_000)}`;
  await send("GET", "/v1/entities", { headers: { "x-request-id": lastLogged } });

  subscriber = await startSubscriber();
  const { body: changing } = await api.post("/v1/verify", {
    identifiers: { uei: "SANDBXCHNGE1", tin: plant("monitored") },
    legal_name: "Drip Inc",
    ...checks,
  });
  const monitor = await send("POST", "/v1/monitors", {
    body: { entity_id: changing.entity_id, checks: checks.checks, frequency: "hourly", webhook_url: subscriber.url },
  });
  await send("PATCH", `/v1/monitors/${monitor.id}`, { body: { external_id: asEin(tins.monitored!) } });
  await subscriber.waitForPost();
  // Another TIN that matches is in the monitor's events, in the verification's details and in the audit log.
  await send("POST", "/v1/verify", {
    body: {
      identifiers: { uei: "SANDBXCHNGE1", tin: plant("replacing the monitored one") },
      legal_name: "Drop Inc",
      ...checks,
    },
  });
  const masked = `****${tins["replacing the monitored one"]!.slice(-4)}`;
  await subscriber.waitForPost(({ body }) => body.includes("tin_match.tin") && body.includes(masked));
  await send("DELETE", `/v1/monitors/${monitor.id}`);
  for (const id of [created.id, verified.entity_id, changing.entity_id]) {
    await send("GET", `/v1/entities/${id}`);
    await send("GET", `/v1/entities/${id}/snapshots`);
  }

  const spans = await eventually(() => {
    const text = readFileSync(product.spansFile, "utf8").slice(spansBefore);
    return text.includes("webhook attempt") && text;
  });
  const records = await everyRecord(product);
  const documents = await eventually(
    async () => {
      const text = await everyDocument(product);
      return text.includes(lastLogged) && text.includes("vendor.tin_replaced") && text;
    },
    { everyMs: 1_000 },
  );
  expect(records).not.toBe("");
  const found = [
    ...leaks("responses", responses.join("\n"), tins),
    ...leaks("webhooks", JSON.stringify(subscriber.received), tins),
    ...leaks("spans", withoutTimes(spans), tins),
    ...Object.entries(everyLog(product.logDir)).flatMap(([file, text]) =>
      leaks(`log of ${file}`, text.slice(logsBefore[file]?.length), tins),
    ),
    ...leaks("Kafka", records, tins),
    ...leaks("databases", documents, tins),
  ];
  expect(found).toEqual([]);
  // The search covers real data: masked TINs are in the answers.
  expect(responses.join("\n")).toContain(`****${tins.create!.slice(5)}`);
});
