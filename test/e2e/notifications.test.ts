import { create, toBinary } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { expect, test } from "@jest/globals";
import { newId } from "@vvs/ids";
import { createKafka, topicNames } from "@vvs/kafka";
import { ChangeDetectedSchema } from "@vvs/proto/events/v1/events";
import { toProtoTenant } from "@vvs/tenant";
import { eventually, silentLogger } from "@vvs/testing";
import { withAccounts } from "../../deploy/local/seed.ts";
import { createOrganization } from "../support/organization.ts";
import { sharedProduct } from "../support/product.ts";

const { environment, dashboardUrl } = sharedProduct();

test("a change reaches the owner as one email, however often its record comes, and the email's link ends them", async () => {
  const organization = await createOrganization();
  const tenant = { organizationId: organization.id, environment: "live" } as const;
  const entity = await organization.live.post("/v1/entities", { legal_name: "Blue Harbor LLC" });
  const asked = { entity_id: entity.body.id, checks: ["sam_registration"], frequency: "monthly" };
  const monitor = await organization.live.post("/v1/monitors", asked);
  expect([entity.status, monitor.status]).toEqual([201, 201]);

  const kafka = createKafka({
    brokers: environment.KAFKA_BROKERS!.split(","),
    clientId: "test",
    topicPrefix: environment.KAFKA_TOPIC_PREFIX!,
    logger: silentLogger,
  });
  const record = (eventId: string) =>
    create(ChangeDetectedSchema, {
      eventId,
      tenant: toProtoTenant(tenant),
      run: { monitorId: monitor.body.id, runSeq: 1n },
      entityId: entity.body.id,
      entityName: "Blue Harbor LLC",
      verificationId: newId("ver"),
      changes: [{ field: "sam_registration.status", previous: "pass", current: "fail" }],
      detectedAt: timestampFromDate(new Date()),
    });
  const [first, second] = [record(newId("evt")), record(newId("evt"))];
  const topic = kafka.topicFor("live", topicNames.changeDetected);
  const producer = kafka.producer();
  const send = (...records: (typeof first)[]) =>
    producer.send(
      records.map((each) => ({
        topic,
        key: monitor.body.id,
        value: toBinary(ChangeDetectedSchema, each),
        headers: {},
      })),
    );

  await withAccounts(environment, async ({ store }) => {
    const user = (await store.users.findOne({ email: organization.email }))!;
    const failed = async () => (await store.pendingNotifications.findOne({ _id: user._id }))?.counts.failed;
    await send(first);
    await eventually(async () => (await failed()) === 1, { timeoutMs: 30_000 });
    await send(first, first, second);
    await eventually(async () => (await failed()) === 2, { timeoutMs: 30_000 });

    await store.pendingNotifications.updateOne({ _id: user._id }, { $set: { due_at: new Date(0) } });
    const mails = () => store.mailbox.find({ to: organization.email, kind: "notification" }).toArray();
    await eventually(async () => (await mails()).length === 1, { timeoutMs: 30_000 });
    const [mail] = await mails();
    expect(mail!.subject).toBe("Vendor Verification: 2 failed checks");
    expect(mail!.text).toContain("Blue Harbor LLC\n  SAM.gov registration: passed → failed\n");

    const link = new URL(/Stop these emails: (\S+)/.exec(mail!.text)![1]!);
    const url = new URL(`${link.pathname}${link.search}`, dashboardUrl);
    const settings = () => store.notificationSettings.findOne({ _id: user._id });
    expect((await fetch(url)).status).toBe(200);
    expect(await settings()).toBeNull();
    const body = new URLSearchParams({ "List-Unsubscribe": "One-Click" });
    expect((await fetch(url, { method: "POST", body })).status).toBe(200);
    expect(await settings()).toMatchObject({ frequency: "off" });
  });
  await producer.close();
});
