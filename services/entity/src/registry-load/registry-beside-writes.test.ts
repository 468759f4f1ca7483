import { afterAll, expect, test } from "@jest/globals";
import { verifySnapshots } from "../model/verify-snapshots.ts";
import { callerFor, startTestApplication, type TestApplication } from "../testing/application.ts";
import { commitInOrder, commitOrders, createLoads, pausingCommit, pausingTransaction } from "../testing/loads.ts";

const app = await startTestApplication();
const loads = createLoads(app);
afterAll(() => app.stop());

const caller = callerFor("org_load");
const uei = "ABCDEFGHJK51";
const cage = "5ABC1";
const rows = [{ 1: uei, 4: cage, 12: "LOADED LLC" }];
type Service = Awaited<ReturnType<TestApplication["serve"]>>;

const writes: Record<string, (by: Service) => Promise<unknown>> = {
  "a creation with the UEI": ({ gateway }) => gateway.createEntity({ caller, legalName: "Own", identifiers: { uei } }),
  "a creation with the CAGE only": ({ gateway }) =>
    gateway.createEntity({ caller, legalName: "Own", identifiers: { cage } }),
  "a verification with the CAGE only": ({ verification }) =>
    verification.resolveVendor({ caller, identifiers: { cage } }),
};

test.each(Object.entries(writes))(
  "%s during a load of the same identifiers leaves one entity with the registry's facts, in any order of commits",
  async (_, write) => {
    await loads.clear();
    const undisturbed = pausingTransaction(app, Number.POSITIVE_INFINITY);
    await loads.load(rows, undisturbed.given);
    for (let step = 0; step < undisturbed.transactions(); step++) {
      for (const order of commitOrders) {
        await loads.clear();
        const loader = pausingTransaction(app, step);
        const loading = loads.load(rows, loader.given);
        loader.commit();
        await loader.beginning;
        const writer = pausingCommit(app.client);
        const service = await app.serve({ ...app.rings, client: writer.client });
        const writing = write(service).catch((error: { code: string }) => expect(error.code).toBe("entity_exists"));
        await commitInOrder(order, { loader, loading }, { writer, writing });
        const namedBy = async (identifiers: { uei: string } | { cage: string }) =>
          (await service.gateway.lookUp({ caller, identifiers })).entity;
        const [byUei, byCage] = [await namedBy({ uei }), await namedBy({ cage })];
        expect({ step, order, id: byCage!.id, ...byUei!.samGov }).toMatchObject({ step, order, id: byUei!.id, cage });
        const waiting = { organization_id: "org_load", registry_entity_id: { $exists: false } };
        expect(await app.live.entities.countDocuments(waiting)).toBe(0);
        await service.stop();
      }
    }
    expect(await verifySnapshots(app.live, undefined, () => undefined)).toMatchObject({ faults: 0 });
  },
);
