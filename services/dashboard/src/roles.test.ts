import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { afterEach, describe, expect, test } from "@jest/globals";
import { type IdPrefix, newId } from "@vvs/ids";
import { CheckType } from "@vvs/proto/common/v1/common";
import { confirmPath } from "./http/next-path.ts";
import { permits } from "./http/roles.ts";
import { startDashboard, type Visitor } from "./testing/dashboard.ts";
import { DELIVERY_ID, deliveryOf } from "./testing/fake-dispatcher.ts";
import { ENTITY_ID } from "./testing/fake-entity.ts";
import { INVITATION_ID, invitationMessage } from "./testing/fake-invitations.ts";
import { JOB_ID, jobOf, jobResultOf } from "./testing/fake-jobs.ts";
import { MEMBER_ID } from "./testing/fake-members.ts";
import { eventOf, MONITOR_ID, monitorOf } from "./testing/fake-monitor.ts";
import { keyOf } from "./testing/fake-services.ts";
import { EVIDENCE_ID, evidenceOf, VERIFICATION_ID, verificationOf } from "./testing/fake-verification.ts";
import type { Route } from "./testing/routes.ts";

const roles = ["owner", "developer", "payables", "read_only"] as const;
const at = timestampFromDate(new Date("2026-11-20T08:00:00Z"));

const dashboard = await startDashboard();
const { state } = dashboard;
state.keys = [keyOf()];
state.invitations = [invitationMessage()];
state.deliveries = [deliveryOf()];
state.endpoints = [{ webhookUrl: "https://acme.example/hook", state: "failing", failingSince: at }];
state.entities = [{ id: ENTITY_ID, legalName: "Acme" }];
state.verifications = [verificationOf()];
state.evidence = [evidenceOf()];
state.monitors = [monitorOf()];
state.events = [eventOf()];
state.jobs = [jobOf()];
state.jobResults = [jobResultOf()];
state.providers = [{ name: "sam_gov_api", checks: [CheckType.SAM_REGISTRATION], state: "available" }];
state.previousValidUntil = new Date(Date.now() + 60_000);
afterEach(() => {
  dashboard.state.role = "owner";
  dashboard.state.authenticatedAt = new Date();
  dashboard.state.calls.length = 0;
  dashboard.state.failures.clear();
});

async function visitorOf(role: string): Promise<Visitor> {
  const visitor = dashboard.visitor();
  await visitor.signIn();
  dashboard.state.role = role;
  dashboard.state.calls.length = 0;
  return visitor;
}

const ids: Readonly<Record<string, string>> = {
  delivery_id: DELIVERY_ID,
  entity_id: ENTITY_ID,
  evidence_id: EVIDENCE_ID,
  invitation_id: INVITATION_ID,
  job_id: JOB_ID,
  key_id: "key_1",
  monitor_id: MONITOR_ID,
  user_id: MEMBER_ID,
  verification_id: VERIFICATION_ID,
};

/** Returns a path that matches the route. */
const pathOf = ({ path }: Route) => path.replaceAll(/:(\w+)/g, (_all, name: string) => ids[name] ?? `${name}_1`);

const send = (visitor: Visitor, { method, ...route }: Route) =>
  method === "GET" ? visitor.get(pathOf({ method, ...route })) : visitor.post(pathOf({ method, ...route }));

/** Forms for every member: their own account, and searches, which change nothing. */
const everybodys = /^\/(live|test)\/(security(\/|$)|notifications$|organization\/leave$|find$|vendors\/search$)/;

describe("all routes", () => {
  test("for signed-in users name a permission, and routes that change something more than `read`", () => {
    const { guarded, open } = dashboard.routes;
    expect(guarded.length).toBeGreaterThan(80);
    // A form's address that is opened leads back to its page.
    expect(open.filter((name) => /^POST \/(live|test)/.test(name))).toEqual([]);
    const changing = guarded.filter(({ method, path }) => method !== "GET" && !everybodys.test(path));
    expect(changing.filter(({ permission }) => permission === "read")).toEqual([]);
  });

  test("lead to the sign-in page without a session, and call no service", async () => {
    for (const route of dashboard.routes.guarded) {
      const { status, location } = await send(dashboard.visitor(), route);
      expect([route, status, location]).toEqual([route, 303, expect.stringMatching(/^\/sign-in/)]);
    }
    expect(dashboard.state.calls).toEqual([]);
  });

  test.each([...roles, "admin"])(
    "each refuses %s what that role may not, also by direct request, and no service hears of it",
    async (role) => {
      const visitor = await visitorOf(role);
      const refused = dashboard.routes.guarded.filter(
        ({ permission }) => !permits({ role, isOperator: false }, permission),
      );
      for (const route of refused) {
        const { status, text } = await send(visitor, route);
        const [wanted, title] =
          route.permission === "operate" ? [404, "Page not found"] : [403, "Your role does not allow this"];
        expect([route, status]).toEqual([route, wanted]);
        expect(text).toContain(title);
      }
      expect(dashboard.state.calls).toEqual([]);
    },
  );
});

/** Ids in the form of the others, of nothing that exists. */
const others = Object.fromEntries(
  Object.entries(ids).map(([name, id]) => [name, newId(id.slice(0, 3) as IdPrefix)] as const),
);

test("what does not exist, and what belongs to others, is not found, and neither is a malformed id", async () => {
  const visitor = await visitorOf("owner");
  const pages = dashboard.routes.guarded.filter(({ method, path }) => method === "GET" && path.includes(":"));
  expect(pages.length).toBeGreaterThan(30);
  for (const { path } of pages) {
    for (const fill of [(name: string) => others[name]!, () => "x", () => "ver_x"]) {
      const { status } = await visitor.get(path.replaceAll(/:(\w+)/g, (_all, name: string) => fill(name)));
      expect([path, status]).toEqual([path, 404]);
    }
  }
});

test("the address of a form can be opened: it has the form, or leads to its page", async () => {
  const visitor = await visitorOf("owner");
  for (const route of dashboard.routes.guarded.filter(({ method }) => method === "POST")) {
    const { status, location } = await visitor.get(pathOf(route));
    expect([route.path, status]).toEqual([route.path, location === null ? 200 : 303]);
    if (location !== null) expect([route.path, (await visitor.get(location)).status]).toEqual([route.path, 200]);
  }
});

/** The pages and forms, below /live, that ask users to confirm their identity who did so long ago. */
const confirmedPages = [
  "api-keys/key_1/roll",
  "organization/leave",
  `organization/members/${MEMBER_ID}`,
  `organization/members/${MEMBER_ID}/remove`,
  "security/passkeys/new",
  "security/two-factor",
];
/** The forms by the page that they lead back to. */
const confirmedForms = {
  "api-keys": ["api-keys", "api-keys/key_1/roll"],
  "organization/members": [
    "organization/leave",
    `organization/members/${MEMBER_ID}`,
    `organization/members/${MEMBER_ID}/remove`,
    "organization/members/invitations",
    `organization/members/invitations/${INVITATION_ID}/resend`,
    `organization/members/invitations/${INVITATION_ID}/revoke`,
  ],
  security: ["security/passkeys", "security/passkeys/remove", "security/two-factor", "security/two-factor/disable"],
  webhooks: ["webhooks/secret", "webhooks/secret/show", "webhooks/secret/rotate", "webhooks/secret/end-previous"],
};

test("what needs a confirmed identity asks for it and leads back, and no service hears of it before", async () => {
  const visitor = await visitorOf("owner");
  dashboard.state.authenticatedAt = new Date(Date.now() - 16 * 60_000);
  const askedFor = (page: string) => confirmPath({ path: "/live" }, "GET", `/live/${page}`);
  for (const page of confirmedPages) expect((await visitor.get(`/live/${page}`)).location).toBe(askedFor(page));
  for (const [page, forms] of Object.entries(confirmedForms)) {
    for (const form of forms) {
      const { status, location } = await visitor.post(`/live/${form}`);
      expect([form, status, location]).toEqual([form, 303, askedFor(page)]);
    }
  }
  expect(dashboard.state.calls).toEqual([]);
});

/** Returns the route that answers a path. */
function routeOf(method: Route["method"], path: string): Route | undefined {
  return dashboard.routes.guarded.find(
    (route) => route.method === method && new RegExp(`^${route.path.replaceAll(/:\w+/g, "[^/]+")}$`).test(path),
  );
}

test("every page says what a service that is unavailable leaves out, and leads to all others", async () => {
  const visitor = await visitorOf("owner");
  dashboard.state.isDown = true;
  const pages = dashboard.routes.guarded.filter(
    ({ method, path, permission }) => method === "GET" && permission !== "operate" && !/^\/$|\.csv$/.test(path),
  );
  for (const page of pages) {
    const { status, text } = await send(visitor, page);
    expect([page.path, [200, 503].includes(status)]).toEqual([page.path, true]);
    expect([page.path, text]).toEqual([page.path, expect.stringContaining('<nav aria-label="Sections">')]);
    if (status === 503) expect(text).toContain("can’t be shown, because a service is temporarily unavailable");
  }
  dashboard.state.isDown = false;
});

test.each([
  ["verifications", ["getEntity"], ["Vendor names are temporarily unavailable", `${ENTITY_ID}</a>`]],
  [`verifications/${VERIFICATION_ID}`, ["getEntity", "listApiKeys"], ["The vendor’s data is temporarily", EVIDENCE_ID]],
  [`vendors/${ENTITY_ID}`, ["listVerifications"], ["Verifications are temporarily unavailable."]],
  [
    `vendors/${ENTITY_ID}`,
    ["listSnapshots", "listEvents", "listDeliveries"],
    ["Versions", "Changes", "Deliveries"].map((part) => `${part} are temporarily unavailable.`),
  ],
  [`monitors/${MONITOR_ID}`, ["listEvents"], ["Changes are temporarily unavailable. None are lost."]],
  ["usage", ["getProviderHealth"], ["Provider statistics are temporarily unavailable.", "No API requests in the Live"]],
  ["usage", ["getProviderUsage"], ["Your calls to providers are temporarily unavailable."]],
  ["organization", ["countMonitors"], ["temporarily unavailable"]],
])("the page %s is complete except for what %j would say", async (page, methods, texts) => {
  const visitor = await visitorOf("owner");
  for (const method of methods) dashboard.fail(method, "service_unavailable");
  const { status, text } = await visitor.get(`/live/${page}`);
  expect(status).toBe(200);
  for (const part of texts) expect(text).toContain(part);
});

describe("all linked pages", () => {
  test.each(roles)("offer the role %s no link and no form that would be refused", async (role) => {
    const visitor = await visitorOf(role);
    const seen = new Set<string>(["/live/overview"]);
    const offered: string[] = [];
    for (const path of seen) {
      const { status, text } = await visitor.get(path);
      if (status === 403 || routeOf("GET", path)?.permission === "operate") offered.push(path);
      for (const [, link] of text.matchAll(/href="(\/live[^"?#]*)/g)) seen.add(link!);
      for (const [, method, action] of text.matchAll(/<form method="(get|post)" action="(\/live[^"?#]*)/g)) {
        const route = routeOf(method === "get" ? "GET" : "POST", action!);
        expect([path, action, route]).toEqual([
          path,
          action,
          expect.objectContaining({ method: method!.toUpperCase() }),
        ]);
        if (!permits({ role, isOperator: false }, route!.permission)) offered.push(`${path}: ${method} ${action}`);
      }
    }
    expect(offered).toEqual([]);
    expect(seen.size).toBeGreaterThan(15);
  });

  test("tell read-only users which roles may use what is not offered", async () => {
    const visitor = await visitorOf("read_only");
    for (const [path, text] of [
      ["/live/api-keys", "Owners and developers can create, roll and revoke API keys."],
      ["/live/webhooks", "Owners and developers can view, rotate and set the secret."],
      [`/live/webhooks/deliveries/${DELIVERY_ID}`, "Owners and developers can replay deliveries."],
      [`/live/vendors/${ENTITY_ID}`, "Owners, developers and members for payables can verify and monitor vendors."],
      ["/live/organization/members", "Owners can invite people, change roles and remove members."],
    ] as const) {
      expect((await visitor.get(path)).text).toContain(text);
    }
  });
});

test("a changed role takes effect at the next request", async () => {
  const visitor = await visitorOf("developer");
  expect((await visitor.get("/live/api-keys/key_1/revoke")).status).toBe(200);
  dashboard.state.role = "read_only";
  expect((await visitor.post("/live/api-keys/key_1/revoke")).status).toBe(403);
  expect(dashboard.state.calls).toEqual([]);
});
