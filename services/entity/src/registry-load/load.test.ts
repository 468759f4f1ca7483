import { beforeEach, describe, expect, test } from "@jest/globals";
import { verifySnapshots } from "../model/verify-snapshots.ts";
import { callerFor, registryRecordOf, startTestApplication, subjectOf } from "../testing/application.ts";
import { createLoads } from "../testing/loads.ts";
import { type ListedChange, listChanges } from "./change-log.ts";
import { printChanges, printLoads, printQuarantine } from "./load-reports.ts";

const app = await startTestApplication();
const loads = createLoads(app);
beforeEach(async () => {
  app.clock.now = new Date();
  await loads.clear();
});

const page = { limit: 100 };
const caller = callerFor("org_load");
const uei = "ABCDEFGHJK51";
const { load, exclude, everything } = loads;

const find = async (by: string) => (await app.gateway.lookUp({ caller, identifiers: { uei: by } })).entity!;
const record = (by = uei) => registryRecordOf(app.verification, { uei: by });
const versions = async (entityId: string) =>
  (await app.gateway.listSnapshots({ caller, entityId, page })).snapshots.map(({ version }) => version);
async function changesOf(loadId: string): Promise<ListedChange[]> {
  const changes: ListedChange[] = [];
  for await (const change of listChanges(app.live, loadId)) changes.push(change);
  return changes;
}
describe("loading an extract", () => {
  test("creates registry entities for all organizations, each with a snapshot without an organization", async () => {
    const report = await load([
      { 1: uei, 4: "5ABC1" },
      { 1: "ABCDEFGHJK52", 6: "E", 9: "20250101" },
    ]);
    expect(report.counts).toMatchObject({ rows: 2, new: 2, changed: 0, unchanged: 0, quarantined: 0, gone: 0 });
    const entity = await find(uei);
    expect(entity).toMatchObject({
      legalName: "BLUE RIDGE TIMBER LLC",
      identifiers: { uei, cage: "5ABC1" },
      samGov: { registrationStatus: "active", cage: "5ABC1", expirationDate: "2027-12-31" },
      sources: [{ name: "sam_gov_extract", version: "SAM_PUBLIC_20260906.dat" }],
    });
    expect((await find("ABCDEFGHJK52")).samGov!.registrationStatus).toBe("expired");
    const { snapshots } = await app.gateway.listSnapshots({ caller, entityId: entity.id, page });
    expect(snapshots).toMatchObject([
      { version: 1, organizationId: "", requestId: "", actor: "registry:SAM_PUBLIC_20260906.dat" },
    ]);
    expect(await record()).toMatchObject({
      record: { uei, cage: "5ABC1", extractCode: "A", excluded: false, expirationDate: "2027-12-31", idOnly: false },
      exclusions: [],
      registryCutDate: "2026-09-06",
      registryFile: "SAM_PUBLIC_20260906.dat",
    });
  });

  test("a second time, or with the same rows on a later day, writes nothing new", async () => {
    const rows: Record<number, string>[] = [
      { 1: uei, 3: "0002", 12: "OTHER PAYEE" },
      { 1: "ABCDEFGHJK52" },
      { 1: uei },
    ];
    await load(rows);
    const before = await everything();
    expect((await load(rows)).counts).toMatchObject({ new: 0, changed: 0, unchanged: 2, gone: 0 });
    const later = await load(rows.toReversed(), { day: "13" });
    expect(later.counts).toMatchObject({ new: 0, changed: 0, unchanged: 2, gone: 0 });
    expect(later.changes).toEqual({ added: 0, changed: 0, gone: 0, fields: [] });
    expect(await everything()).toBe(before);
    expect((await find(uei)).legalName).toBe("BLUE RIDGE TIMBER LLC");
  });

  test("with the rows of one entity far apart uses the row that counts for the entity", async () => {
    const others = Array.from({ length: 1_200 }, (_, index) => ({ 1: `FARAPART${1_000 + index}`, 4: "" }));
    const report = await load([{ 1: uei, 3: "0002", 12: "OTHER PAYEE" }, ...others, { 1: uei }]);
    expect(report.counts).toMatchObject({ rows: 1_202, new: 1_201 });
    expect(await find(uei)).toMatchObject({ legalName: "BLUE RIDGE TIMBER LLC" });
  });

  test("lists its changes by entity and field", async () => {
    await load([{ 1: uei, 4: "5ABC1" }, { 1: "ABCDEFGHJK52" }, { 1: "ABCDEFGHJK54" }]);
    const report = await load(
      [
        { 1: uei, 4: "5ABC2", 9: "20300101" },
        { 1: "ABCDEFGHJK53" },
        { 1: "ABCDEFGHJK54", 12: "NEW NAME INC", 16: "1 ELM ST" },
      ],
      { day: "13" },
    );
    const changes = await changesOf(report.loadId);
    expect(changes.toSorted((a, b) => a.uei.localeCompare(b.uei))).toMatchObject([
      {
        kind: "changed",
        uei,
        version: 2,
        fields: ["identifiers.cage", "sam_gov.cage", "sam_gov.expiration_date"],
      },
      { kind: "gone", uei: "ABCDEFGHJK52", fields: [] },
      { kind: "added", uei: "ABCDEFGHJK53", version: 1 },
      { kind: "changed", uei: "ABCDEFGHJK54", version: 2, fields: ["legal_name", "addresses"] },
    ]);
    expect(report.changes).toMatchObject({ added: 1, changed: 2, gone: 1 });
    expect(report.changes.fields).toContainEqual({ field: "legal_name", count: 1 });
    expect(await app.live.loads.findOne({ _id: report.loadId })).toMatchObject({
      state: "done",
      changes: report.changes,
    });
  });

  test("is listed with its changes and the rows that were set aside", async () => {
    await load([{ 1: uei }]);
    const { loadId } = await load([{ 1: uei, 12: "RENAMED LLC" }, { 1: "x" }, { 1: "ABCDEFGHJK52" }], { day: "13" });
    const printed = async (print: (line: (text: string) => void) => Promise<void>) => {
      const lines: string[] = [];
      await print((line) => lines.push(line));
      return lines;
    };
    const loads = await printed((print) => printLoads(app.live, print));
    expect(loads).toHaveLength(2);
    expect(loads.find((line) => line.startsWith(loadId))).toMatch(
      /^registry:[0-9a-f]{64}\tSAM_PUBLIC_20260913\.dat\t2026-09-13\tdone\t.*\trows 3, new 1, changed 1, unchanged 0, quar/,
    );
    const { id } = await find(uei);
    const added = await find("ABCDEFGHJK52");
    for (const named of [loadId, loadId.slice(0, 24), "SAM_PUBLIC_20260913.dat"]) {
      const changes = await printed((print) => printChanges(app.live, named, print));
      expect(changes).toEqual([
        `added\t${added.id}\tABCDEFGHJK52\tversion 1\t`,
        `changed\t${id}\t${uei}\tversion 2\tlegal_name`,
        "added 1, changed 1 (legal_name 1), gone 0",
      ]);
    }
    const quarantine = await printed((print) => printQuarantine(app.live, loadId, print));
    expect(quarantine).toEqual(["line 3\tfield 1 is not a UEI"]);
    await expect(printed((print) => printChanges(app.live, "registry:", print))).rejects.toThrow(
      /^No load, or more than/,
    );
  });

  test("waits for a running load, and continues if that load's process is gone", async () => {
    const lock = {
      _id: "load" as const,
      ...{ holder: "another", file_name: "other.dat", host: "another-host", pid: 1, sessions: [] },
      until: new Date(Date.now() + 60_000),
    };
    await app.live.loadLocks.insertOne(lock);
    const waited: string[] = [];
    const loading = load([{ 1: uei }], { onWait: ({ file_name }) => waited.push(file_name) });
    while (waited.length === 0) await new Promise(setImmediate);
    expect(await app.live.entities.countDocuments()).toBe(0);
    await loads.expireLock();
    expect((await loading).counts).toMatchObject({ new: 1 });
    expect(waited).toEqual(["other.dat"]);
    expect(await app.live.loadLocks.countDocuments()).toBe(0);
  });

  test("that is incomplete changes nothing", async () => {
    await load([{ 1: uei }]);
    const before = await everything();
    await expect(load([{ 1: uei, 12: "RENAMED" }], { day: "13", count: 9 })).rejects.toThrow(/promises 9 rows/);
    expect(await everything()).toBe(before);
    expect(await app.live.loads.countDocuments({ state: "done" })).toBe(1);
  });

  test("with a cut date later than tomorrow is refused and changes nothing", async () => {
    app.clock.now = new Date("2026-09-04T23:59:59Z");
    await expect(load([{ 1: uei }])).rejects.toThrow(
      "SAM_PUBLIC_20260906.dat says that it was cut on 2026-09-06, which is later than tomorrow",
    );
    await expect(exclude([{ uei }], "2026-09-06")).rejects.toThrow(/exclusions_26249\.csv says .* later than tomorrow/);
    expect(await app.live.loads.countDocuments({ state: { $ne: "refused" } })).toBe(0);
    app.clock.now = new Date("2026-09-05T00:00:00Z");
    expect((await load([{ 1: uei }])).counts).toMatchObject({ new: 1 });
  });

  test("that is newer appends snapshots of changed entities, and marks missing ones as gone and keeps them", async () => {
    await load([{ 1: uei }, { 1: "ABCDEFGHJK52" }]);
    const before = await find(uei);
    const report = await load([{ 1: uei, 9: "20300101" }, { 1: "ABCDEFGHJK53" }], { day: "13" });
    expect(report.counts).toMatchObject({ new: 1, changed: 1, unchanged: 0, gone: 1 });
    const after = await find(uei);
    expect(after).toMatchObject({ id: before.id, samGov: { expirationDate: "2030-01-01" } });
    expect(await versions(after.id)).toEqual([2, 1]);
    expect((await find("ABCDEFGHJK52")).legalName).toBe("BLUE RIDGE TIMBER LLC");
    const gone = await record("ABCDEFGHJK52");
    expect(gone.record).toBeUndefined();
    expect(await load([{ 1: uei, 9: "20270101" }], { day: "06" })).toMatchObject({
      isOlder: true,
      counts: { changed: 0, gone: 0 },
    });
    expect((await find(uei)).samGov!.expirationDate).toBe("2030-01-01");
    expect(await verifySnapshots(app.live, undefined, () => undefined)).toEqual({ entities: 3, faults: 0 });
  });

  test("with partial rows changes only the fields that they contain; bad rows are set aside with line and reason", async () => {
    await load([{ 1: uei, 4: "5ABC1" }]);
    const partial = (by: string) => ({ 1: by, 4: "", 6: "1", 8: "", 9: "", 10: "", 11: "", 12: "", 16: "", 18: "" });
    const report = await load([partial(uei), partial("ABCDEFGHJK59"), { 1: "ABCDEFGHJK5" }], { day: "07" });
    expect(report.counts).toMatchObject({ rows: 3, new: 0, changed: 1, quarantined: 2, gone: 0 });
    expect(await find(uei)).toMatchObject({
      legalName: "BLUE RIDGE TIMBER LLC",
      identifiers: { cage: "5ABC1" },
      samGov: { registrationStatus: "inactive", expirationDate: "2027-12-31" },
    });
    const set = await app.live.quarantine.find().sort({ line_number: 1 }).toArray();
    expect(set).toMatchObject([
      { line_number: 3, reason: "a partial row of an entity that is not known" },
      { line_number: 4, reason: "field 1 is not a UEI" },
    ]);
  });
});

describe("an entity that an organization created before the registry had it", () => {
  test.each([
    ["UEI", { uei }],
    ["CAGE", { cage: "5ABC1" }],
  ])("takes the row with its %s over, keeps its id, and hides the registry's there", async (_, identifiers) => {
    const given = { ...identifiers, tin: "140000001" };
    const { entity: own } = await app.gateway.createEntity({ caller, legalName: "Blue Ridge", identifiers: given });
    await load([{ 1: uei, 4: "5ABC1" }]);
    const seen = await find(uei);
    expect(seen).toMatchObject({
      id: own!.id,
      legalName: "BLUE RIDGE TIMBER LLC",
      identifiers: { uei, cage: "5ABC1", tin: "****0001" },
      samGov: { registrationStatus: "active" },
      sources: [{ name: "organization" }, { name: "sam_gov_extract" }],
    });
    const { snapshots } = await app.gateway.listSnapshots({ caller, entityId: own!.id, page });
    expect(snapshots).toMatchObject([
      { version: 2, organizationId: "org_load", requestId: "", actor: "registry:SAM_PUBLIC_20260906.dat" },
      { version: 1, actor: "key_1" },
    ]);
    const other = callerFor("org_else");
    const registry = (await app.gateway.lookUp({ caller: other, identifiers: { uei } })).entity!;
    expect(registry.id).not.toBe(own!.id);
    await expect(app.gateway.getEntity({ caller, entityId: registry.id })).rejects.toMatchObject({
      code: "entity_not_found",
    });
    await expect(app.gateway.getEntity({ caller: other, entityId: own!.id })).rejects.toMatchObject({
      code: "entity_not_found",
    });
    // Reads at the same time share a command, and still show each organization its own view.
    const view = async (by: typeof caller, id: string) =>
      app.gateway.getEntity({ caller: by, entityId: id }).then(
        ({ entity }) => [entity!.id, entity!.identifiers.tin],
        ({ code }) => code,
      );
    const views = () => [
      view(caller, own!.id),
      view(caller, registry.id),
      view(other, own!.id),
      view(other, registry.id),
    ];
    const seenByEach = [[own!.id, "****0001"], "entity_not_found", "entity_not_found", [registry.id, undefined]];
    expect(await Promise.all([1, 2, 3].flatMap(views))).toEqual([1, 2, 3].flatMap(() => seenByEach));
    const byName = await app.gateway.lookUp({ caller, legalName: "Blue Ridge Timber LLC", fuzzy: true });
    expect(byName.entity!.id).toBe(own!.id);
    expect(await subjectOf(app.verification, caller, own!.id)).toMatchObject({
      createdByOrganization: false,
    });
    await load([{ 1: uei, 4: "5ABC1", 12: "BLUE RIDGE LUMBER LLC" }], { day: "13" });
    expect((await find(uei)).legalName).toBe("BLUE RIDGE LUMBER LLC");
    expect(await versions(own!.id)).toEqual([3, 2, 1]);
    expect(await load([{ 1: uei, 4: "5ABC1", 12: "BLUE RIDGE LUMBER LLC" }], { day: "20" })).toMatchObject({
      counts: { changed: 0 },
    });
    expect(await versions(own!.id)).toEqual([3, 2, 1]);
  });

  test("takes over one of two rows of a load with the same CAGE with its CAGE, and the other without it", async () => {
    const ueis = ["ABCDEFGHJK51", "ABCDEFGHJK52"];
    for (const each of ueis) {
      await app.gateway.createEntity({ caller, legalName: `Own ${each}`, identifiers: { uei: each } });
    }
    await load(ueis.map((each) => ({ 1: each, 4: "5ABC1" })));
    const seen = await Promise.all(ueis.map(find));
    expect(seen.map(({ samGov }) => samGov?.registrationStatus)).toEqual(["active", "active"]);
    expect(seen.filter(({ identifiers }) => identifiers?.cage === "5ABC1")).toHaveLength(1);
  });

  test("in the middle of a load takes over its row when the file is loaded again", async () => {
    await load([{ 1: uei, 4: "5ABC1" }]);
    const { entity } = await app.gateway.createEntity({
      caller,
      legalName: "Blue Ridge",
      identifiers: { uei: "ABCDEFGHJK57" },
    });
    // As if it had been created while the row with its UEI was being applied.
    const filter = { _id: entity!.id };
    await app.live.entities.updateOne(filter, { $set: { "identifiers.uei": uei, claims: [`uei:${uei}`] } });
    expect((await load([{ 1: uei, 4: "5ABC1" }])).counts).toMatchObject({ changed: 0, unchanged: 1 });
    expect(await find(uei)).toMatchObject({ id: entity!.id, legalName: "BLUE RIDGE TIMBER LLC" });
    const changes = await changesOf((await app.live.loads.findOne())!._id);
    expect(changes).toContainEqual(expect.objectContaining({ kind: "changed", entityId: entity!.id, version: 2 }));
  });
});

describe("exclusions", () => {
  test("debar new entities by UEI or CAGE, until their last day", async () => {
    await exclude([{ uei }, { cage: "5ABC2" }, { uei: "ABCDEFGHJK54", until: "2020-02-01" }]);
    const statusOf = async (identifiers: object) => {
      const { entity } = await app.gateway.createEntity({ caller, legalName: "Excluded Inc", identifiers });
      return entity!;
    };
    expect(await statusOf({ uei })).toMatchObject({
      samGov: { registrationStatus: "debarred" },
      sources: [{ name: "organization" }, { name: "sam_gov_exclusions", version: "exclusions_26010.csv" }],
    });
    expect(await statusOf({ cage: "5ABC2" })).toMatchObject({ samGov: { registrationStatus: "debarred" } });
    expect(await statusOf({ uei: "ABCDEFGHJK54" })).toMatchObject({ samGov: { registrationStatus: "inactive" } });
    expect(await record()).toMatchObject({
      exclusions: [{ samNumber: `S4MR${uei}`, terminationDate: "indefinite" }],
      exclusionsCutDate: "2026-01-10",
    });
    expect((await record()).record).toBeUndefined();
    const past = await record("ABCDEFGHJK54");
    expect(past).toMatchObject({ exclusions: [], endedExclusions: [{ terminationDate: "2020-02-01", endedOn: "" }] });
  });

  test("of a later file debar entities of the registry and of organizations until their row is missing, each time with a snapshot", async () => {
    await load([{ 1: uei }, { 1: "ABCDEFGHJK55", 4: "5ABC5" }]);
    const { entity: own } = await app.gateway.createEntity({
      caller,
      legalName: "Own",
      identifiers: { uei: "ABCDEFGHJK56" },
    });
    const status = async (id: string) =>
      (await app.gateway.getEntity({ caller, entityId: id })).entity!.samGov!.registrationStatus;
    const registry = await find(uei);
    expect(await exclude([{ uei }, { uei: "ABCDEFGHJK56" }])).toMatchObject({
      counts: { new: 2, gone: 0, entities: 2 },
    });
    expect([await status(registry.id), await status(own!.id)]).toEqual(["debarred", "debarred"]);
    expect(await exclude([{ uei }, { uei: "ABCDEFGHJK56" }])).toMatchObject({
      counts: { new: 0, unchanged: 2, entities: 0 },
    });
    expect([await versions(registry.id), await versions(own!.id)]).toEqual([
      [2, 1],
      [2, 1],
    ]);
    expect(await exclude([{ cage: "5ABC5" }], "2026-02-10")).toMatchObject({
      counts: { new: 1, gone: 2, entities: 3 },
    });
    expect([await status(registry.id), await status(own!.id)]).toEqual(["active", "inactive"]);
    expect((await find("ABCDEFGHJK55")).samGov!.registrationStatus).toBe("debarred");
    expect([await versions(registry.id), await versions(own!.id)]).toEqual([
      [3, 2, 1],
      [3, 2, 1],
    ]);
    expect(await verifySnapshots(app.live, undefined, () => undefined)).toEqual({ entities: 3, faults: 0 });
  });

  test("that ended are kept with the dates of the files that contained them, and can come back as the same ones", async () => {
    await exclude([{ uei }, { cage: "5ABC5" }]);
    await exclude([{ uei }, { cage: "5ABC5" }], "2026-01-12");
    expect(await record()).toMatchObject({
      exclusions: [{ firstSeen: "2026-01-10", lastSeen: "2026-01-12", endedOn: "" }],
      endedExclusions: [],
    });
    const lacking = [{ cage: "5ABC5" }];
    for (const gone of [1, 0]) expect(await exclude(lacking, "2026-01-14")).toMatchObject({ counts: { gone } });
    const ended = { firstSeen: "2026-01-10", lastSeen: "2026-01-12", endedOn: "2026-01-14" };
    expect(await record()).toMatchObject({ exclusions: [], endedExclusions: [ended] });
    expect(await exclude([{ uei }, ...lacking], "2026-01-18")).toMatchObject({ counts: { changed: 1 } });
    expect(await record()).toMatchObject({
      exclusions: [{ firstSeen: "2026-01-10", lastSeen: "2026-01-18", endedOn: "" }],
      endedExclusions: [],
    });
  });

  test("that a running load ends are in force until the load is done", async () => {
    await exclude([{ uei }]);
    await app.live.exclusions.updateMany({}, { $set: { ended_by: "exclusions:running", ended_on: "2026-01-11" } });
    expect(await record()).toMatchObject({ exclusions: [{ samNumber: `S4MR${uei}` }], endedExclusions: [] });
  });

  test("of a withdrawn load are not returned, and the load is named", async () => {
    const { loadId } = await exclude([{ uei }]);
    await app.live.loads.updateOne({ _id: loadId }, { $set: { state: "withdrawn" } });
    expect(await record()).toMatchObject({ exclusions: [], exclusionsCutDate: "", withdrawnLoads: [loadId] });
  });

  test("are refused if a file has far fewer than the previous one, unless that is accepted", async () => {
    const many = Array.from({ length: 1_000 }, (_, index) => ({ cage: String(10_000 + index) }));
    await exclude([...many, { uei }]);
    const before = await everything();
    await expect(exclude(many.slice(0, 700), "2026-02-10")).rejects.toThrow(/has 700 rows, .* had 1001: it looks/);
    expect(await everything()).toBe(before);
    expect(await app.live.loads.countDocuments({ state: "done" })).toBe(1);
    expect((await exclude(many.slice(0, 900), "2026-02-10")).counts).toMatchObject({ rows: 900 });
    const accepted = await exclude(many.slice(0, 10), "2026-02-11", { acceptFewer: true });
    expect(accepted.counts).toMatchObject({ rows: 10 });
    expect(await app.live.exclusions.countDocuments({ ended_on: { $exists: false } })).toBe(10);
  });

  test("end after their last day, without a load", async () => {
    await load([{ 1: uei, 9: "20990101" }]);
    await exclude([{ uei, until: "2030-06-01" }]);
    app.clock.now = new Date("2030-06-02T03:59:59Z");
    expect((await find(uei)).samGov!.registrationStatus).toBe("debarred");
    app.clock.now = new Date("2030-06-02T04:00:00Z");
    expect((await find(uei)).samGov!.registrationStatus).toBe("active");
  });
});

describe("an exclusion that the extract flags", () => {
  const flagged = [{ 1: uei, 9: "20990101", 116: "D" }];
  const others = [{ cage: "9ZZZ9" }];
  const status = async () => (await find(uei)).samGov!.registrationStatus;
  const since = (day: string) => exclude([{ uei }, ...others], day);
  const without = (day: string) => exclude(others, day);

  test("ends for entities of the registry and of organizations when a newer exclusions file lacks it, with a snapshot", async () => {
    const { entity: own } = await app.gateway.createEntity({ caller, legalName: "Own", identifiers: { uei } });
    await load(flagged);
    await since("2026-09-07");
    expect(await status()).toBe("debarred");
    await without("2026-09-08");
    expect(await find(uei)).toMatchObject({ id: own!.id, samGov: { registrationStatus: "active" } });
    expect(await versions(own!.id)).toEqual([3, 2, 1]);
    const registry = await app.gateway.lookUp({ caller: callerFor("org_else"), identifiers: { uei } });
    expect(registry.entity).toMatchObject({
      samGov: { registrationStatus: "active" },
      sources: [{ name: "sam_gov_extract" }, { name: "sam_gov_exclusions", version: "exclusions_26251.csv" }],
    });
    await since("2026-09-09");
    expect(await status()).toBe("debarred");
  });

  test("has ended when the extract is loaded after the exclusions files that show it", async () => {
    await since("2026-09-07");
    await without("2026-09-08");
    await load(flagged);
    expect(await status()).toBe("active");
  });

  test("is in force again when a newer extract still flags it, even in the same row", async () => {
    await since("2026-09-07");
    await without("2026-09-08");
    await load(flagged);
    await load(flagged, { day: "13" });
    expect(await status()).toBe("debarred");
    expect((await load(flagged, { day: "20" })).counts).toMatchObject({ changed: 0, unchanged: 1 });
  });

  test("ends after the last day in the exclusions file", async () => {
    await load(flagged);
    await exclude([{ uei, until: "2030-06-01" }], "2026-09-07");
    app.clock.now = new Date("2030-06-02T03:59:59Z");
    expect(await status()).toBe("debarred");
    app.clock.now = new Date("2030-06-02T04:00:00Z");
    expect(await status()).toBe("active");
  });

  test("is in force if no exclusions file, or only an older one, shows its end", async () => {
    await since("2026-09-04");
    await without("2026-09-05");
    await load(flagged);
    expect(await status()).toBe("debarred");
    await without("2026-09-07");
    expect(await status()).toBe("debarred");
  });
});
