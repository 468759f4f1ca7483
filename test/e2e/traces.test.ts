import { appendFileSync } from "node:fs";
import { expect, test } from "@jest/globals";
import { eventually, temporaryFolder } from "@vvs/testing";
import { loadRegistry } from "../../deploy/local/registry.ts";
import { todaysExclusions } from "../support/exclusions-file.ts";
import { createOrganization } from "../support/organization.ts";
import { sharedProduct } from "../support/product.ts";
import { exportedSpans, missingEdge } from "../support/spans.ts";
import { startSubscriber } from "../support/subscriber.ts";

const topics = sharedProduct().environment.KAFKA_TOPIC_PREFIX;
const topic = (name: string) => `${topics}sandbox.${name}`;

/** Returns a client's own trace id and the header that carries it. */
function clientTrace(): { traceId: string; traceparent: string } {
  const hex = (bytes: number) => Buffer.from(crypto.getRandomValues(new Uint8Array(bytes))).toString("hex");
  const traceId = hex(16);
  return { traceId, traceparent: `00-${traceId}-${hex(8)}-01` };
}

const spansOf = (traceId: string) => exportedSpans().filter((span) => span.traceId === traceId);

async function traceWith(traceId: string, edges: readonly (readonly [string, string])[]): Promise<void> {
  let missing: string | undefined;
  const whole = () => {
    missing = missingEdge(spansOf(traceId), edges);
    return missing === undefined;
  };
  await eventually(whole, { timeoutMs: 20_000 }).catch(() => undefined);
  expect(missing).toBeUndefined();
}

test.concurrent("POST /v1/verify is one trace: gateway → entity → verification → Kafka → entity", async () => {
  const organization = await createOrganization();
  const { traceId, traceparent } = clientTrace();
  const body = { identifiers: { uei: "SANDBXACTVE1" }, checks: ["sam_registration"], mode: "realtime" };
  const answer = await organization.sandbox.post("/v1/verify", body, { headers: { traceparent } });
  expect(answer.status).toBe(200);
  const verify = "vvs.verification.v1.VerificationService/Verify";
  const resolve = "vvs.entity.v1.EntityService/ResolveVendor";
  const completed = topic("verification.completed.direct");
  await traceWith(traceId, [
    ["gateway POST /v1/verify", `gateway ${verify}`],
    [`gateway ${verify}`, `verification ${verify}`],
    [`verification ${verify}`, `entity ${resolve}`],
    [`verification ${verify}`, `entity process ${completed}`],
  ]);
});

test.concurrent.each([
  [["sam_registration"], "verification.requested"],
  [["sam_registration", "tin_match"], "verification.requested.tin_match"],
])(
  "a monitor's run of %j is one trace up to the subscriber, linked to the call that created the monitor",
  async (checks, requestedOn) => {
    const organization = await createOrganization();
    const subscriber = await startSubscriber();
    try {
      const { body: entity } = await organization.sandbox.post("/v1/entities/lookup", {
        identifiers: { uei: "SANDBXCHNGE1" },
      });
      const { traceId: callTraceId, traceparent } = clientTrace();
      const { body: monitor } = await organization.sandbox.post(
        "/v1/monitors",
        { entity_id: entity.id, checks, frequency: "hourly", webhook_url: subscriber.url },
        { headers: { traceparent } },
      );
      const post = await subscriber.waitForPost();
      await organization.sandbox.delete(`/v1/monitors/${monitor.id}`);

      const runTraceId = String(post.headers.traceparent).split("-")[1]!;
      expect(runTraceId).not.toBe(callTraceId);
      const [requested, completed] = [topic(requestedOn), topic("verification.completed")];
      const [detected, wanted] = [topic("monitor.change_detected"), topic("webhook.requested")];
      await traceWith(runTraceId, [
        ["monitor monitor run", `verification process ${requested}`],
        [`verification process ${requested}`, `change-detector process ${completed}`],
        [`verification process ${requested}`, `monitor process ${completed}`],
        [`verification process ${requested}`, `entity process ${completed}`],
        [`change-detector process ${completed}`, `monitor process ${detected}`],
        [`monitor process ${detected}`, `webhook-dispatcher process ${wanted}`],
        [`webhook-dispatcher process ${wanted}`, "webhook-dispatcher webhook attempt"],
      ]);
      const run = exportedSpans().find((span) => span.traceId === runTraceId && span.name === "monitor run");
      expect(run?.parentSpanId).toBe("");
      expect(run?.linkedTraceIds).toContain(callTraceId);
    } finally {
      subscriber.close();
    }
  },
);

test.concurrent("the states of monitors are one trace: monitor → Kafka → entity", async () => {
  const organization = await createOrganization();
  const { body: entity } = await organization.sandbox.post("/v1/entities", { legal_name: "Traced Monitor LLC" });
  const published = () => exportedSpans().filter(({ name }) => name === "publish monitor states");
  const before = new Set(published().map(({ traceId }) => traceId));
  const monitor = { entity_id: entity.id, checks: ["sam_registration"] };
  expect((await organization.sandbox.post("/v1/monitors", monitor)).status).toBe(201);
  const changed = topic("monitor.state_changed");
  const edges = [["monitor publish monitor states", `entity process ${changed}`]] as const;
  await eventually(
    () =>
      published()
        .filter(({ traceId }) => !before.has(traceId))
        .some(({ traceId }) => !missingEdge(spansOf(traceId), edges)),
    { timeoutMs: 20_000 },
  );
});

test.concurrent("the changes of a loaded file are one trace: entity → Kafka → monitor", async () => {
  const uei = "TRACEDVENDR1";
  const organization = await createOrganization();
  const own = { legal_name: "Traced Vendor", identifiers: { uei } };
  expect((await organization.live.post("/v1/entities", own)).status).toBe(201);
  const published = () => exportedSpans().filter(({ name }) => name === "publish registry changes");
  const before = new Set(published().map(({ traceId }) => traceId));
  const folder = temporaryFolder();
  const exclusions = todaysExclusions(folder);
  appendFileSync(exclusions, exclusionRow(uei));
  const { environment } = sharedProduct();
  await loadRegistry({ registry: undefined, exclusions, environment, log: () => undefined });
  const [first] = await eventually(() => {
    const found = published().filter(({ traceId }) => !before.has(traceId));
    return found.length > 0 && found;
  });
  const changed = `${topics}live.registry.changed`;
  await traceWith(first!.traceId, [["entity publish registry changes", `monitor process ${changed}`]]);
});

/** Returns the row of a firm's exclusion in an exclusions file, with the columns of the sample file. */
function exclusionRow(uei: string): string {
  const address = ["1 ELM ST", "", "", "", "DOVER", "NH", "USA", "03820"];
  const program = ["Reciprocal", "GSA", "", "Ineligible", "", "2026-01-01", "Indefinite", "Active", ""];
  const fields = ["Firm", "TRACED", "", "", "", "", "", ...address, "N", "", uei, ...program, `S4${uei}`, "", ""];
  return `${[...fields, "2026-01-01"].map((field) => `"${field}"`).join(",")}\n`;
}
