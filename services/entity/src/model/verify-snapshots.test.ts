import { expect, test } from "@jest/globals";
import { startTestApplication } from "../testing/application.ts";
import { createLoads } from "../testing/loads.ts";
import { verifySnapshots } from "./verify-snapshots.ts";

const app = await startTestApplication();

const row = (name: string) => [{ 1: "ABCDEFGHJK51", 4: "5ABC1", 12: name }];

test("a change while chains are checked breaks none, and a chain without its newest version is broken", async () => {
  const loads = createLoads(app);
  await loads.load(row("FIRST LLC"));
  let changes = 0;
  // Each entity changes after it was read and before its snapshots are.
  async function* changedAfterRead() {
    for await (const entity of app.live.entities.find()) {
      await loads.load(row("SECOND LLC"), { day: "07" });
      changes++;
      yield entity;
    }
  }
  const { entities: stored } = app.live;
  const entities = Object.assign(Object.create(stored), {
    find: () => ({ project: changedAfterRead }),
    findOne: stored.findOne.bind(stored),
  });
  const faults: string[] = [];
  const verify = () => verifySnapshots({ ...app.live, entities }, undefined, (_, fault) => faults.push(fault));

  expect(await verify()).toEqual({ entities: 1, faults: 0 });
  expect([changes, await app.live.snapshots.countDocuments()]).toEqual([1, 2]);

  await app.live.snapshots.deleteOne({ version: 2 });
  expect(await verifySnapshots(app.live, undefined, (_, fault) => faults.push(fault))).toEqual({
    entities: 1,
    faults: 1,
  });
  expect(faults).toEqual(["the newest version is missing"]);
});
