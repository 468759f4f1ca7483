import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { beforeEach, expect, test } from "@jest/globals";
import type { CallerContext } from "@vvs/tenant";
import type { UserDocument } from "../store.ts";
import { auditQuery, testAccount } from "../testing/account.ts";
import { callerOf, people } from "../testing/people.ts";

const account = await testAccount();
const { newUser } = people(account);
let user: UserDocument;
let owner: CallerContext;
beforeEach(async () => {
  user = await newUser();
  owner = callerOf(user);
});

const MINUTE = 60_000;
const newMember = async (role: string) => callerOf(await newUser(role, user.organization_id));

/** Records `count` test events at the same time. */
async function act(by: CallerContext, count: number): Promise<void> {
  for (let number = 1; number <= count; number++) {
    const entry = { action: "webhook_test.sent", target: `dlv_${number}`, details: { host: "acme.example" } };
    await account.domain.auditLog.append(by, { reporter: "webhook-dispatcher", ...entry });
  }
}

const list = (by: CallerContext, query: Parameters<typeof auditQuery>[0]) =>
  account.domain.auditLog.list(by, auditQuery(query));
const targets = async (query: object) =>
  (await list(owner, { ...query, page: { limit: 100 } })).entries.map(({ entry }) => entry.target);

test("only owners read it, and only that of their own organization", async () => {
  await act(owner, 1);
  for (const role of ["developer", "read_only"]) {
    const reading = list(await newMember(role), { page: { limit: 10 } });
    await expect(reading).rejects.toMatchObject({ code: "forbidden" });
  }
  const stranger = callerOf(await newUser());
  const asked = { ...stranger, tenant: owner.tenant };
  await expect(list(asked, { page: { limit: 10 } })).rejects.toMatchObject({ code: "forbidden" });
  const { entries } = await list(stranger, { page: { limit: 100 } });
  expect(new Set(entries.map(({ entry }) => entry.organization_id))).toEqual(new Set([stranger.tenant.organizationId]));
});

test("its pages contain each entry once, newest first, even if many have the same time", async () => {
  account.advance(MINUTE);
  await act(owner, 7);
  const seen: string[] = [];
  let after: { createdAt: ReturnType<typeof timestampFromDate>; id: string } | undefined;
  do {
    const page = await list(owner, { page: { limit: 3, after }, action: "webhook_test.sent" });
    expect(page.entries.length).toBeLessThanOrEqual(3);
    seen.push(...page.entries.map(({ entry }) => entry.target));
    after = page.next;
  } while (after);
  expect(seen).toEqual(["dlv_7", "dlv_6", "dlv_5", "dlv_4", "dlv_3", "dlv_2", "dlv_1"]);
});

test("it is filtered by actor, action, and a period without its end", async () => {
  const other = await newMember("developer");
  account.advance(MINUTE);
  const from = account.clock.now;
  await act(owner, 1);
  account.advance(MINUTE);
  await act(other, 2);
  const to = account.clock.now;
  expect(await targets({ from: timestampFromDate(from), to: timestampFromDate(to) })).toEqual(["dlv_1"]);
  expect(await targets({ actor: other.actor })).toEqual(["dlv_2", "dlv_1"]);
  expect(await targets({ action: "user.created" })).toEqual([other.actor, owner.actor]);
  expect(await targets({ actor: "operator", action: "webhook_test.sent" })).toEqual([]);
});

test("an entry contains the address of the actor, the client address and the environment", async () => {
  await act(owner, 1);
  const { entries } = await list(owner, { page: { limit: 1 } });
  expect(entries).toMatchObject([
    {
      actorEmail: user.email,
      entry: { environment: "live", client_address: owner.clientAddress, request_id: owner.requestId },
    },
  ]);
});

test.each([
  ["no entries", { limit: 0 }],
  ["more than a page", { limit: 101 }],
  ["a position that is none", { limit: 1, after: { createdAt: timestampFromDate(new Date(0)), id: "x" } }],
  ["a position without its time", { limit: 1, after: { id: "0".repeat(24) } }],
])("a request for %s is refused", async (_name, page) => {
  await expect(list(owner, { page })).rejects.toMatchObject({ code: "invalid_request" });
});

test("each filter reads one index, from where the page begins", async () => {
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
