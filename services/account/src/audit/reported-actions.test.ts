import { afterAll, beforeAll, expect, test } from "@jest/globals";
import type { CallerContext } from "@vvs/tenant";
import { callerOfOrganization, createTestAccount, type TestAccount } from "../testing/account.ts";

let account: TestAccount;
let live: CallerContext;

beforeAll(async () => {
  account = await createTestAccount(process.env.MONGODB_URI!);
  live = callerOfOrganization((await account.organization())._id, "live");
});

afterAll(() => account.close());

const replayed = { action: "webhook_delivery.replayed", target: "dlv_1", details: { attempts: "3" } };
const entries = () =>
  account.domain.store.auditLog
    .find({ organization_id: live.tenant.organizationId, action: /^webhook_(?!secret)/ } as object)
    .toArray();

test("an action that another service reports is in the audit log with the user as its actor", async () => {
  await account.domain.auditLog.append(live, replayed);
  expect(await entries()).toMatchObject([
    { ...replayed, environment: "live", actor: live.actor, request_id: live.requestId, at: account.clock.now },
  ]);
});

test.each([
  ["an action that this service records itself", { ...replayed, action: "api_key.created" }],
  ["an unknown action", { ...replayed, action: "webhook_delivery.eaten" }],
  ["no target", { ...replayed, target: "" }],
  ["a detail that is too long", { ...replayed, details: { text: "x".repeat(301) } }],
  ["too many details", { ...replayed, details: Object.fromEntries("abcdefghijk".split("").map((key) => [key, key])) }],
])("%s is refused", async (_name, entry) => {
  const before = await entries();
  await expect(account.domain.auditLog.append(live, entry)).rejects.toMatchObject({ code: "invalid_request" });
  expect(await entries()).toEqual(before);
});
