import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { beforeEach, describe, expect, test } from "@jest/globals";
import { inTransaction } from "@vvs/mongo";
import {
  NotificationFrequency,
  NotificationKind,
  type NotificationSchema,
  NotificationService,
  NotificationSettingsService,
} from "@vvs/proto/account/v1/notifications";
import { toProtoCaller } from "@vvs/tenant";
import { createAuditLog, operator } from "../audit/audit.ts";
import { deleteMember } from "../members/membership.ts";
import { notificationKinds } from "../model/notifications.ts";
import type { UserDocument } from "../store.ts";
import { testApi } from "../testing/api.ts";
import { callerOf, people } from "../testing/people.ts";

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

const { account, clientOf } = await testApi();
const { newUser: newPerson, signIn, entries } = people(account);
let organizationId: string;
let owner: UserDocument;

const newUser = (role: string) => newPerson(role, organizationId);

beforeEach(async () => {
  const { store } = account.domain;
  await Promise.all([store.mails, store.pendingNotifications].map((each) => each.deleteMany({})));
  owner = await newPerson();
  organizationId = owner.organization_id;
  account.clock.now = new Date(account.clock.now.getTime() + DAY_MS);
  account.clock.now.setUTCHours(12, 0, 0, 0);
});

const report = (notifications: MessageInitShape<typeof NotificationSchema>[], of = organizationId) =>
  clientOf(NotificationService, "monitor").reportNotifications({ organizationId: of, notifications });

const statusFails = { field: "sam_registration.status", previous: "pass", current: "fail" };
const excluded = { field: "sam_registration.exclusion_effect", current: "bar" };
const cageChanges = { field: "sam_registration.cage", previous: "1ABC2", current: "3DEF4" };

function notification(
  id: string,
  changes: readonly { field: string; previous?: string; current?: string }[] = [statusFails],
  entityName = "Blue Harbor LLC",
): MessageInitShape<typeof NotificationSchema> {
  const value = { entityId: `ent_${id}`, entityName, externalId: "E-1", changes: [...changes] };
  return { id, about: { case: "vendorChanged", value } };
}

/** Queues all emails that are due, by two replicas at once, and returns those to a member. */
async function mailsTo({ email }: { email: string }) {
  const { sendNotifications } = account.domain;
  const drain = async () => {
    while (await sendNotifications());
  };
  await Promise.all([drain(), drain()]);
  return account.mailsTo(email);
}

const choose = (user: UserDocument, frequency: "off" | "now" | "daily", kinds = [...notificationKinds]) =>
  account.domain.notificationSettings.set(callerOf(user), { frequency, kinds });

describe("an email", () => {
  test("says at once what changed about a vendor, in text and in HTML, without any value of a TIN", async () => {
    await choose(owner, "now");
    await report([
      notification("1", [excluded, statusFails]),
      notification("2", [{ field: "tin_match.status", previous: "pass", current: "fail" }, { field: "tin_match.tin" }]),
    ]);
    account.advance(2 * MINUTE_MS);
    const [mail] = await mailsTo(owner);
    expect(mail!.subject).toBe("Vendor Verification: 1 exclusion, 1 failed check");
    expect(mail!.text).toContain(`Exclusions (1)
--------------

Blue Harbor LLC (E-1)
  Exclusion: none → excluded from federal awards
  SAM.gov registration: passed → failed
  https://dashboard.example/live/vendors/ent_1

Failed checks (1)
-----------------

Blue Harbor LLC (E-1)
  TIN match: passed → failed
  TIN asked about: changed
  https://dashboard.example/live/vendors/ent_2
`);
    expect(mail!.html).toContain(
      '<a href="https://dashboard.example/live/vendors/ent_1"><strong>Blue Harbor LLC (E-1)</strong></a><br>Exclusion: none → excluded from federal awards',
    );
    for (const body of [mail!.text, mail!.html]) {
      expect(body).toContain("https://dashboard.example/live/notifications");
      expect(body).toContain(mail!.unsubscribeUrl);
    }
  });

  test("holds no markup and no line of a name of others", async () => {
    await choose(owner, "now");
    const name = '<img src=x onerror="a()">\r\nBcc: victim@example.com\u202e & Sons';
    await report([notification("1", [statusFails], name)]);
    account.advance(2 * MINUTE_MS);
    const [mail] = await mailsTo(owner);
    expect(mail!.html).toContain("&lt;img src=x onerror=&quot;a()&quot;&gt; Bcc: victim@example.com &amp; Sons");
    expect(mail!.html).not.toContain("<img");
    expect(mail!.text).toContain('\n<img src=x onerror="a()"> Bcc: victim@example.com & Sons (E-1)\n');
    expect(mail!.subject).toBe("Vendor Verification: 1 failed check");
  });

  test("is one for a thousand changes of a file, lists the first and counts the others", async () => {
    await choose(owner, "now");
    for (let begun = 0; begun < 1_000; begun += 100) {
      await report(Array.from({ length: 100 }, (_, i) => notification(String(begun + i))));
      account.advance(MINUTE_MS);
      expect(await mailsTo(owner)).toEqual([]);
    }
    account.advance(MINUTE_MS);
    const mails = await mailsTo(owner);
    expect(mails).toHaveLength(1);
    expect(mails[0]!.subject).toBe("Vendor Verification: 1000 failed checks");
    expect(mails[0]!.text.match(/live\/vendors\//g)).toHaveLength(20);
    expect(mails[0]!.text).toContain("And 980 more: https://dashboard.example/live/overview");
  });

  test("never hides an exclusion behind many smaller changes", async () => {
    await choose(owner, "now");
    await report([
      ...Array.from({ length: 60 }, (_, i) => notification(`small${i}`, [cageChanges])),
      notification("1", [excluded], "Excluded Inc"),
    ]);
    account.advance(2 * MINUTE_MS);
    const [mail] = await mailsTo(owner);
    expect(mail!.text.indexOf("Excluded Inc")).toBeLessThan(mail!.text.indexOf("Other changes of vendors (60)"));
  });

  test("is sent once for an event, however often it is reported and whichever replicas send", async () => {
    await choose(owner, "now");
    await report([notification("1"), notification("1")]);
    await report([notification("1")]);
    account.advance(2 * MINUTE_MS);
    expect(await mailsTo(owner)).toHaveLength(1);
    account.advance(DAY_MS);
    await report([notification("1")]);
    account.advance(DAY_MS);
    expect((await mailsTo(owner)).map(({ subject }) => subject)).toEqual(["Vendor Verification: 1 failed check"]);
  });

  test("comes 15 minutes after the one before at the earliest, and 15 minutes after its first change at the latest", async () => {
    await choose(owner, "now");
    const counts: number[] = [];
    for (let minute = 0; minute < 40; minute++) {
      await report([notification(String(minute))]);
      account.advance(MINUTE_MS);
      counts.push((await mailsTo(owner)).length);
    }
    expect([counts[13], counts[14], counts[28], counts[29], counts[30]]).toEqual([0, 1, 1, 2, 2]);
  });
});

test("an email says which registrations end soon, and when", async () => {
  await choose(owner, "now");
  const value = { entityId: "ent_1", entityName: "Blue Harbor LLC", externalId: "", expirationDate: "2126-05-01" };
  await report([{ id: "1", about: { case: "registrationExpires", value } }]);
  account.advance(2 * MINUTE_MS);
  const [mail] = await mailsTo(owner);
  expect(mail!.subject).toBe("Vendor Verification: 1 registration that ends soon");
  expect(mail!.text).toContain(`Blue Harbor LLC
  Its SAM.gov registration ends on 1 May 2126 unless the vendor renews it.
  https://dashboard.example/live/vendors/ent_1
`);
});

test("an email says which webhook endpoint fails since when", async () => {
  await choose(owner, "now");
  const value = { host: "hooks.acme.example", failingSince: timestampFromDate(new Date("2126-03-01T09:30:00Z")) };
  const dispatcher = clientOf(NotificationService, "webhook-dispatcher");
  const notifications = [{ id: "1", about: { case: "endpointFails" as const, value } }];
  await dispatcher.reportNotifications({ organizationId, notifications });
  account.advance(2 * MINUTE_MS);
  const [mail] = await mailsTo(owner);
  expect(mail!.subject).toBe("Vendor Verification: 1 failing webhook endpoint");
  expect(mail!.text).toContain(`hooks.acme.example
  Deliveries have failed since 2126-03-01 09:30 UTC. Each event is retried for 24 hours.
  https://dashboard.example/live/webhooks
`);
});

describe("a member", () => {
  test("who is an owner gets one a day at 13:00 UTC while they chose nothing, and no one else does", async () => {
    const others = [await newUser("developer"), await newUser("payables"), await newUser("read_only")];
    await report([notification("1")]);
    account.advance(59 * MINUTE_MS);
    await report([notification("2")]);
    expect(await mailsTo(owner)).toEqual([]);
    account.advance(MINUTE_MS);
    expect(await mailsTo(owner)).toMatchObject([{ subject: "Vendor Verification: 2 failed checks" }]);
    for (const other of others) expect(await account.mailsTo(other.email)).toEqual([]);
    await report([notification("3")]);
    account.advance(DAY_MS - MINUTE_MS);
    expect(await mailsTo(owner)).toHaveLength(1);
    account.advance(MINUTE_MS);
    expect(await mailsTo(owner)).toHaveLength(2);
  });

  test("gets only the kinds that they chose, at the address that they have when it is sent", async () => {
    const reader = await newUser("read_only");
    await choose(reader, "now", ["excluded"]);
    await report([notification("1"), notification("2", [excluded]), notification("3", [cageChanges])]);
    const email = `moved-${reader.email}`;
    await account.domain.store.users.updateOne({ _id: reader._id }, { $set: { email } });
    account.advance(2 * MINUTE_MS);
    expect(await mailsTo(reader)).toEqual([]);
    expect(await account.mailsTo(email)).toMatchObject([{ subject: "Vendor Verification: 1 exclusion" }]);
  });

  test.each<[string, () => Promise<unknown>]>([
    ["turned them off", () => choose(owner, "off")],
    ["chose other kinds", () => choose(owner, "now", ["excluded"])],
    [
      "is no longer an owner and chose nothing",
      async () => {
        await account.domain.store.notificationSettings.deleteOne({ _id: owner._id });
        await account.domain.store.users.updateOne({ _id: owner._id }, { $set: { role: "read_only" } });
      },
    ],
    ["left", () => account.domain.store.users.deleteOne({ _id: owner._id })],
  ])("gets none about what happened before they %s", async (_name, change) => {
    await choose(owner, "now");
    await report([notification("1")]);
    await change();
    account.advance(DAY_MS);
    expect(await mailsTo(owner)).toEqual([]);
    expect(await account.domain.store.pendingNotifications.countDocuments({ due_at: { $exists: true } })).toBe(0);
  });

  test.each([
    ["gets what happened before a suspension when it ends", 6, 1],
    ["gets nothing that happened more than a week before a suspension ends", 8, 0],
  ])("%s", async (_name, days, mails) => {
    await choose(owner, "now");
    await report([notification("1", [excluded])]);
    await account.domain.organizations.suspend(operator, organizationId);
    for (let day = 0; day < days; day++) {
      account.advance(DAY_MS);
      expect(await mailsTo(owner)).toEqual([]);
    }
    await account.domain.organizations.resume(operator, organizationId);
    account.advance(60 * MINUTE_MS);
    expect(await mailsTo(owner)).toHaveLength(mails);
    expect(await account.domain.store.pendingNotifications.countDocuments({ due_at: { $exists: true } })).toBe(0);
  });

  test("who leaves takes their settings along", async () => {
    await choose(owner, "now");
    await report([notification("1")]);
    const { client, domain } = account;
    const now = () => account.clock.now;
    const audit = createAuditLog({ store: domain.store, now });
    await inTransaction(client, (session) =>
      deleteMember({ store: domain.store, audit, now }, operator, owner, "member.removed", session),
    );
    const { notificationSettings, pendingNotifications } = domain.store;
    const own = { _id: owner._id };
    expect([await notificationSettings.findOne(own), await pendingNotifications.findOne(own)]).toEqual([null, null]);
  });
});

test("nothing is kept of an organization that is suspended, unknown, or whose members want no email", async () => {
  await choose(owner, "off");
  await report([notification("1")]);
  await report([notification("1")], "org_unknown");
  await choose(owner, "now");
  await account.domain.organizations.suspend(operator, organizationId);
  await report([notification("1")]);
  expect(await account.domain.store.pendingNotifications.find().toArray()).toEqual([]);
  const kept = await account.domain.store.gatheredNotifications.find({ _id: new RegExp(organizationId) }).toArray();
  expect(kept).toEqual([]);
});

test("a member reads and changes only their own settings, with their session", async () => {
  const dashboard = clientOf(NotificationSettingsService, "dashboard");
  const reader = await newUser("read_only");
  const { token: sessionToken } = await signIn(reader);
  const bySession = { caller: toProtoCaller(callerOf(reader)), sessionToken };
  const { EXCLUDED, FAILED, EXPIRING, CHANGED, DELIVERIES, KEYS } = NotificationKind;
  const { settings } = await dashboard.getNotificationSettings(bySession);
  expect(settings).toMatchObject({
    frequency: NotificationFrequency.OFF,
    kinds: [EXCLUDED, FAILED, EXPIRING, CHANGED, DELIVERIES, KEYS],
  });
  const chosen = { frequency: NotificationFrequency.NOW, kinds: [CHANGED, EXCLUDED, CHANGED] };
  await dashboard.setNotificationSettings({ ...bySession, settings: chosen });
  const { settings: after } = await dashboard.getNotificationSettings(bySession);
  expect(after).toMatchObject({ frequency: NotificationFrequency.NOW, kinds: [EXCLUDED, CHANGED] });
  const foreign = { ...bySession, caller: toProtoCaller(callerOf(owner)) };
  await expect(dashboard.setNotificationSettings({ ...foreign, settings: chosen })).rejects.toMatchObject({
    code: "forbidden",
  });
  const none = { ...bySession, settings: { kinds: [CHANGED] } };
  await expect(dashboard.setNotificationSettings(none)).rejects.toMatchObject({ code: "invalid_request" });
});

test("the link in an email turns emails off for its recipient only and can be used again; a forged link does nothing", async () => {
  const dashboard = clientOf(NotificationSettingsService, "dashboard");
  const other = await newUser("owner");
  await choose(owner, "now");
  await report([notification("1")]);
  account.advance(2 * MINUTE_MS);
  const [mail] = await mailsTo(owner);
  const token = new URL(mail!.unsubscribeUrl!).searchParams.get("token")!;
  const forged = token.replace(owner._id, other._id);
  for (const wrong of ["", "x", forged, `${owner._id}.`, `${owner._id}.AAAA`, token.slice(0, -8)]) {
    await expect(dashboard.unsubscribe({ token: wrong })).rejects.toMatchObject({ code: "not_found" });
  }
  await report([notification("2")]);
  await dashboard.unsubscribe({ token });
  await dashboard.unsubscribe({ token });
  await choose(other, "daily");
  const kinds = notificationKinds.join(", ");
  const changed = { action: "member.notifications_changed", organization_id: organizationId };
  expect(await entries(changed)).toMatchObject([
    { actor: owner._id, target: owner._id, request_id: "req_1", details: { frequency: "now", kinds } },
    { actor: owner._id, target: owner._id, details: { frequency: "off", kinds } },
  ]);
  account.advance(2 * DAY_MS);
  expect(await mailsTo(owner)).toHaveLength(1);
  expect(await mailsTo(other)).toHaveLength(1);
});

test.each<[string, () => Parameters<typeof report>[0]]>([
  ["no notification", () => []],
  ["more than 100", () => Array.from({ length: 101 }, (_, i) => notification(String(i)))],
  ["one without an id", () => [notification("")]],
  ["one without changes", () => [notification("1", [])]],
  [
    "one without a date",
    () => [{ id: "1", about: { case: "registrationExpires", value: { entityId: "ent_1", entityName: "Acme" } } }],
  ],
  ["one about nothing", () => [{ id: "1" }]],
])("a report with %s is refused", async (_name, notifications) => {
  await expect(report(notifications())).rejects.toMatchObject({ code: "invalid_request" });
});

test("no other service reports", async () => {
  const gateway = clientOf(NotificationService, "gateway");
  await expect(gateway.reportNotifications({})).rejects.toMatchObject({ code: "forbidden" });
});
