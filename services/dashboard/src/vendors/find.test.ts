import { describe, expect, test } from "@jest/globals";
import { dashboardPerTest } from "../testing/dashboard.ts";
import { ENTITY_ID } from "../testing/fake-entity.ts";
import { MONITOR_ID, monitorOf } from "../testing/fake-monitor.ts";

const { dashboard, visitor } = dashboardPerTest();
const OTHER_ID = "ent_01m7ygrfd7fvwr2n2apeh0ddm9";

const find = (q: string) => visitor.post("/live/find", { q });

describe("the search box", () => {
  test("is on every page, of its environment", async () => {
    for (const path of ["/live/overview", "/live/organization", "/live/security"]) {
      expect((await visitor.get(path)).text).toContain('<form method="post" action="/live/find"');
    }
  });

  test.each([
    [ENTITY_ID, `/live/vendors/${ENTITY_ID}`],
    [` ${ENTITY_ID.toUpperCase()} `, `/live/vendors/${ENTITY_ID}`],
    ["ver_01m7ygvppkenma4hm7yf5h5159", "/live/verifications/ver_01m7ygvppkenma4hm7yf5h5159"],
    ["evd_01m7ygvppkenma4hm7yf5h5159", "/live/evidence/evd_01m7ygvppkenma4hm7yf5h5159"],
    [MONITOR_ID, `/live/monitors/${MONITOR_ID}`],
    ["job_01m7ygvppkenma4hm7yf5h5159", "/live/lists/job_01m7ygvppkenma4hm7yf5h5159"],
    ["dlv_01m7ygvppkenma4hm7yf5h5159", "/live/webhooks/deliveries/dlv_01m7ygvppkenma4hm7yf5h5159"],
    ["evt_01m7ygvppkenma4hm7yf5h5159", "/live/webhooks/deliveries?event_id=evt_01m7ygvppkenma4hm7yf5h5159"],
    ["req_01m7ygvppkenma4hm7yf5h5159", "/live/requests?request_id=req_01m7ygvppkenma4hm7yf5h5159"],
    ["key_01m7ygvppkenma4hm7yf5h5159", "/live/usage?key=key_01m7ygvppkenma4hm7yf5h5159"],
    ["usr_01m7ygvppkenma4hm7yf5h5159", "/live/organization/members"],
    ["", "/live/vendors"],
  ])("leads from %j to %s, and asks nobody", async (text, expected) => {
    const { status, location } = await find(text);
    expect([status, location]).toEqual([303, expected]);
    expect(dashboard.state.calls).toEqual([]);
  });

  test("leads from a UEI or a CAGE code to its vendor", async () => {
    dashboard.state.found = { entity: { id: ENTITY_ID, legalName: "Acme" }, confidence: 1 };
    for (const text of ["sandbxactve1", "1abc2"])
      expect((await find(text)).location).toBe(`/live/vendors/${ENTITY_ID}`);
    expect(dashboard.state.calls.filter((call) => call.startsWith("lookUp"))).toEqual([
      expect.stringContaining('"uei":"SANDBXACTVE1"'),
      expect.stringContaining('"cage":"1ABC2"'),
    ]);
  });

  test("leads from the organization's own number to its vendor, also if only a monitor has it", async () => {
    dashboard.state.monitors = [monitorOf({ entityId: ENTITY_ID, externalId: "V-17" })];
    expect((await find("V-17")).location).toBe(`/live/vendors/${ENTITY_ID}`);
    dashboard.state.monitors = [];
    dashboard.state.entities = [{ id: OTHER_ID, legalName: "Acme North", externalId: "V-17" }];
    expect((await find("V-17")).location).toBe(`/live/vendors/${OTHER_ID}`);
  });

  test("lists the vendors that have one number", async () => {
    dashboard.state.entities = [
      { id: ENTITY_ID, legalName: "Acme <Widgets>", externalId: "V-17" },
      { id: OTHER_ID, legalName: "Acme North", externalId: "V-17" },
    ];
    const { status, text } = await find("V-17");
    expect(status).toBe(200);
    expect(text).toContain(`<a href="/live/vendors/${ENTITY_ID}">Acme &lt;Widgets&gt;</a>`);
    expect(text).toContain(`<a href="/live/vendors/${OTHER_ID}">Acme North</a>`);
  });

  test("lists the vendors that an identifier may mean, and searches by name if it means none", async () => {
    const candidates = [ENTITY_ID, OTHER_ID].map((id) => ({ id }));
    dashboard.fail("lookUp", "ambiguous_match", { candidates });
    const { status, text } = await find("SANDBXACTVE1");
    expect([status, text]).toEqual([200, expect.stringContaining(`<a href="/live/vendors/${OTHER_ID}">`)]);
    dashboard.fail("lookUp", "entity_not_found");
    expect((await find("SANDBXACTVE1")).location).toBe("/live/vendors/search?legal_name=SANDBXACTVE1#found");
  });

  test("searches for everything else by name, also for a name with the form of a CAGE code", async () => {
    dashboard.fail("lookUp", "entity_not_found");
    expect((await find("Acme & Co")).location).toBe("/live/vendors/search?legal_name=Acme+%26+Co#found");
    expect((await find("Smith")).location).toBe("/live/vendors/search?legal_name=Smith#found");
  });

  test.each(["912-34-5678", "Acme 912345678"])("does not use %s, which may hold a TIN, or show it", async (text) => {
    const answer = await find(text);
    expect(answer.status).toBe(400);
    expect(answer.location).toBeNull();
    expect(answer.text).toContain("Search by TIN");
    expect(answer.text).not.toContain(text);
    expect(dashboard.state.calls).toEqual([]);
  });
});
