import { expect, test } from "@jest/globals";
import { ServiceError } from "@vvs/errors";
import { startDashboard, type TestDashboard } from "../testing/dashboard.ts";

/** Whose pages waited for their turn, and which. */
const came: unknown[] = [];
let isFull = false;
const dashboard: TestDashboard = await startDashboard({
  async admit({ owner, kind }, work) {
    came.push([owner, kind]);
    if (isFull) throw new ServiceError("rate_limited", { message: "Too many calls of your organization are waiting." });
    return work();
  },
});

test("a page waits for its turn on behalf of its user's organization; the sign-in page never waits", async () => {
  const visitor = dashboard.visitor();
  await visitor.get("/sign-in");
  expect(came).toEqual([]);
  await visitor.signIn();
  came.length = 0;
  expect((await visitor.get("/test/monitors")).status).toBe(200);
  const owner = { class: "person", organizationId: expect.stringMatching(/^org_/), environment: "sandbox" };
  expect(came).toEqual([[owner, "GET /test/monitors"]]);
  isFull = true;
  const refused = await visitor.get("/test/monitors");
  expect([refused.status, refused.text]).toEqual([429, expect.stringContaining("Too many calls of your organization")]);
  expect((await visitor.get("/sign-in")).status).toBe(200);
});
