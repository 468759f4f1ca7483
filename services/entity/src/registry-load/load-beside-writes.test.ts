import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { describe, expect, test } from "@jest/globals";
import { registryDay } from "@vvs/registration";
import { concerns, periodsOf } from "../model/exclusions.ts";
import { verifySnapshots } from "../model/verify-snapshots.ts";
import { callerFor, startTestApplication } from "../testing/application.ts";
import { createLoads, inEveryOrder, killedAt, type Service } from "../testing/loads.ts";
import type { ExclusionOf } from "./testing/registry-files.ts";

const app = await startTestApplication();
const loads = createLoads(app);

const caller = callerFor("org_load");
const uei = "ABCDEFGHJK51";
const cage = "5ABC1";
const other = { uei: "ABCDEFGHJK52" };

/** Writes that leave an own entity with the UEI or the CAGE; `before` runs before the load. */
const writes: Record<string, { before?: (by: Service) => Promise<unknown>; write: (by: Service) => Promise<unknown> }> =
  {
    "a creation with a UEI": {
      write: ({ gateway }) => gateway.createEntity({ caller, legalName: "Own", identifiers: { uei } }),
    },
    "a verification that adds the CAGE": {
      before: ({ gateway }) => gateway.createEntity({ caller, legalName: "Own", identifiers: { duns: "123456789" } }),
      write: ({ verification }) => verification.resolveVendor({ caller, identifiers: { cage, duns: "123456789" } }),
    },
    "a provider's answer": {
      before: ({ gateway }) => gateway.createEntity({ caller, legalName: "Own", identifiers: { uei } }),
      async write({ gateway, verification }) {
        const { entity } = await gateway.lookUp({ caller, identifiers: { uei } });
        await verification.updateFromProvider({
          caller,
          entityId: entity!.id,
          provider: "sam_gov",
          retrievedAt: timestampFromDate(new Date()),
          registrationStatus: "inactive",
          legalName: "Own by its provider",
        });
      },
    },
  };

const both: ExclusionOf[] = [{ uei }, { cage }];
const files: Record<string, readonly [before: ExclusionOf[], after: ExclusionOf[], excluded: boolean]> = {
  "ends its exclusions": [[...both, other], [other], false],
  "begins its exclusions": [[other], [...both, other], true],
  "replaces its exclusions": [[...both, other], [{ uei, cage, until: "2099-01-01" }, other], true],
};

test("an exclusion that a killed load ended also ends for entities when a newer file is loaded", async () => {
  await loads.clear();
  await loads.exclude([{ uei }, other]);
  const { entity } = await app.gateway.createEntity({ caller, legalName: "Own", identifiers: { uei } });
  const goOn = await killedAt(app, 3, (given) => loads.exclude([other], "2026-02-10", given));
  expect(await app.live.exclusions.findOne({ uei })).toMatchObject({ ended_on: "2026-02-10" });
  await loads.expireLock();
  await loads.exclude([other, { cage: "9ZZZ9" }], "2026-02-20");
  await goOn();
  const { entity: seen } = await app.gateway.getEntity({ caller, entityId: entity!.id });
  expect(seen!.samGov!.registrationStatus).toBe("inactive");
});

describe.each(Object.entries(writes))("%s during a load of exclusions", (_, { before, write }) => {
  test.each(Object.entries(files))(
    "that %s leaves the entity as in the newest file, in any order of commits",
    async (_, [old, now, excluded]) => {
      await inEveryOrder(app, {
        async before() {
          app.clock.now = new Date();
          await loads.clear();
          await app.databases.live.collection("idempotency_keys").deleteMany({});
          await loads.exclude(old);
          await before?.(app);
        },
        load: (given) => loads.exclude(now, "2026-02-10", given),
        write,
        async after(run, { gateway }) {
          const [entity] = await app.live.entities.find({ organization_id: "org_load" }).toArray();
          const { entity: seen } = await gateway.getEntity({ caller, entityId: entity!._id });
          const status = seen!.samGov!.registrationStatus;
          expect({ ...run, status }).toEqual({ ...run, status: excluded ? "debarred" : "inactive" });
          const rows = await app.live.exclusions
            .find({ ended_by: { $exists: false }, $or: [{ uei }, { cage }] })
            .toArray();
          const concerning = rows.filter((row) => concerns(row, entity!.identifiers));
          expect(entity!.exclusions).toEqual(periodsOf(concerning, registryDay(app.clock.now)));
        },
      });
      expect(await verifySnapshots(app.live, undefined, () => undefined)).toMatchObject({ faults: 0 });
    },
  );
});

test.each<[string, (by: Service) => Promise<unknown>]>([
  [
    "a creation with the UEI",
    ({ gateway }) => gateway.createEntity({ caller, legalName: "Own", identifiers: { uei } }),
  ],
  [
    "a creation with the CAGE only",
    ({ gateway }) => gateway.createEntity({ caller, legalName: "Own", identifiers: { cage } }),
  ],
  [
    "a verification with the CAGE only",
    ({ verification }) => verification.resolveVendor({ caller, identifiers: { cage } }),
  ],
])(
  "%s during a load of the same identifiers leaves one entity with the registry's facts, in any order of commits",
  async (_, write) => {
    await inEveryOrder(app, {
      before: () => loads.clear(),
      load: (given) => loads.load([{ 1: uei, 4: cage, 12: "LOADED LLC" }], given),
      write: (by) => write(by).catch((error: { code: string }) => expect(error.code).toBe("entity_exists")),
      async after(run, { gateway }) {
        const namedBy = async (identifiers: { uei: string } | { cage: string }) =>
          (await gateway.lookUp({ caller, identifiers })).entity;
        const [byUei, byCage] = [await namedBy({ uei }), await namedBy({ cage })];
        expect({ ...run, id: byCage!.id, ...byUei!.samGov }).toMatchObject({ ...run, id: byUei!.id, cage });
        const waiting = { organization_id: "org_load", registry_entity_id: { $exists: false } };
        expect(await app.live.entities.countDocuments(waiting)).toBe(0);
      },
    });
    expect(await verifySnapshots(app.live, undefined, () => undefined)).toMatchObject({ faults: 0 });
  },
);
