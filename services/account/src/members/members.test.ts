import { beforeEach, describe, expect, test } from "@jest/globals";
import type { CallerContext } from "@vvs/tenant";
import { auditQuery, testAccount, until } from "../testing/account.ts";
import { callerOf as as, people } from "../testing/people.ts";

const account = await testAccount();
const { newUser, signIn, entries } = people(account);
let organizationId: string;
beforeEach(async () => {
  organizationId = (await account.organization())._id;
});

const forbidden = { code: "forbidden" };
const member = (role: string) => newUser(role, organizationId);
const entriesAbout = (target: string) => entries({ target, action: { $regex: "^member" } });
const rolesNow = async (owner: CallerContext) =>
  (await account.domain.members.list(owner)).map(({ user }) => [user.email, user.role]);

describe("the list of members", () => {
  test("shows only owners second factors and when others were last seen", async () => {
    const owner = await member("owner");
    const reader = await member("read_only");
    await newUser();
    await signIn(reader);
    account.advance(120_000);
    const { token } = await signIn(owner);
    account.advance(120_000);
    await account.domain.signIns.getSession(token);
    expect(await account.domain.members.list(as(owner))).toMatchObject([
      { user: { _id: owner._id }, hasSecondFactor: false, lastSeenAt: account.clock.now },
      {
        user: { _id: reader._id },
        hasSecondFactor: false,
        lastSeenAt: new Date(account.clock.now.getTime() - 240_000),
      },
    ]);
    const seen = await account.domain.members.list(as(reader));
    expect(seen.map(({ user, ...more }) => [user.role, more])).toEqual([
      ["owner", {}],
      ["read_only", {}],
    ]);
  });

  test("is refused to members of other organizations", async () => {
    const stranger = await newUser();
    await member("owner");
    const caller = { ...as(stranger), tenant: { organizationId, environment: "live" } as const };
    await expect(account.domain.members.list(caller)).rejects.toMatchObject(forbidden);
  });
});

describe("a role", () => {
  test("applies to existing sessions, and is audited once with actor and address", async () => {
    const [owner, other] = [await member("owner"), await member("developer")];
    const { token } = await signIn(other);
    for (let times = 0; times < 2; times++) {
      const { user } = await account.domain.members.setRole(as(owner), { userId: other._id, role: "read_only" });
      expect(user.role).toBe("read_only");
    }
    expect((await account.domain.signIns.getSession(token)).role).toBe("read_only");
    expect(await entriesAbout(other._id)).toMatchObject([
      {
        action: "member.role_changed",
        actor: owner._id,
        client_address: "203.0.113.9",
        request_id: "req_1",
        details: { from: "developer", to: "read_only" },
      },
    ]);
  });

  test.each(["developer", "payables", "read_only"])(
    "of %s may neither change roles nor remove others",
    async (role) => {
      const [owner, other] = [await member("owner"), await member(role)];
      const asked = { userId: other._id, role: "owner" };
      await expect(account.domain.members.setRole(as(other), asked)).rejects.toMatchObject(forbidden);
      await expect(account.domain.members.remove(as(other), owner._id)).rejects.toMatchObject(forbidden);
      expect(await rolesNow(as(owner))).toEqual([
        [owner.email, "owner"],
        [other.email, role],
      ]);
    },
  );

  test("that is unknown is refused", async () => {
    const owner = await member("owner");
    const asked = { userId: owner._id, role: "admin" };
    await expect(account.domain.members.setRole(as(owner), asked)).rejects.toMatchObject({ code: "invalid_request" });
  });

  test("of another organization’s user can’t be changed", async () => {
    const owner = await member("owner");
    const stranger = await newUser("developer");
    const asked = { userId: stranger._id, role: "read_only" };
    await expect(account.domain.members.setRole(as(owner), asked)).rejects.toMatchObject({ code: "not_found" });
    await expect(account.domain.members.remove(as(owner), stranger._id)).rejects.toMatchObject({ code: "not_found" });
  });
});

describe("the last owner", () => {
  const refused = { code: "invalid_request" };

  test("keeps their role and cannot leave", async () => {
    const owner = await member("owner");
    await member("developer");
    const asked = { userId: owner._id, role: "developer" };
    await expect(account.domain.members.setRole(as(owner), asked)).rejects.toMatchObject(refused);
    await expect(account.domain.members.remove(as(owner), owner._id)).rejects.toMatchObject(refused);
  });

  test("remains, even if two owners remove each other concurrently", async () => {
    const owners = [await member("owner"), await member("owner")] as const;
    const demote = (by: number) =>
      account.domain.members.setRole(as(owners[by]!), { userId: owners[1 - by]!._id, role: "developer" });
    const outcomes = await Promise.allSettled([demote(0), demote(1)]);
    expect(outcomes.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
    const left = await account.domain.store.users.countDocuments({ organization_id: organizationId, role: "owner" });
    expect(left).toBe(1);
  });
});

describe("a member", () => {
  test("who is removed is signed out immediately, can’t sign in, and still has a name in the audit log", async () => {
    const [owner, other] = [await member("owner"), await member("developer")];
    const { token } = await signIn(other);
    await account.domain.members.remove(as(owner), other._id);
    const over = { code: "unauthorized" };
    await expect(account.domain.signIns.getSession(token)).rejects.toMatchObject(over);
    await expect(signIn(other)).rejects.toMatchObject(over);
    await expect(account.domain.members.remove(as(owner), other._id)).rejects.toMatchObject({ code: "not_found" });
    expect(await rolesNow(as(owner))).toEqual([[owner.email, "owner"]]);
    const { entries } = await account.domain.auditLog.list(
      as(owner),
      auditQuery({ page: { limit: 1 }, action: "member.removed" }),
    );
    expect(entries).toMatchObject([
      {
        entry: { actor: owner._id, details: { role: "developer" } },
        actorEmail: owner.email,
        targetEmail: other.email,
      },
    ]);
  });

  test.each(["owner", "developer", "read_only"])("who is %s can leave", async (role) => {
    const [owner, leaving] = [await member("owner"), await member(role)];
    await account.domain.members.remove(as(leaving), leaving._id);
    expect(await rolesNow(as(owner))).toEqual([[owner.email, "owner"]]);
    expect(await entriesAbout(leaving._id)).toMatchObject([{ action: "member.left", actor: leaving._id }]);
    await expect(account.domain.members.list(as(leaving))).rejects.toMatchObject(forbidden);
  });
});

describe("keys and secrets", () => {
  /** What only a member who may make changes can do. */
  const actions: [string, (caller: CallerContext) => Promise<unknown>][] = [
    ["an API key", (caller) => account.domain.apiKeys.create(caller, { name: "a" })],
    ["the webhook secret", (caller) => account.domain.webhookSecrets.get(caller)],
    ["a new webhook secret", (caller) => account.domain.webhookSecrets.rotate(caller, { endPreviousNow: false })],
  ];

  test.each(actions)("are not for a member who is being removed at the same time: %s", async (_name, act) => {
    const leaving = await member("developer");
    const aborted = async () =>
      (await account.client.db("admin").command({ serverStatus: 1 })).transactions.totalAborted as number;
    const before = await aborted();
    let isAnswered = false;
    const acting = await account.client.withSession(async (removal) => {
      removal.startTransaction();
      await account.domain.store.users.deleteOne({ _id: leaving._id }, { session: removal });
      const acted = act(as(leaving)).then(
        () => "done",
        ({ code }) => code,
      );
      void acted.then(() => {
        isAnswered = true;
      });
      await until(async () => isAnswered || (await aborted()) > before);
      await removal.commitTransaction();
      return { acted };
    });
    expect(await acting.acted).toBe("forbidden");
  });
});
