import type { MessageInitShape } from "@bufbuild/protobuf";
import { describe, expect, test } from "@jest/globals";
import type { LookUpRequestSchema } from "@vvs/proto/entity/v1/entity";
import { matchKeysOf } from "../model/match-keys.ts";
import { callerFor, startTestApplication } from "../testing/application.ts";
import { entityDocument } from "../testing/entity-document.ts";

const caller = callerFor("org_lookup");
const ids: Record<string, string> = {};
const street = { line2: "", city: "Asheville", state: "NC", country: "USA" };

const app = await startTestApplication();
const add = async (key: string, legalName: string, identifiers: object, address?: object) => {
  const { entity } = await app.gateway.createEntity({ caller, legalName, identifiers, address });
  ids[key] = entity!.id;
};
await add(
  "inc",
  "Société Blue Ridge & Sons, Inc.",
  { uei: "ABCDEFGHJK41" },
  { ...street, line1: "12 North Oak Street", zip: "28801-1234" },
);
await add(
  "llc",
  "Blue Ridge Timber LLC",
  { cage: "4ABC1", tin: "130000001" },
  { ...street, line1: "77 Elm Ave", zip: "28803" },
);
await add("corp", "Blue Ridge Timber Corp", { duns: "130000002" }, { ...street, line1: "79 Elm Ave", zip: "28803" });
await add("quasar", "Quasar Fittings Inc", {}, { ...street, line1: "One Quasar Way", zip: "28806" });
await add(
  "abroad",
  "Isar Werkzeuge GmbH",
  {},
  { line1: "Lindenweg 5", city: "München", state: "Bayern", zip: "D-80331", country: "DEU" },
);
/** Its check character does not fit. */
const ODD_UEI = "ABCDEFGHJK42";
await add("odd", "Cedar Haulage LLC", { uei: ODD_UEI, cage: "4ABC2" });
await add("kestrel", "FIRST KESTREL QUARRYSTONE INC", {});
await add("northfork", "Northfork Quarrystone Paving LLC", {}, { ...street, line1: "5 Mill Rd", zip: "28804" });

type Criteria = Omit<MessageInitShape<typeof LookUpRequestSchema>, "caller" | "$typeName">;
const lookUp = (criteria: Criteria) => app.gateway.lookUp({ caller, ...criteria });

describe("an exact look-up", () => {
  test.each<[string, Criteria, string]>([
    ["a UEI", { identifiers: { uei: "ABCDEFGHJK41" } }, "inc"],
    ["a TIN", { identifiers: { tin: "130000001" } }, "llc"],
    ["identifiers, one of them unknown", { identifiers: { cage: "4ABC1", duns: "139999999" } }, "llc"],
    ["a name with another spelling", { legalName: "SOCIETE BLUE RIDGE AND SONS INCORPORATED" }, "inc"],
    ["a name without its legal form", { legalName: "societe blue ridge & sons" }, "inc"],
    ["a name with the legal form that distinguishes it", { legalName: "Blue Ridge Timber, L.L.C." }, "llc"],
    ["a name and an address", { legalName: "Blue Ridge Timber", address: "79 Elm Avenue, Asheville, NC" }, "corp"],
    ["an address with ZIP", { address: "12 N. Oak St 28801" }, "inc"],
    ["an address with city and state", { address: "12 n oak st, asheville, north carolina" }, "inc"],
    ["an address with the state before the city", { address: "77 Elm Ave, NC Asheville" }, "llc"],
    ["an address with ZIP+4 written together", { address: "5 Mill Rd 288041234" }, "northfork"],
    ["an address without a house number", { address: "One Quasar Way, Asheville, NC 28806" }, "quasar"],
    ["an address after another line", { address: "Attn. Legal, One Quasar Way, Asheville, NC" }, "quasar"],
    ["an address abroad", { address: "Lindenweg 5, Munchen, Bayern" }, "abroad"],
    [
      "a name and an address that is found only so",
      { legalName: "Isar Werkzeuge GmbH", address: "Lindenweg 5 Bayern Munchen" },
      "abroad",
    ],
    ["a UEI beside text that says that there is no CAGE", { identifiers: { uei: "ABCDEFGHJK41", cage: "N/A" } }, "inc"],
    ["a CAGE beside zeros", { identifiers: { cage: "4ABC1", tin: "000000000" } }, "llc"],
    ["a name beside text that says none", { identifiers: { uei: "NONE" }, legalName: "Blue Ridge Timber LLC" }, "llc"],
    ["all criteria", { identifiers: { duns: "130000002" }, legalName: "Blue Ridge Timber" }, "corp"],
  ])("finds by %s", async (_, criteria, key) => {
    const { entity, confidence, candidates } = await lookUp(criteria);
    expect(entity!.id).toBe(ids[key]);
    expect(confidence).toBe(1);
    expect(candidates).toEqual([]);
  });

  test.each<[string, Criteria]>([
    [
      "an unknown identifier with the right name",
      { identifiers: { uei: "ABCDEFGHJK49" }, legalName: "Blue Ridge Timber LLC" },
    ],
    ["an identifier that contradicts", { identifiers: { tin: "130000001", cage: "9ZZZ9" } }],
    ["another legal form", { identifiers: { cage: "4ABC1" }, legalName: "Blue Ridge Timber Inc" }],
    ["a typing error", { legalName: "Blue Rigde Timber LLC" }],
    ["another word order", { legalName: "Timber Blue Ridge LLC" }],
    ["another address", { identifiers: { cage: "4ABC1" }, address: "79 Elm Ave, Asheville, NC" }],
    ["an address without a place", { address: "77 Elm Ave" }],
    ["an ill-formed value", { identifiers: { tin: "13-00" } }],
    ["an ill-formed value beside another", { identifiers: { tin: "130000001", cage: "4AB" } }],
    ["only text that says none", { identifiers: { tin: "N/A", uei: "UNKNOWN" } }],
  ])("finds nothing by %s", async (_, criteria) => {
    await expect(lookUp(criteria)).rejects.toMatchObject({ code: "entity_not_found" });
  });

  test("explains what is odd about unknown identifiers without repeating them", async () => {
    const message = async (identifiers: object) =>
      lookUp({ identifiers }).then(
        () => "",
        (error: Error) => error.message,
      );
    expect(await message({ uei: "ABC" })).toMatch(/12 characters/);
    expect(await message({ uei: "ABCDEFGHJK40" })).toMatch(/check character/);
    expect(await message({ tin: "13-00-55" })).toMatch(/9 digits/);
    expect(await message({ tin: "13-00-55" })).not.toMatch(/13|55/);
    expect(await message({ duns: "139999998" })).toBe("No entity matches.");
  });

  test.each<[string, Criteria]>([
    ["another name", { legalName: "Redwood Haulage" }],
    ["another address", { address: "1 Elm Ave, Asheville, NC" }],
    ["a CAGE that contradicts", { identifiers: { uei: ODD_UEI, cage: "9ZZZ9" } }],
  ])("that finds nothing by a known UEI and %s does not call the UEI a typing error", async (_, criteria) => {
    await expect(lookUp({ identifiers: { uei: ODD_UEI }, ...criteria })).rejects.toMatchObject({
      code: "entity_not_found",
      message: "No entity matches. An entity has this UEI, but does not agree with all criteria.",
    });
  });

  test("by a name of several entities is ambiguous, with candidates", async () => {
    await expect(lookUp({ legalName: "Blue Ridge Timber" })).rejects.toMatchObject({
      code: "ambiguous_match",
      candidates: expect.arrayContaining([
        expect.objectContaining({ id: ids.llc, legalName: "Blue Ridge Timber LLC" }),
        expect.objectContaining({ id: ids.corp }),
      ]),
    });
  });

  test("finds by a name that very many bear, with the address", async () => {
    const namesakes = Array.from({ length: 600 }, (_, index) => {
      const addresses = [{ ...street, type: "physical" as const, line1: `${index} Chapel Rd`, zip: "28807" }];
      const entity = entityDocument({ _id: `ent_${index}`, legal_name: "QUARRYSTONE CHAPEL", addresses });
      return { ...entity, ...matchKeysOf(entity) };
    });
    await app.live.entities.insertMany(namesakes);
    const { entity } = await lookUp({ legalName: "Quarrystone Chapel", address: "599 Chapel Road, Asheville, NC" });
    expect(entity!.id).toBe("ent_599");
    await app.live.entities.deleteMany({ legal_name: "QUARRYSTONE CHAPEL" });
  });

  test("explains each candidate on request", async () => {
    const refusal = { code: "ambiguous_match" };
    const reason = (criterion: string, outcome: string) => expect.objectContaining({ criterion, outcome });
    await expect(lookUp({ legalName: "Blue Ridge Timber", explain: true })).rejects.toMatchObject({
      ...refusal,
      candidates: Array(2).fill({ explanation: [reason("legal_name", "agrees")] }),
    });
    const identifiers = { uei: "ABCDEFGHJK41", tin: "130000001" };
    await expect(lookUp({ identifiers, explain: true })).rejects.toMatchObject({
      ...refusal,
      candidates: [
        { id: ids.inc, explanation: [reason("identifiers.uei", "agrees"), reason("identifiers.tin", "absent")] },
        { id: ids.llc, explanation: [reason("identifiers.uei", "absent"), reason("identifiers.tin", "agrees")] },
      ],
    });
    await expect(lookUp({ identifiers })).rejects.toMatchObject({
      ...refusal,
      candidates: [{ explanation: [] }, { explanation: [] }],
    });
  });
});

describe("a fuzzy look-up", () => {
  test.each<[string, Criteria, string]>([
    ["a typing error", { legalName: "Norhtfork Quarrystone Paving" }, "northfork"],
    ["another word order", { legalName: "Paving Quarrystone Northfork LLC" }, "northfork"],
    ["split words", { legalName: "North Fork Quarry Stone Paving LLC" }, "northfork"],
    [
      "an identifier, even if the name is misspelled",
      { identifiers: { tin: "130000001" }, legalName: "Blu Ridge Timbers" },
      "llc",
    ],
    ["only an address", { address: "5 Mill Road, Asheville NC 28804" }, "northfork"],
    ["only an address with its street mistyped", { address: "77 Ellm Avenue Asheville NC 28803" }, "llc"],
    [
      "an address after a name and without commas",
      { address: "Attn Office 5 Mill Rd Asheville NC 28804" },
      "northfork",
    ],
    ["the address, among namesakes", { legalName: "Blue Ridge Timber", address: "79 Elm Ave, Asheville NC" }, "corp"],
  ])("finds through %s", async (_, criteria, key) => {
    const { entity, confidence } = await lookUp({ ...criteria, fuzzy: true });
    expect(entity!.id).toBe(ids[key]);
    expect(confidence).toBeGreaterThanOrEqual(0.6);
  });

  test.each([
    ["One Kestrel Quarrystone Inc", 0.8],
    ["First Kestrel Quarrystone PA Inc", 0.8],
    ["1st Kestrel Quarrystone Inc", 0.99],
  ])("is sure of no name that companies may differ in: %s", async (legalName, most) => {
    const { entity, confidence } = await lookUp({ legalName, fuzzy: true });
    expect(entity!.id).toBe(ids.kestrel);
    expect(confidence).toBeLessThanOrEqual(most);
    if (most > 0.8) expect(confidence).toBeGreaterThan(0.8);
  });

  test("offers candidates, best first, if none is certain, and explains them on request", async () => {
    const { entity, candidates } = await lookUp({ legalName: "Blue Ridge Timber", fuzzy: true, explain: true });
    expect(entity).toBeUndefined();
    expect(
      candidates
        .slice(0, 2)
        .map(({ id }) => id)
        .sort(),
    ).toEqual([ids.llc, ids.corp].sort());
    const confidences = candidates.map(({ confidence }) => confidence);
    expect(confidences).toEqual([...confidences].sort((a, b) => b - a));
    expect(candidates[0]!.explanation).toEqual(
      expect.arrayContaining([expect.objectContaining({ criterion: "legal_name", outcome: "agrees" })]),
    );
    const unexplained = await lookUp({ legalName: "Blue Ridge Timber", fuzzy: true });
    expect(unexplained.candidates[0]!.explanation).toEqual([]);
  });

  test("explains the parts of an address that agree and contradict, with their weights", async () => {
    const criteria = { legalName: "Northfork Quarrystone Paving", address: "7 Mill Rd, Asheville NC 28804" };
    const { explanation } = await lookUp({ ...criteria, fuzzy: true, explain: true });
    const address = explanation.find(({ criterion }) => criterion === "address")!;
    expect(address.outcome).toBe("contradicts");
    expect(address.parts.map(({ part, outcome, weight }) => [part, outcome, Math.sign(weight)])).toEqual([
      ["number", "contradicts", -1],
      ["street", "agrees", 1],
      ["city", "agrees", 1],
      ["state", "agrees", 1],
      ["zip", "agrees", 1],
    ]);
    const { confidence, explanation: reasons } = await lookUp({ ...criteria, fuzzy: true, explain: true });
    expect(reasons.reduce((sum, { weight }) => sum + weight, 0)).toBeCloseTo(confidence, 2);
  });

  test("in exact mode gives weights to the required criteria that add up to the confidence", async () => {
    const identifiers = { duns: "130000002" };
    const { explanation } = await lookUp({ identifiers, address: "79 Elm Ave, Asheville NC", explain: true });
    expect(explanation.map(({ criterion, outcome, weight }) => [criterion, outcome, weight])).toEqual([
      ["identifiers.duns", "agrees", 0.5],
      ["address", "agrees", 0.5],
    ]);
    expect(explanation[1]!.parts.map(({ part }) => part)).toEqual(["number", "street", "city", "state"]);
  });

  test("finds nothing by common words only", async () => {
    await expect(lookUp({ legalName: "Completely Different Holdings", fuzzy: true })).rejects.toMatchObject({
      code: "entity_not_found",
    });
  });
});

test.each([[false], [true]])(
  "identifiers that name different entities are ambiguous before anything else (fuzzy: %s)",
  async (fuzzy) => {
    const identifiers = { uei: "ABCDEFGHJK41", tin: "130000001" };
    await expect(lookUp({ identifiers, legalName: "Blue Ridge Timber LLC", fuzzy })).rejects.toMatchObject({
      code: "ambiguous_match",
      message: expect.stringMatching(/Send those of one entity, or choose/),
      candidates: [{ id: ids.inc }, { id: ids.llc }],
    });
  },
);
