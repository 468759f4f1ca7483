import { describe, expect, test } from "@jest/globals";
import type { CallerContext } from "@vvs/tenant";
import { callerOfOrganization, testAccount } from "../testing/account.ts";

const account = await testAccount();

const live = callerOfOrganization((await account.organization())._id, "live");

const reporter = "webhook-dispatcher";
const replayed = { action: "webhook_delivery.replayed", target: "dlv_1", details: { attempts: "3" } };
const entries = () =>
  account.domain.store.auditLog
    .find({ organization_id: live.tenant.organizationId, action: /^webhook_(?!secret)/ } as object)
    .toArray();

test("an action that another service reports is in the audit log with the user as its actor", async () => {
  await account.domain.auditLog.append(live, { reporter, ...replayed });
  expect(await entries()).toMatchObject([
    { ...replayed, environment: "live", actor: live.actor, request_id: live.requestId, at: account.clock.now },
  ]);
});

describe("an entry that is sent again", () => {
  const at = new Date("2126-03-01T10:00:00.000Z");
  const later = (minutes: number) => new Date(at.getTime() + minutes * 60_000);
  const changed = (entryId: string) => ({
    action: "monitor.webhook_url_changed",
    target: "mon_1",
    details: { previous_host: "old.example", host: "new.example" },
    known: { entryId, at },
  });
  const asked = (entryId: string, count: number, lastAt: Date) => ({
    action: "verification.asked",
    target: "key_1",
    details: {},
    known: { entryId, at, counted: { count, lastAt } },
  });
  const entriesOf = (caller: CallerContext, action: string) => {
    const { organizationId: organization_id, environment } = caller.tenant;
    return account.domain.store.auditLog.find({ organization_id, environment, action }).toArray();
  };

  test("is one entry with its own time, in each organization and environment", async () => {
    const others = [
      callerOfOrganization(live.tenant.organizationId, "sandbox"),
      callerOfOrganization((await account.organization())._id, "live"),
    ];
    for (const caller of [live, ...others, live]) {
      await Promise.all(
        [1, 2, 3].map(() => account.domain.auditLog.append(caller, { reporter: "monitor", ...changed("mon_1:url:1") })),
      );
    }
    const { known: _known, ...shown } = changed("mon_1:url:1");
    for (const caller of [live, ...others]) {
      expect(await entriesOf(caller, shown.action)).toMatchObject([{ ...shown, at, actor: caller.actor }]);
    }
    await account.domain.auditLog.append(live, { reporter: "monitor", ...changed("mon_1:url:2") });
    expect(await entriesOf(live, shown.action)).toHaveLength(2);
  });

  test("about several actions keeps the highest number, in any order of reports", async () => {
    for (const [count, minutes] of [
      [2, 5],
      [7, 30],
      [4, 10],
    ] as const) {
      await account.domain.auditLog.append(live, { reporter: "verification", ...asked("hour", count, later(minutes)) });
    }
    expect(await entriesOf(live, "verification.asked")).toMatchObject([
      { at, target: "key_1", details: { count: 7, last_at: later(30).toISOString() } },
    ]);
  });
});

test("a detail that is too long is cut, so that its entry is not lost", async () => {
  const details = { host: `${"a.".repeat(256)}com` };
  await account.domain.auditLog.append(live, { reporter, ...replayed, target: "dlv_long", details });
  const found = (await entries()).find(({ target }) => target === "dlv_long");
  expect(found?.details).toEqual({ host: details.host.slice(0, 300) });
});

test("a detail that looks like a TIN is masked", async () => {
  const details = { from: "12-3456789", to: "V-1" };
  const changed = { reporter: "dashboard", action: "vendor.number_changed", target: "ent_1", details };
  await account.domain.auditLog.append(live, changed);
  const found = await account.domain.store.auditLog.findOne({ action: changed.action });
  expect(found?.details).toEqual({ from: "****6789", to: "V-1" });
});

test.each([
  ["an action that this service records itself", { ...replayed, action: "api_key.created" }],
  ["an action that another service takes", { ...replayed, action: "monitor.created" }],
  ["an unknown action", { ...replayed, action: "webhook_delivery.eaten" }],
  ["no target", { ...replayed, target: "" }],
  ["a target that is too long", { ...replayed, target: "x".repeat(301) }],
  ["the name of a detail that is too long", { ...replayed, details: { ["x".repeat(301)]: "text" } }],
  ["too many details", { ...replayed, details: Object.fromEntries("abcdefghijk".split("").map((key) => [key, key])) }],
])("%s is refused", async (_name, entry) => {
  const before = await entries();
  await expect(account.domain.auditLog.append(live, { reporter, ...entry })).rejects.toMatchObject({
    code: "invalid_request",
  });
  expect(await entries()).toEqual(before);
});
