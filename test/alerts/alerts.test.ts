import { randomBytes } from "node:crypto";
import { existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { newId } from "@vvs/ids";
import { createKafka } from "@vvs/kafka";
import { CheckType, Environment } from "@vvs/proto/common/v1/common";
import { Mode } from "@vvs/proto/verification/v1/verification";
import { eventually, silentLogger } from "@vvs/testing";
import { freePort } from "../../deploy/local/servers/free-port.ts";
import { projectRoot } from "../../deploy/local/services.ts";
import { type DeliveryStack, startDeliveryStack, webhookEvent } from "../support/delivery-stack.ts";
import { type Subscriber, startSubscriber } from "../support/subscriber.ts";
import { testServers } from "../support/test-servers.ts";
import { startVerificationStack, type VerificationStack } from "../support/verification-stack.ts";
import { allRules, metricsOf } from "./rules.ts";

const prefix = `a${randomBytes(4).toString("hex")}_`;
const folder = join(projectRoot, ".cache", "test-alerts", prefix);
const rules = allRules();
let stack: VerificationStack;
let deliveries: DeliveryStack;
let subscriber: Subscriber;

beforeAll(async () => {
  const servers = testServers();
  subscriber = await startSubscriber((_received, response) => void response.writeHead(500).end());
  deliveries = await startDeliveryStack({ servers, prefix: `d${prefix}`, folder });
  stack = await startVerificationStack({
    servers,
    prefix,
    folder,
    environment: {
      SAM_GOV_API_KEY: "not-a-key-of-anyone",
      SAM_GOV_BASE_URL: `http://127.0.0.1:${await freePort()}`,
      SAM_GOV_DAILY_QUOTA: "10",
      SAM_GOV_KEY_ISSUED_ON: "2026-01-01",
    },
    log: () => undefined,
  });
}, 180_000);

afterAll(async () => {
  await stack?.stop();
  await stack?.remove();
  await deliveries?.stop();
  await deliveries?.remove();
  rmSync(folder, { recursive: true, force: true });
}, 60_000);

test("each alert has a runbook with its name, and each runbook has an alert", () => {
  expect(rules.length).toBeGreaterThan(0);
  for (const { alert, runbook } of rules) {
    expect(runbook).toBe(`docs/runbooks/${alert}.md`);
    expect(existsSync(join(projectRoot, runbook!))).toBe(true);
    expect(readFileSync(join(projectRoot, runbook!), "utf8")).toMatch(new RegExp(`^# ${alert}\n`));
  }
  const runbooks = readdirSync(join(projectRoot, "docs/runbooks")).filter((file) => file !== "README.md");
  expect(runbooks.toSorted()).toEqual([...new Set(rules.map(({ alert }) => `${alert}.md`))].toSorted());
});

test("each link in a runbook leads to an existing file", () => {
  const runbooks = join(projectRoot, "docs/runbooks");
  for (const file of readdirSync(runbooks)) {
    const links = readFileSync(join(runbooks, file), "utf8").matchAll(/\]\(([^)#]+)/g);
    for (const [, link] of links)
      expect({ file, link, exists: existsSync(join(runbooks, link!)) }).toMatchObject({ exists: true });
  }
});

test.each([
  ["max by (a, b) (one_thing) > 60", ["one_thing"]],
  ['sum by (a) (rate(x_total{b="c", d=~"e|f"}[10m])) > 0\nunless\nsum by (a) (y offset 15m)', ["x_total", "y"]],
  ['sum by (a) (lag{b=~"(.+[.])?c"}) > 0\nunless on ()\nsum(rate(z_total[5m])) > 0', ["lag", "z_total"]],
  ["absent(x)\nor\nmax(y) > max(y offset 10m)", ["x", "y"]],
  ['x:y:rate5m{a="b"} > 14.4 and sum_over_time(x:z[3d]) * 30 > 10', ["x:y:rate5m", "x:z"]],
  ['predict_linear(left{a="b"}[1h], 86400 - time() % 86400) < 0', ["left"]],
])("an expression's metrics are found: %s", (expr, metrics) => {
  expect(metricsOf(expr)).toEqual(metrics);
});

test("each metric that an alert queries is exported, with the labels that the alert uses", async () => {
  const caller = { tenant: { organizationId: newId("org"), environment: Environment.LIVE }, actor: newId("key") };
  const { entity } = await stack.entities.lookUp({ caller, identifiers: { uei: "ZZNRTHWND001" } });
  await stack.verifications.verify({
    caller,
    target: { case: "entityId", value: entity!.id },
    checks: [CheckType.SAM_REGISTRATION],
    mode: Mode.REALTIME,
  });
  const kafka = createKafka({
    brokers: process.env.KAFKA_BROKERS!.split(","),
    clientId: "test",
    topicPrefix: `${prefix}.`,
    logger: silentLogger,
  });
  const producer = kafka.producer();
  const topic = kafka.topicFor("live", "verification.requested");
  await producer.send([{ topic, key: "a", value: Buffer.from("not such a message") }]);
  await producer.close();

  await deliveries.publish([
    webhookEvent({ organizationId: newId("org"), monitorId: newId("mon"), url: subscriber.url }),
  ]);

  // The chart's tests check the names of recorded series, and of metrics of services that don't run here.
  const checkedElsewhere = /^(slo:|monitor_|canary_|ratelimit_degraded$|account_mail_oldest_unsent_seconds$)/;
  const wanted = [...new Set(rules.flatMap(({ expr }) => metricsOf(expr)))].filter(
    (name) => !checkedElsewhere.test(name),
  );
  const exported = await eventually(async () => {
    const ports = [stack.ports.verification.admin, stack.ports.entity.admin, deliveries.adminPort];
    const texts = ports.map(async (port) => (await fetch(`http://127.0.0.1:${port}/metrics`)).text());
    const series = (await Promise.all(texts)).join("\n").split("\n");
    return wanted.every((name) => series.some((line) => /^\w+/.exec(line)?.[0] === name)) && series;
  });
  const labelled = (name: string, ...labels: string[]) =>
    exported.some((line) => line.startsWith(`${name}{`) && labels.every((label) => line.includes(label)));
  expect(labelled("verification_provider_state", 'environment="live"', 'provider="sam_gov_api"')).toBe(true);
  expect(labelled("verification_provider_quota_remaining", 'environment="live"', 'provider="sam_gov_api"')).toBe(true);
  expect(labelled("verification_provider_daily_quota", 'environment="live"', 'provider="sam_gov_api"')).toBe(true);
  expect(labelled("verification_provider_calls_today", 'provider="sam_gov_api"', 'class="direct"')).toBe(true);
  expect(labelled("verification_provider_attempts_total", 'check="sam_registration"', 'outcome="throw"')).toBe(true);
  expect(labelled("verification_provider_attempts_total", 'environment="live"', 'outcome="pass"')).toBe(true);
  expect(labelled("verification_provider_key_age_days", 'provider="sam_gov_api"')).toBe(true);
  expect(labelled("outbox_oldest_unsent_seconds", 'database="')).toBe(true);
  expect(labelled("entity_name_index_lag", 'environment="live"')).toBe(true);
  expect(labelled("dead_letter_records_total", `messaging_destination_name="${topic}"`)).toBe(true);
  const live = 'environment="live"';
  expect(labelled("webhook_oldest_due_age", live)).toBe(true);
  expect(labelled("webhook_deliveries_pending", live, 'state="due"')).toBe(true);
  expect(labelled("webhook_deliveries_accepted_total", live)).toBe(true);
  expect(labelled("webhook_delivery_attempts_total", live, 'outcome="http_status"')).toBe(true);
  expect(labelled("webhook_failing_endpoints", live, 'state="open"')).toBe(true);
  expect(labelled("webhook_deliveries_given_up_total", live)).toBe(true);
  expect(labelled("webhook_attempts_put_off_total", live)).toBe(true);
  const lag = ['group="webhook-dispatcher"', 'topic="webhook.requested"', live];
  expect(labelled("kafka_group_lag", ...lag)).toBe(true);
  expect(labelled("kafka_group_late_records", ...lag, 'older_than="600s"')).toBe(true);
  for (const service of ["verification", "entity", "webhook-dispatcher"])
    expect(labelled("service_ready", `service="${service}"`)).toBe(true);
});
