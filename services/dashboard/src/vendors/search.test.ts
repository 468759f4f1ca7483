import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { beforeEach, describe, expect, test } from "@jest/globals";
import { CheckStatus, CheckType } from "@vvs/proto/common/v1/common";
import { dashboardPerTest } from "../testing/dashboard.ts";
import { ENTITY_ID } from "../testing/fake-entity.ts";

const { dashboard, visitor } = dashboardPerTest();
const entity = {
  id: ENTITY_ID,
  legalName: "Acme <Widgets>",
  identifiers: { uei: "SANDBXACTVE1", tin: "****6789" },
  samGov: { registrationStatus: "active", expirationDate: "2027-01-31" },
  addresses: [{ type: "physical", line1: "12 OAK ST", city: "RENO", state: "NV", zip: "89501", country: "USA" }],
  sources: [{ name: "sam_gov_extract", version: "monthly.dat" }],
};
const reason = { criterion: "legal_name", outcome: "agrees", weight: 0.9, detail: "in common: acme" };
const address = {
  criterion: "address",
  outcome: "contradicts",
  weight: -0.1,
  detail: "different: house number",
  parts: [{ part: "number", outcome: "contradicts", weight: -1 }],
};

beforeEach(() => {
  dashboard.state.entities = [entity];
});

const asked = () => dashboard.callsOf("lookUp")[0];

describe("a search", () => {
  test("counts against the organization's requests per minute, and is refused beyond them with Retry-After", async () => {
    dashboard.state.limitPerMinute = 5;
    for (let search = 0; search < 5; search++) await visitor.get("/live/vendors/search?legal_name=acme");
    const { status, headers, text } = await visitor.get("/live/vendors/search?legal_name=acme");
    expect([status, Number(headers.get("retry-after")) > 0]).toEqual([429, true]);
    expect(text).toContain("5 times a minute");
    expect(dashboard.callsOf("lookUp")).toHaveLength(5);
  });

  test("gets an address that can be bookmarked, and shows the vendor with the reasons", async () => {
    dashboard.state.found = { entity, confidence: 0.87, explanation: [reason, address] };
    const form = { legal_name: " Acme ", uei: "", cage: "", duns: "", tin: "", address: "12 Oak St", mode: "similar" };
    const { status, location } = await visitor.post("/live/vendors/search", form);
    expect([status, location]).toEqual([303, "/live/vendors/search?legal_name=Acme&address=12+Oak+St#found"]);
    const { text } = await visitor.get(location!);
    expect(asked()).toMatchObject({ legalName: "Acme", address: "12 Oak St", fuzzy: true, explain: true });
    expect(text).toContain(`<a href="/live/vendors/${ENTITY_ID}">Acme &lt;Widgets&gt;</a>`);
    expect(text).toContain("<strong>87\u00a0%</strong> name only");
    expect(text).toContain("In common: acme.");
    expect(text).toContain('different house number</span> <span class="hint">100\u00a0%</span>');
    expect(text).toContain("−0.10");
    expect(text).toContain('<span class="state contradicts">differs</span>');
  });

  test("calls a name that differs and still adds to the confidence different in part", async () => {
    dashboard.state.found = {
      entity,
      confidence: 0.6,
      explanation: [{ ...reason, outcome: "contradicts", weight: 0.6 }],
    };
    const { text } = await visitor.get("/live/vendors/search?legal_name=acme");
    expect(text).toContain('<span class="state partial">differs in part</span>');
  });

  test("shows several vendors, best first, and what distinguishes them", async () => {
    const other = ENTITY_ID.replace("8", "9");
    dashboard.state.found = {
      candidates: [
        { id: ENTITY_ID, legalName: "Acme One", confidence: 0.8, explanation: [reason] },
        { id: other, legalName: "Acme Two", confidence: 0.7, explanation: [reason] },
      ],
    };
    const { text } = await visitor.get("/test/vendors/search?legal_name=acme");
    expect(text).toContain("2 vendors");
    expect(text.indexOf("Acme One")).toBeLessThan(text.indexOf("Acme Two"));
    expect(text).toContain("12 OAK ST, RENO, NV, 89501");
  });

  test("says why nothing was found, and lists the vendors of ambiguous identifiers", async () => {
    dashboard.fail("lookUp", "entity_not_found", { message: "No entity matches." });
    expect((await visitor.get("/live/vendors/search?uei=X&mode=exact")).text).toContain("No vendor matches.");
    const candidates = [{ id: ENTITY_ID, legalName: "Acme", confidence: 1, explanation: [{ ...address }] }];
    dashboard.fail("lookUp", "ambiguous_match", { message: "Several.", candidates });
    const { status, text } = await visitor.get("/live/vendors/search?uei=X");
    expect(status).toBe(200);
    expect(text).toContain("Several.");
    expect(text).toContain("different house number");
  });

  test("by TIN is in no address and on no page", async () => {
    dashboard.state.found = { entity, confidence: 1, explanation: [] };
    const { status, text } = await visitor.post("/live/vendors/search", {
      tin: "21-3456789",
      duns: "213456789",
      legal_name: "",
    });
    expect(status).toBe(200);
    expect(asked().identifiers).toEqual({ duns: "213456789", tin: "213456789" });
    expect(text).not.toMatch(/12-?3456789/);
  });

  test.each(["legal_name", "address"])("refuses a TIN in the field %s, without repeating it", async (name) => {
    const { status, text } = await visitor.post("/live/vendors/search", { [name]: "Drip 21-3456789" });
    expect(status).toBe(400);
    expect(text).toContain("must not contain a TIN");
    expect(text).not.toContain("3456789");
    expect(dashboard.state.calls).toEqual([]);
  });

  test("says that an empty form searched for nothing", async () => {
    const { status, text } = await visitor.post("/live/vendors/search", { legal_name: " " });
    expect(status).toBe(400);
    expect(text).toContain("Nothing was searched for, because the form is empty.");
    expect(dashboard.callsOf("lookUp")).toEqual([]);
  });

  test("includes values that are not shown again", async () => {
    dashboard.state.found = { entity, confidence: 1, explanation: [] };
    expect((await visitor.post("/live/vendors/search", { uei: "213456789" })).status).toBe(200);
    expect(asked().identifiers).toEqual({ uei: "213456789" });
  });

  test("reports that the entity service is unavailable", async () => {
    dashboard.fail("lookUp", "service_unavailable");
    const { status, text } = await visitor.get("/live/vendors/search?legal_name=acme");
    expect(status).toBe(503);
    expect(text).toContain("The search is temporarily unavailable.");
    expect(text).toContain('value="acme"');
  });
});

test("what nobody looked up is not called inactive", async () => {
  const own = { ...entity, samGov: { registrationStatus: "inactive" }, sources: [{ name: "organization" }] };
  dashboard.state.entities = [own];
  dashboard.state.found = { entity: own, confidence: 1, explanation: [] };
  const { text } = await visitor.get("/live/vendors/search?legal_name=acme");
  expect(text).toContain("not checked yet");
  expect(text).not.toContain("inactive");
});

test("what the organization verified has the status of its list, and a registry's listing is no answer", async () => {
  dashboard.state.found = { entity, confidence: 1, explanation: [] };
  dashboard.state.entities = [entity];
  const search = async () => (await visitor.get("/live/vendors/search?legal_name=acme")).text;
  expect(await search()).toContain('<span class="state unchecked">not checked yet</span>');
  expect(await search()).toContain('<span class="state listed">listed as active</span>');
  const answer = { status: CheckStatus.PASS, checkedAt: timestampFromDate(new Date()) };
  const checks = [{ checkType: CheckType.SAM_REGISTRATION, ...answer, lastAnswered: answer }];
  dashboard.state.vendors = [{ entity: { ...entity, identifiers: {} }, checks }];
  expect(await search()).toContain('<span class="state pass">Passed</span>');
  dashboard.fail("getVendors", "service_unavailable");
  expect(await search()).not.toContain("not checked yet");
});

test("a match by its name only is called that, however equal the names are", async () => {
  const named = { criterion: "legal_name", outcome: "agrees", weight: 1 };
  const confidence = async (...explanation: object[]) => {
    dashboard.state.found = { entity, confidence: 0.99, explanation } as typeof dashboard.state.found;
    const { text } = await visitor.get("/live/vendors/search?legal_name=acme");
    return [/optimum="([^"]+)"/.exec(text)![1], /<\/strong> ([a-z ]+)<\/p>/.exec(text)![1]];
  };
  expect(await confidence(named)).toEqual(["0.7", "name only"]);
  expect(await confidence(named, { criterion: "address", outcome: "contradicts", weight: -1 })).toEqual([
    "0.7",
    "name only",
  ]);
  expect(await confidence(named, { criterion: "address", outcome: "agrees", weight: 0.5 })).toEqual([
    "1",
    "confidence",
  ]);
  expect(await confidence({ criterion: "identifiers.uei", outcome: "agrees", weight: 1 })).toEqual(["1", "confidence"]);
});
