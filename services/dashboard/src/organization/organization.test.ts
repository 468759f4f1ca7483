import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { describe, expect, test } from "@jest/globals";
import { Environment } from "@vvs/proto/common/v1/common";
import { dashboardPerTest } from "../testing/dashboard.ts";
import { MEMBER_ID, memberMessage } from "../testing/fake-members.ts";
import { monitorOf } from "../testing/fake-monitor.ts";
import { keyOf } from "../testing/fake-services.ts";
import { EMAIL } from "../testing/fake-sessions.ts";

const { dashboard, visitor } = dashboardPerTest();

const member = `/live/organization/members/${MEMBER_ID}`;

describe("plan and limits", () => {
  test("are shown with their current use", async () => {
    const { state } = dashboard;
    state.keys = [keyOf(), keyOf({ id: "key_2", revokedAt: timestampFromDate(new Date()) })];
    state.monitors = [monitorOf(), monitorOf()];
    const count = { apiKeyId: "key_1", hour: timestampFromDate(new Date()), durations: [] };
    state.usage = [
      { ...count, status: 200, requests: 115n },
      { ...count, status: 429, requests: 20n },
    ];
    const { text } = await visitor.get("/live/organization");
    expect(text).toContain("<strong>Growth</strong>");
    const rows = [
      ...text.matchAll(/<td data-label="Used">([\d,]+) .*?<\/td><td data-label="Maximum" class="number">([\d,]+)/g),
    ];
    expect(rows.map(([, used, most]) => [used, most])).toEqual([
      ["2", "10,000"],
      ["1", "20"],
      ["2", "500"],
    ]);
    expect(text).toContain("20 requests were answered with 429 (too many requests)");
    expect(text).toContain('href="/live/requests?outcome=rate_limited"');
    expect(text).toMatch(/Audit log<\/dt><dd>2557 days/);
  });
});

describe("members", () => {
  test("are listed with second factor and last visit only for owners", async () => {
    const { text } = await visitor.get("/live/organization/members");
    for (const shown of [EMAIL, "grace@acme.example", "Developer", "2026-11-21 09:30:00 UTC", "Manage", "Two-factor"])
      expect(text).toContain(shown);
    dashboard.state.role = "developer";
    const { text: less } = await visitor.get("/live/organization/members");
    expect(less).toContain("grace@<wbr>acme.<wbr>example");
    for (const hidden of ["Two-factor", "Last seen", "Manage", "Audit log"]) expect(less).not.toContain(hidden);
  });

  test("get another role", async () => {
    expect((await visitor.get(member)).text).toContain('value="developer" required checked');
    const { location } = await visitor.post(member, { role: "read_only" });
    expect((await visitor.get(location!)).text).toContain("The role was changed.");
    expect(dashboard.state.calls).toEqual([expect.stringContaining(`"userId":"${MEMBER_ID}","role":"read_only"`)]);
    expect(dashboard.state.calls[0]).toContain('"clientAddress":"127.0.0.1"');
  });

  test("are removed after a confirmation", async () => {
    expect((await visitor.get(`${member}/remove`)).text).toContain("They are signed out everywhere immediately.");
    expect(dashboard.state.calls).toEqual([]);
    const { location } = await visitor.post(`${member}/remove`);
    const { text } = await visitor.get(location!);
    expect(text).toContain("The member was removed");
    expect(text).not.toContain("grace@acme.example");
    expect((await visitor.get(member)).status).toBe(404);
  });

  test("see before and after trying that the last owner can't be removed", async () => {
    dashboard.state.members = [memberMessage({ role: "owner" })];
    const { text } = await visitor.get(member);
    expect(text).toContain("This is the only owner");
    expect(text).not.toContain("<button>Change role");
    for (const method of ["setMemberRole", "removeMember"]) {
      dashboard.fail(method, "invalid_request", { message: "This is the only owner Make somebody else one." });
    }
    for (const path of [member, `${member}/remove`, "/live/organization/leave"]) {
      const answer = await visitor.post(path, { role: "developer" });
      expect([answer.status, answer.text]).toEqual([400, expect.stringContaining("Make somebody else one.")]);
    }
  });

  test("can leave, and are then signed out", async () => {
    dashboard.state.members.push(memberMessage({ userId: "usr_3", role: "owner" }));
    expect((await visitor.get("/live/organization/leave")).text).toContain("Leave Acme &amp; Sons?");
    const { location, cookies } = await visitor.post("/live/organization/leave");
    expect(location).toBe("/sign-in?signed_out");
    expect(cookies.some((cookie) => /^__Host-session=;/.test(cookie))).toBe(true);
    expect(dashboard.state.calls).toEqual([expect.stringMatching(/^removeMember .*"userId":"usr_1"/)]);
  });
});

describe("the audit log", () => {
  const at = timestampFromDate(new Date("2026-11-21T09:30:15Z"));
  const entry = {
    id: "b".repeat(24),
    at,
    actor: MEMBER_ID,
    actorEmail: "grace@acme.example",
    clientAddress: "203.0.113.9",
  };

  test("says in words who did what, when, where and from where", async () => {
    dashboard.state.auditEntries = [
      {
        ...entry,
        action: "member.role_changed",
        target: "usr_1",
        targetEmail: EMAIL,
        details: { from: "developer", to: "read_only" },
      },
      {
        ...entry,
        action: "api_key.created",
        target: "key_1",
        environment: Environment.SANDBOX,
        details: { name: "<b>Billing" },
        requestId: "req_1",
      },
      { ...entry, action: "user.signed_in", target: MEMBER_ID },
      {
        ...entry,
        actor: "operator",
        actorEmail: "",
        clientAddress: "",
        action: "organization.plan_changed",
        target: "org_1",
      },
      { ...entry, action: "badge.given_out", target: "bdg_1" },
      {
        ...entry,
        actor: "key_7",
        actorEmail: "",
        action: "monitor.webhook_url_changed",
        target: "mon_1",
        details: { previous_host: "old.example", host: "new.example" },
      },
      { ...entry, action: "verification.asked", target: MEMBER_ID, details: { count: "7" } },
      {
        ...entry,
        action: "invitation.created",
        target: "inv_1",
        details: { email: "new@acme.example", role: "read_only" },
      },
      { ...entry, action: "user.created", target: MEMBER_ID },
    ];
    const { text } = await visitor.get("/live/organization/audit-log");
    const details = (text: string) => `<span class="hint" title="${text}">${text}</span>`;
    const cells = [...text.matchAll(/<td data-label="Action" class="long">(.*?)<\/td>/g)].map(([, cell]) => cell);
    expect(cells).toEqual([
      `changed the role of <strong>${EMAIL}</strong> ${details("from Developer, to Read-only")}`,
      `created an API key <code>key_1</code> ${details("name &lt;b&gt;Billing")}`,
      "signed in",
      "changed the plan",
      "badge given out <code>bdg_1</code>",
      `changed the webhook URL of a monitor <code>mon_1</code> ${details("from old.example, to new.example")}`,
      `asked for verifications ${details("count 7")}`,
      `sent an invitation to <strong>new@acme.example</strong> ${details("role Read-only")}`,
      "joined the organization",
    ]);
    for (const shown of [
      "2026-11-21 09:30:15 UTC",
      "the operator",
      'an API key <code class="hint">key_7</code>',
      "203.0.113.9",
      "unknown",
      "2557 days",
      "req_1",
    ])
      expect(text).toContain(shown);
    expect([...text.matchAll(/data-label="Environment">(Test|<span class="hint">both)/g)]).toHaveLength(9);
  });
});
