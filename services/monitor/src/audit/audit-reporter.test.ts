import { beforeEach, describe, expect, test } from "@jest/globals";
import { ServiceError } from "@vvs/errors";
import type { CallerContext } from "@vvs/tenant";
import { createTestDomain, someCaller, someMonitor } from "../testing/domain.ts";
import { type AuditEntryDocument, auditEntriesOf } from "./audit-entries.ts";
import { type ReportEntry, reportEntries } from "./audit-reporter.ts";

const domain = await createTestDomain();
let caller: CallerContext;
beforeEach(async () => {
  await auditEntriesOf(domain.db).deleteMany({});
  caller = { ...someCaller(), clientAddress: "203.0.113.9" };
});

const leases = { held: () => Array.from({ length: 16 }, (_, shard) => shard) };
const waiting = () => auditEntriesOf(domain.db).find().sort({ at: 1, _id: 1 }).toArray();
const create = async (webhookUrl: string | undefined) =>
  (await domain.commands.create(caller, someMonitor({ webhookUrl }))).value;
const changeUrl = (id: string, webhookUrl: string | null, by = caller) =>
  domain.commands.update(by, id, { frequency: undefined, webhookUrl });

describe("what is done to a monitor is stored with its effect", () => {
  test("a creation and a cancellation, once each, with who did it", async () => {
    const { _id, created_at } = await create("https://hooks.acme.example:8443/in?token=secret");
    domain.pass(1_000);
    await Promise.all([1, 2, 3].map(() => domain.commands.cancel(caller, _id)));
    const by = { organization_id: caller.tenant.organizationId, actor: caller.actor, client_address: "203.0.113.9" };
    expect(await waiting()).toMatchObject([
      {
        ...by,
        action: "monitor.created",
        monitor_id: _id,
        at: created_at,
        details: { host: "hooks.acme.example:8443" },
      },
      { ...by, action: "monitor.canceled", monitor_id: _id, at: domain.clock.at, details: {} },
    ]);
  });

  test.each([
    ["another host", "https://new.example/b?token=second", "old.example", "new.example"],
    ["another path of the same host", "https://old.example/other", "old.example", "old.example"],
    ["no URL", null, "old.example", "none"],
  ])("a change of its URL to %s, with both hosts and no path", async (_name, url, previous_host, host) => {
    const { _id } = await create("https://old.example/a?token=first");
    const changer = { ...caller, actor: "usr_changer" };
    await changeUrl(_id, url, changer);
    const changes = (await waiting()).filter(({ action }) => action === "monitor.webhook_url_changed");
    expect(changes).toMatchObject([{ actor: "usr_changer", monitor_id: _id }]);
    expect(changes[0]!.details).toEqual({ previous_host, host });
    expect(JSON.stringify(await waiting())).not.toMatch(/token|first|second/);
  });

  test("a change from no URL and back are two entries", async () => {
    const { _id } = await create(undefined);
    await changeUrl(_id, "https://new.example/a");
    await changeUrl(_id, null);
    const changes = (await waiting()).filter(({ action }) => action === "monitor.webhook_url_changed");
    expect(changes.map(({ details }) => details)).toEqual([
      { previous_host: "none", host: "new.example" },
      { previous_host: "new.example", host: "none" },
    ]);
  });

  test("each change of its frequency or number, with the value before and after", async () => {
    const { _id } = await create(undefined);
    await domain.commands.update(caller, _id, { frequency: "weekly", externalId: "V-1" });
    for (const frequency of ["daily", "weekly"] as const) {
      domain.pass(1_000);
      await domain.commands.update(caller, _id, { frequency, webhookUrl: undefined });
    }
    const changes = (await waiting()).filter(({ action }) => action === "monitor.changed");
    expect(changes.map(({ details }) => details)).toEqual([
      {
        previous_frequency: "daily",
        frequency: "weekly",
        previous_external_id: "none",
        external_id: "V-1",
      },
      { previous_frequency: "weekly", frequency: "daily" },
      { previous_frequency: "daily", frequency: "weekly" },
    ]);
    expect(changes[0]).toMatchObject({ actor: caller.actor, monitor_id: _id });
  });

  test("nothing where it had no effect", async () => {
    const { _id } = await create("https://old.example/a");
    await auditEntriesOf(domain.db).deleteMany({});
    await changeUrl(_id, "https://old.example/a");
    await domain.commands.update(caller, _id, { frequency: "daily", externalId: null });
    await expect(domain.commands.cancel(someCaller(), _id)).rejects.toMatchObject({ code: "monitor_not_found" });
    await expect(changeUrl(_id, "https://x.example/", someCaller())).rejects.toMatchObject({
      code: "monitor_not_found",
    });
    await expect(domain.commands.create(caller, someMonitor({ entityId: domain.unknownEntity }))).rejects.toMatchObject(
      { code: "entity_not_found" },
    );
    expect(await waiting()).toEqual([]);
  });
});

describe("the reporter", () => {
  test("reports every entry, more than a batch, and removes it", async () => {
    const ids = await Promise.all(Array.from({ length: 45 }, async () => (await create(undefined))._id));
    const reported: string[] = [];
    const report: ReportEntry = async ({ monitor_id }) => void reported.push(monitor_id);
    await reportEntries(domain.db, { leases, report });
    expect(reported.toSorted()).toEqual(ids.toSorted());
    expect(await waiting()).toEqual([]);
  });

  test("keeps entries while account refuses or is unavailable, and sends them again under the same id", async () => {
    await create(undefined);
    await create(undefined);
    const sent: AuditEntryDocument[] = [];
    // The first report arrives, the second fails and is sent again.
    const failing: ReportEntry = async (entry) => {
      sent.push(entry);
      if (sent.length === 2) throw new Error("account is unavailable");
    };
    await expect(reportEntries(domain.db, { leases, report: failing })).rejects.toThrow("account is unavailable");
    expect(await waiting()).toHaveLength(1);
    await reportEntries(domain.db, { leases, report: async (entry) => void sent.push(entry) });
    expect(sent).toHaveLength(3);
    expect(sent[2]).toEqual(sent[1]);
    expect(await waiting()).toEqual([]);
  });

  test("keeps entries that account refuses, more than a batch, and reports all others", async () => {
    const ids = await Promise.all(Array.from({ length: 60 }, async () => (await create(undefined))._id));
    const [refused, others] = [new Set(ids.slice(0, 30)), ids.slice(30)];
    const reported: string[] = [];
    const report: ReportEntry = async ({ monitor_id }) => {
      if (refused.has(monitor_id)) throw new ServiceError("invalid_request");
      reported.push(monitor_id);
    };
    await expect(reportEntries(domain.db, { leases, report })).rejects.toMatchObject({ code: "invalid_request" });
    expect(reported.toSorted()).toEqual(others.toSorted());
    expect(await waiting()).toHaveLength(refused.size);
    await reportEntries(domain.db, { leases, report: async () => undefined });
    expect(await waiting()).toEqual([]);
  });

  test("leaves the entries of shards that another replica holds", async () => {
    await create(undefined);
    await reportEntries(domain.db, { leases: { held: () => [] }, report: () => Promise.reject(new Error("not ours")) });
    expect(await waiting()).toHaveLength(1);
  });
});
