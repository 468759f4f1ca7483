import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { beforeEach, describe, expect, test } from "@jest/globals";
import { HOME } from "../http/next-path.ts";
import { dashboardPerTest, type Visitor } from "../testing/dashboard.ts";
import { INVITATION_ID, INVITATION_TOKEN, invitationMessage } from "../testing/fake-invitations.ts";

const { dashboard, visitor: owner } = dashboardPerTest();

const list = "/live/organization/members";
const typed = { email: " hopper@acme.example ", role: "read_only" };

describe("an owner", () => {
  test("invites someone, and sees the pending invitation", async () => {
    const { location } = await owner.post(`${list}/invitations`, typed);
    expect(location).toBe(`${list}?done=invited`);
    const { text } = await owner.get(location!);
    for (const shown of [
      "The invitation was sent.",
      "hopper@acme.example",
      "not accepted yet",
      "by ada@<wbr>acme.<wbr>example",
      "Send again",
      "Revoke",
    ])
      expect(text).toContain(shown);
    expect(dashboard.state.calls).toEqual([
      expect.stringContaining('"email":"hopper@acme.example","role":"read_only"'),
    ]);
  });

  test("resends and revokes an invitation", async () => {
    dashboard.state.invitations = [invitationMessage({ expiresAt: timestampFromDate(new Date(0)) })];
    expect((await owner.get(list)).text).toContain("expired");
    for (const [form, text] of [
      ["resend", "The invitation was sent again."],
      ["revoke", "The invitation was revoked."],
    ] as const) {
      const { location } = await owner.post(`${list}/invitations/${INVITATION_ID}/${form}`);
      expect((await owner.get(location!)).text).toContain(text);
    }
    dashboard.fail("revokeInvitation", "not_found");
    const { location } = await owner.post(`${list}/invitations/${INVITATION_ID}/revoke`);
    expect((await owner.get(location!)).text).toContain("already accepted or revoked");
  });

  test.each([
    ["invalid_request", 400, "The email address is a member already."],
    ["rate_limited", 429, "Wait."],
    ["limit_exceeded", 403, "Wait."],
  ] as const)("sees why on %s, with what they typed", async (code, status, text) => {
    const details = [{ path: "email", message: "is a member already" }];
    dashboard.fail("createInvitation", code, { message: "Wait.", details });
    const answer = await owner.post(`${list}/invitations`, typed);
    expect(answer.status).toBe(status);
    expect(answer.text).toContain(text);
    expect(answer.text).toContain('value="hopper@acme.example"');
    expect(answer.text).toContain('value="read_only" required checked');
  });

  test("must enter the password first if the last time was long ago", async () => {
    dashboard.state.authenticatedAt = new Date(Date.now() - 16 * 60_000);
    const { text } = await owner.get(list);
    expect(text).not.toContain("Send invitation");
    expect(text).toContain(`/live/security/confirm?next=${encodeURIComponent(list)}`);
  });
});

test("other members see no invitations", async () => {
  dashboard.state.invitations = [invitationMessage()];
  dashboard.state.role = "developer";
  const { text } = await owner.get(list);
  expect(text).not.toContain("hopper@acme.example");
  expect(text).toContain("Owners can invite people");
});

describe("someone with the link", () => {
  const link = `/invitation?token=${INVITATION_TOKEN}`;
  let stranger: Visitor;
  beforeEach(() => {
    stranger = dashboard.visitor();
    dashboard.state.invitations = [invitationMessage()];
  });

  test("sees who invites them, to which organization and role, chooses a password, and is signed in", async () => {
    const { text } = await stranger.get(link);
    for (const shown of ["Join Acme &amp; Sons", "ada@acme.example", "hopper@acme.example", "Developer"])
      expect(text).toContain(shown);
    expect(dashboard.state.calls).toEqual([]);
    const { location, cookies } = await stranger.post("/invitation", {
      token: INVITATION_TOKEN,
      password: "secret-1234",
    });
    expect(location).toBe(HOME);
    expect(cookies[0]).toMatch(/^__Host-session=/);
    expect((await stranger.get("/live/overview")).status).toBe(200);
    expect((await stranger.get(link)).status).toBe(404);
  });

  test("sees that the address has an account, and no form", async () => {
    dashboard.state.hasAccount = true;
    const { text } = await stranger.get(link);
    expect(text).toContain("already has an account");
    expect(text).not.toContain("<form");
  });

  test("into an organization without passwords learns how to sign in as a member", async () => {
    dashboard.fail("acceptInvitation", "forbidden", { message: "Sign in with Acme’s provider." });
    const answer = await stranger.post("/invitation", { token: INVITATION_TOKEN, password: "secret-1234" });
    expect([answer.status, answer.cookies]).toEqual([200, []]);
    expect(answer.text).toContain("You are now a member of the organization. Sign in with Acme’s provider.");
  });

  test("sees why a password is refused, and it is not sent back", async () => {
    const details = [{ path: "password", message: "must be 8–200 characters" }];
    dashboard.fail("acceptInvitation", "invalid_request", { details });
    const answer = await stranger.post("/invitation", { token: INVITATION_TOKEN, password: "x-typed" });
    expect(answer.status).toBe(400);
    expect(answer.text).toContain("The password must be 8–200 characters.");
    expect(answer.text).not.toContain("x-typed");
  });

  test.each(["/invitation", "/invitation?token=x", "/invitation?token=a&token=b"])(
    "that is not one (%s) is refused with a message",
    async (path) => {
      const { status, text } = await stranger.get(path);
      expect([status, text]).toEqual([404, expect.stringContaining("no longer works")]);
    },
  );
});
