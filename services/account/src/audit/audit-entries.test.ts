import { timestampDate } from "@bufbuild/protobuf/wkt";
import { afterAll, beforeAll, beforeEach, expect, test } from "@jest/globals";
import type { CallerContext } from "@vvs/tenant";
import { createTestAccount, type TestAccount } from "../testing/account.ts";
import { operator } from "./audit.ts";
import type { AuditQuery } from "./audit-entries.ts";

let account: TestAccount;
let owner: CallerContext;
let users = 0;
beforeAll(async () => {
  account = await createTestAccount(process.env.MONGODB_URI!);
});
beforeEach(async () => {
  owner = await newMember("owner", (await account.organization())._id);
});
afterAll(() => account.close());

const MINUTE = 60_000;

async function newMember(role: string, organizationId = owner.tenant.organizationId): Promise<CallerContext> {
  account.advance(1);
  const user = { organizationId, email: `user${++users}@example.com`, password: "correct horse battery", role };
  const { _id: actor } = await account.domain.users.create(operator, user);
  const tenant = { organizationId, environment: "live" } as const;
  return { tenant, actor, requestId: `req_${users}`, clientAddress: "203.0.113.9" };
}

/** Notes `count` test events, all in one moment. */
async function act(by: CallerContext, count: number): Promise<void> {
  for (let number = 1; number <= count; number++) {
    const entry = { action: "webhook_test.sent", target: `dlv_${number}`, details: { host: "acme.example" } };
    await account.domain.auditLog.append(by, entry);
  }
}

const targets = async (query: Partial<AuditQuery>) =>
  (await account.domain.auditLog.list(owner, { limit: 100, ...query })).entries.map(({ entry }) => entry.target);

test("owners alone read it, and of their own organization", async () => {
  await act(owner, 1);
  for (const role of ["developer", "read_only"]) {
    const reading = account.domain.auditLog.list(await newMember(role), { limit: 10 });
    await expect(reading).rejects.toMatchObject({ code: "forbidden" });
  }
  const stranger = await newMember("owner", (await account.organization())._id);
  const asked = { ...stranger, tenant: owner.tenant };
  await expect(account.domain.auditLog.list(asked, { limit: 10 })).rejects.toMatchObject({ code: "forbidden" });
  const { entries } = await account.domain.auditLog.list(stranger, { limit: 100 });
  expect(new Set(entries.map(({ entry }) => entry.organization_id))).toEqual(new Set([stranger.tenant.organizationId]));
});

test("its pages hold each entry once, the newest first, also of many in one moment", async () => {
  account.advance(MINUTE);
  await act(owner, 7);
  const seen: string[] = [];
  let after: AuditQuery["after"];
  do {
    const page = await account.domain.auditLog.list(owner, { limit: 3, action: "webhook_test.sent", after });
    expect(page.entries.length).toBeLessThanOrEqual(3);
    seen.push(...page.entries.map(({ entry }) => entry.target));
    after = page.next && { at: timestampDate(page.next.createdAt as never), id: page.next.id };
  } while (after);
  expect(seen).toEqual(["dlv_7", "dlv_6", "dlv_5", "dlv_4", "dlv_3", "dlv_2", "dlv_1"]);
});

test("it is narrowed to who, what, and a time whose end is outside", async () => {
  const other = await newMember("developer");
  account.advance(MINUTE);
  const from = account.clock.now;
  await act(owner, 1);
  account.advance(MINUTE);
  await act(other, 2);
  const to = account.clock.now;
  expect(await targets({ from, to })).toEqual(["dlv_1"]);
  expect(await targets({ actor: other.actor })).toEqual(["dlv_2", "dlv_1"]);
  expect(await targets({ action: "user.created" })).toEqual([other.actor, owner.actor]);
  expect(await targets({ actor: "operator", action: "webhook_test.sent" })).toEqual([]);
});

test("an entry names who by their address, and tells from where and in which environment", async () => {
  await act(owner, 1);
  const { entries } = await account.domain.auditLog.list(owner, { limit: 1 });
  expect(entries).toMatchObject([
    {
      actorEmail: `user${users}@example.com`,
      entry: { environment: "live", client_address: owner.clientAddress, request_id: owner.requestId },
    },
  ]);
});

test.each([
  ["no entries", { limit: 0 }],
  ["more than a page", { limit: 101 }],
  ["a place that is none", { limit: 1, after: { at: new Date(0), id: "x" } }],
])("asking for %s is refused", async (_name, query) => {
  const asking = account.domain.auditLog.list(owner, query);
  await expect(asking).rejects.toMatchObject({ code: "invalid_request" });
});

test("each way of asking reads one index, from where the page begins", async () => {
  const { auditLog } = account.domain.store;
  const organization_id = owner.tenant.organizationId;
  for (const narrowed of [{}, { actor: owner.actor }, { action: "user.created" }]) {
    const plan = await auditLog
      .find({ organization_id, ...narrowed })
      .sort({ at: -1, _id: -1 })
      .explain();
    const text = JSON.stringify(plan.queryPlanner.winningPlan);
    expect(text).toContain("IXSCAN");
    expect(text).not.toContain('"SORT"');
  }
});
