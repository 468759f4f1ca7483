import { beforeEach, describe, expect, test } from "@jest/globals";
import { registryRecordOf, startTestApplication } from "../../testing/application.ts";
import { createLoads } from "../../testing/loads.ts";
import type { ExclusionOf } from "../testing/registry-files.ts";

const app = await startTestApplication();
app.clock.now = new Date("2026-09-20T12:00:00Z");
const loads = createLoads(app);
beforeEach(() => loads.clear());

const uei = "ABCDEFGHJK51";
/** Returns the names of the rows that bear a name, or that of the registry's record. */
const found = async (...names: string[]) => {
  const { sameNames } = await registryRecordOf(app.verification, { uei, names });
  return sameNames.map(({ name }) => name);
};
const kestrel: ExclusionOf = { name: "KESTREL MARINE, LLC" };
const lorwin: ExclusionOf = { name: "LORWIN BOATS" };
const pat: ExclusionOf = { person: ["PAT", "Q", "EXAMPLE", "JR"] };

describe("a row without identifiers", () => {
  test.each([
    ["Kestrel Marine LLC", ["KESTREL MARINE, LLC"]],
    ["Kestrel Marine", ["KESTREL MARINE, LLC"]],
    ["Kestrel Marine Inc", []],
    ["Kestrel Marine East LLC", []],
    ["Lorwin Boats Co", ["LORWIN BOATS"]],
    ["Pat Q. Example Jr.", ["PAT Q EXAMPLE JR"]],
    ["EXAMPLE JR, PAT Q", ["PAT Q EXAMPLE JR"]],
    ["Pat Example", []],
  ])("is found by its very name: %s", async (name, expected) => {
    await loads.exclude([kestrel, lorwin, pat, { uei, name: "Pat Q Example" }], "2026-09-07");
    expect(await found(name)).toEqual(expected);
  });

  test("is found by the registered names too, which the question does not have, and only where names are asked for", async () => {
    await loads.load([{ 1: uei, 12: "KESTREL MARINE LLC", 13: "HARBOR BOATS" }]);
    await loads.exclude([kestrel, lorwin, { name: "HARBOR BOATS" }], "2026-09-07");
    expect((await found("Another Name")).toSorted()).toEqual(["HARBOR BOATS", "KESTREL MARINE, LLC"]);
    expect(await found("Lorwin Boats")).toEqual(expect.arrayContaining(["KESTREL MARINE, LLC", "LORWIN BOATS"]));
    expect(await found()).toEqual([]);
  });

  test("is returned with what it states, equal ones once, and affects no entity", async () => {
    await loads.load([{ 1: uei, 12: "KESTREL MARINE LLC" }]);
    const ends = { ...kestrel, agency: "EPA", from: "2025-01-01", until: "2027-01-01" };
    const report = await loads.exclude([kestrel, kestrel, ends], "2026-09-07");
    expect(report.counts).toMatchObject({ unidentified: 3, names_new: 2, names_gone: 0, entities: 0 });
    const { records } = await app.verification.getRegistryRecords({
      environment: 1,
      queries: [
        { uei, names: ["Kestrel Marine"] },
        { uei, names: ["Lorwin"] },
      ],
    });
    const row = { name: "KESTREL MARINE, LLC", program: "Reciprocal", exclusionType: "Ineligible" };
    const rows = [
      { ...row, agency: "EPA", activeDate: "2025-01-01", terminationDate: "2027-01-01" },
      { ...row, agency: "GSA", activeDate: "2020-01-01", terminationDate: "indefinite" },
    ];
    expect(records.map(({ sameNames }) => sameNames)).toMatchObject([rows, rows]);
    expect(records[0]!.exclusions).toEqual([]);
  });

  test("counts through its last day, and until a file lacks it", async () => {
    await loads.exclude([kestrel, { ...lorwin, until: "2026-09-20" }], "2026-09-07");
    expect(await found("Lorwin Boats")).toHaveLength(1);
    app.clock.now = new Date("2026-09-21T12:00:00Z");
    expect(await found("Lorwin Boats")).toEqual([]);
    app.clock.now = new Date("2026-09-20T12:00:00Z");
    const report = await loads.exclude([lorwin], "2026-09-08");
    expect(report.counts).toMatchObject({ names_new: 1, names_gone: 2 });
    expect(await found("Kestrel Marine")).toEqual([]);
    expect(await app.live.excludedNames.findOne({ name: "KESTREL MARINE, LLC" })).toMatchObject({
      first_seen: "2026-09-07",
      last_seen: "2026-09-07",
      ended_on: "2026-09-08",
    });
    await loads.exclude([kestrel, lorwin], "2026-09-09");
    expect(await found("Kestrel Marine")).toHaveLength(1);
  });

  test("is written once, also by the files of later days and by the same file again", async () => {
    await loads.exclude([kestrel, pat], "2026-09-07");
    const before = await app.live.excludedNames.find().toArray();
    for (const day of ["2026-09-07", "2026-09-08"]) {
      expect((await loads.exclude([kestrel, pat], day)).counts).toMatchObject({ names_new: 0, names_gone: 0 });
    }
    expect(await app.live.excludedNames.find().toArray()).toEqual(before);
  });

  const others = [{ cage: "1ZZZ1" }, { cage: "1ZZZ2" }, lorwin];

  test("counts as in force while it can't be read, and holds back no other one", async () => {
    await loads.exclude([kestrel, lorwin, pat], "2026-09-07");
    const unreadable = { ...kestrel, uei: "PENDING 12", until: "2020-01-31" };
    const report = await loads.exclude([...others, unreadable], "2026-09-08");
    expect(report.counts).toMatchObject({ quarantined: 1, held: 0, names_new: 1, names_gone: 2 });
    expect(await found("Kestrel Marine")).toEqual(["KESTREL MARINE, LLC"]);
    expect(await found("Pat Q Example Jr")).toEqual([]);
    await loads.exclude(others, "2026-09-09");
    expect(await found("Kestrel Marine")).toEqual([]);
  });

  test("stands while a row without a name that can't be read may be it", async () => {
    await loads.exclude([kestrel, lorwin], "2026-09-07");
    const unreadable = await loads.exclude([...others, { name: "", until: "soon" }], "2026-09-08");
    expect(unreadable.counts).toMatchObject({ quarantined: 1, held: 1, names_gone: 0 });
    expect(await found("Kestrel Marine")).toHaveLength(1);
    await loads.exclude(others, "2026-09-09");
    expect(await found("Kestrel Marine")).toEqual([]);
  });
});

describe("a load of rows without identifiers", () => {
  test("that was killed continues where it was, and until then ends nothing", async () => {
    await loads.exclude([kestrel], "2026-09-07");
    const many = Array.from({ length: 1_500 }, (_, index) => ({ name: `HARBOR ${index}` }));
    const insertMany: typeof app.live.excludedNames.insertMany = app.live.excludedNames.insertMany.bind(
      app.live.excludedNames,
    );
    let inserts = 0;
    const excludedNames = new Proxy(app.live.excludedNames, {
      get(target, name) {
        if (name !== "insertMany") return Reflect.get(target, name, target);
        return async (...given: Parameters<typeof insertMany>) => {
          if (++inserts === 2) throw new Error("killed");
          return insertMany(...given);
        };
      },
    });
    const killed = loads.exclude(many, "2026-09-08", { collections: { ...app.live, excludedNames } });
    await expect(killed).rejects.toThrow("killed");
    expect(await app.live.excludedNames.countDocuments()).toBe(1_001);
    expect(await found("Kestrel Marine")).toHaveLength(1);
    expect((await loads.exclude(many, "2026-09-08")).counts).toMatchObject({ names_new: 500, names_gone: 1 });
    expect(await app.live.excludedNames.countDocuments()).toBe(1_501);
    expect(await found("Kestrel Marine")).toEqual([]);
    expect(await found("Harbor 1499")).toHaveLength(1);
  });

  test("is withdrawn with all that it added and ended", async () => {
    await loads.exclude([kestrel, lorwin], "2026-09-07");
    const before = await app.live.excludedNames.find().sort({ _id: 1 }).toArray();
    const { loadId } = await loads.exclude([lorwin, pat], "2026-09-08");
    expect([await found("Kestrel Marine"), await found("Pat Q Example Jr")]).toEqual([[], ["PAT Q EXAMPLE JR"]]);
    expect((await loads.withdraw(loadId)).counts).toMatchObject({ names: 2 });
    expect(await app.live.excludedNames.find().sort({ _id: 1 }).toArray()).toEqual(before);
    expect([await found("Kestrel Marine"), await found("Pat Q Example Jr")]).toEqual([["KESTREL MARINE, LLC"], []]);
  });

  test("counts no more as soon as its withdrawal has begun", async () => {
    await loads.exclude([kestrel, lorwin], "2026-09-07");
    const { loadId } = await loads.exclude([lorwin, pat], "2026-09-08");
    const begun = { state: "withdrawn" as const, withdrawn: { at: app.clock.now, by: "jo@host", reason: "wrong day" } };
    await app.live.loads.updateOne({ _id: loadId }, { $set: begun });
    expect([await found("Kestrel Marine"), await found("Pat Q Example Jr")]).toEqual([["KESTREL MARINE, LLC"], []]);
  });
});
