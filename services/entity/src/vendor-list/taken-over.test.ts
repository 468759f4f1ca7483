import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { expect, test } from "@jest/globals";
import { newId } from "@vvs/ids";
import { CheckStatus, CheckType } from "@vvs/proto/common/v1/common";
import { VendorFilter } from "@vvs/proto/entity/v1/vendors";
import { MonitorStateChangedSchema, VerificationCompletedSchema } from "@vvs/proto/events/v1/events";
import { migrate } from "../migrate.ts";
import { callerFor, startTestApplication } from "../testing/application.ts";
import { createLoads } from "../testing/loads.ts";
import { newVendor, noteMonitors, vendorKey } from "./listed-vendor.ts";
import { createVendorRecords } from "./vendor-records.ts";
import { createVendorStore } from "./vendor-store.ts";

const uei = "ABCDEFGHJK71";
const cage = "9ZZZ9";
const app = await startTestApplication();
const loads = createLoads(app);

/** An organization's own entity, and a registry entity that gets the CAGE of the own one only by `takeOver`. */
async function prepare() {
  await loads.clear();
  await loads.load([{ 1: uei, 4: "1AAA1" }]);
  const caller = callerFor("org_1");
  const { tenant } = caller;
  const request = { caller, legalName: "Own LLC", identifiers: { cage }, externalId: "V-1" };
  const ownId = (await app.gateway.createEntity(request)).entity!.id;
  const registryId = (await app.gateway.lookUp({ caller, identifiers: { uei } })).entity!.id;
  const verified = (entityId: string, day: number, checkType: CheckType, status: CheckStatus) => () =>
    app.records.live.verificationCompleted(
      create(VerificationCompletedSchema, {
        ...{ verificationId: `ver_${day}`, tenant, entityId, overallResult: status },
        checks: [{ checkType, status, facts: { expiration_date: `2027-01-0${day}` } }],
        createdAt: timestampFromDate(new Date(Date.UTC(2026, 0, day))),
      }),
    );
  const state = (entityId: string, monitorId = newId("mon")) =>
    create(MonitorStateChangedSchema, { recordId: monitorId, tenant, monitorId, entityId, active: true });
  const monitored = (entityId: string) => {
    const record = state(entityId);
    return () => app.records.live.monitorStateChanged(record);
  };
  const list = async (filter = VendorFilter.UNSPECIFIED) =>
    (await app.dashboard.listVendors({ caller, limit: 100, filter })).vendors;
  return {
    ...{ caller, ownId, registryId, verified, state, monitored, list },
    tenant: { organizationId: tenant.organizationId, environment: "live" } as const,
    takeOver: () => loads.load([{ 1: uei, 4: cage }], { day: "13" }),
    archive: (entityId: string, archived = true) => app.dashboard.setVendorArchived({ caller, entityId, archived }),
    /** Expects one vendor, under either id, with these fields. */
    async expectOne(fields: object, filter?: VendorFilter) {
      const listed = await list(filter);
      expect(listed).toMatchObject([{ entity: { id: ownId, externalId: "V-1" }, ...fields }]);
      expect(listed).toHaveLength(1);
      for (const entityIds of [[ownId], [registryId], [ownId, registryId]]) {
        expect((await app.dashboard.getVendors({ caller, entityIds })).vendors).toEqual(listed);
      }
    },
  };
}

const { SAM_REGISTRATION, TIN_MATCH } = CheckType;
const { PASS, FAIL } = CheckStatus;

test("an own entity that takes a registry entity over is one vendor with all that both had, whichever records come before", async () => {
  // None, all, only one of them, all but one: which of the records below are handled before the takeover.
  const singles = Array.from({ length: 6 }, (_, index) => 1 << index);
  for (const before of [0, 63, ...singles, ...singles.map((single) => 63 - single)]) {
    const { ownId, registryId, verified, monitored, takeOver, expectOne } = await prepare();
    const records = [
      verified(registryId, 1, TIN_MATCH, FAIL),
      verified(ownId, 2, SAM_REGISTRATION, FAIL),
      verified(registryId, 3, SAM_REGISTRATION, PASS),
      verified(ownId, 4, TIN_MATCH, PASS),
      monitored(ownId),
      monitored(registryId),
    ];
    const isBefore = (index: number) => (before & (1 << index)) !== 0;
    for (const [index, record] of records.entries()) if (isBefore(index)) await record();
    await takeOver();
    for (const [index, record] of records.entries()) if (!isBefore(index)) await record();
    await expectOne({
      activeMonitors: 2,
      expirationDate: "2027-01-03",
      lastCheckedAt: timestampFromDate(new Date(Date.UTC(2026, 0, 4))),
      checks: [
        { checkType: SAM_REGISTRATION, status: PASS, verificationId: "ver_3" },
        { checkType: TIN_MATCH, status: PASS, verificationId: "ver_4" },
      ],
    });
  }
});

test.each([
  ["the own one", [true, false], false],
  ["the registry's", [false, true], false],
  ["both", [true, true], true],
])(
  "of two archived vendors that become one, it is in the archive only if both were: %s",
  async (_name, archived, expected) => {
    const { ownId, registryId, verified, archive, takeOver, expectOne } = await prepare();
    await verified(registryId, 1, SAM_REGISTRATION, PASS)();
    for (const [index, id] of [ownId, registryId].entries()) if (archived[index]) await archive(id);
    await takeOver();
    await expectOne({ archived: expected }, expected ? VendorFilter.ARCHIVED : undefined);
    await archive(registryId, !expected);
    await expectOne({ archived: !expected }, expected ? undefined : VendorFilter.ARCHIVED);
  },
);

test("a registry entity that is taken over while it is added to the list is not added", async () => {
  const { tenant, registryId, takeOver, expectOne } = await prepare();
  const update = { tenant, entityId: registryId, change: noteMonitors(3) };
  await createVendorStore({ collections: app }).update("live", [update], async () => {
    await takeOver();
    return [newVendor(tenant, registryId, "Own LLC")];
  });
  await expectOne({ activeMonitors: 3 });
});

test("all monitors are counted where the registry entity is taken over between the count and the write", async () => {
  const { ownId, registryId, monitored, state, takeOver, expectOne } = await prepare();
  await monitored(ownId)();
  const vendors = createVendorStore({ collections: app });
  let isTaken = false;
  const records = createVendorRecords({
    environment: "live",
    entities: app.live.entities,
    vendors: {
      ...vendors,
      async countMonitors(...given) {
        const counted = await vendors.countMonitors(...given);
        if (!isTaken) await takeOver();
        isTaken = true;
        return counted;
      },
    },
  });
  await records.monitorStateChanged(state(registryId));
  await expectOne({ activeMonitors: 2 });
});

test("a migration makes one vendor of two that an older version left", async () => {
  const { tenant, ownId, registryId, verified, monitored, takeOver, expectOne } = await prepare();
  const rows = async () => app.live.vendors.find({ organization_id: tenant.organizationId }).toArray();
  await verified(registryId, 1, SAM_REGISTRATION, PASS)();
  await monitored(registryId)();
  const before = await rows();
  expect(before.map(({ _id }) => _id).sort()).toEqual([ownId, registryId].map((id) => vendorKey("org_1", id)).sort());
  await takeOver();
  await app.live.vendors.deleteMany({});
  await app.live.vendors.insertMany(before);
  await migrate(app);
  await expectOne({ activeMonitors: 1, checks: [{ verificationId: "ver_1" }] });
  const after = await rows();
  await migrate(app);
  expect(await rows()).toEqual(after);
});
