import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { MATCH_VERSION } from "./match-keys.ts";
import { rekey } from "./rekey.ts";
import { callerFor, startTestApplication, type TestApplication } from "./test-application.ts";

let app: TestApplication;
beforeAll(async () => {
  app = await startTestApplication(process.env.MONGODB_URI!);
});
afterAll(() => app.stop());

const caller = callerFor("org_rekey");
const find = (legalName: string) => app.gateway.lookUp({ caller, legalName });

test("keys that older rules made are made anew, and nothing else of the entity; then there is nothing to do", async () => {
  const names = ["Quarrystone Paving LLC", "Umbria Glassworks Inc", "Tremont Foundry"];
  for (const legalName of names) await app.gateway.createEntity({ caller, legalName, identifiers: {} });
  const before = await app.live.entities.find().sort({ _id: 1 }).toArray();
  expect(before.every(({ match_version }) => match_version === MATCH_VERSION)).toBe(true);
  const outdated = { name_keys: ["n:old"], candidate_keys: ["t:old"] };
  await app.live.entities.updateOne({ legal_name: names[0] }, { $set: { ...outdated, match_version: 0 } });
  await app.live.entities.updateOne({ legal_name: names[1] }, { $set: outdated, $unset: { match_version: "" } });
  await expect(find(names[0]!)).rejects.toMatchObject({ code: "entity_not_found" });

  expect(await rekey(app.live)).toBe(2);
  expect(await app.live.entities.find().sort({ _id: 1 }).toArray()).toEqual(before);
  expect((await find(names[0]!)).entity?.legalName).toBe(names[0]);
  expect(await rekey(app.live)).toBe(0);
});
