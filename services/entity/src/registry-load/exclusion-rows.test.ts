import { afterAll, beforeAll, beforeEach, expect, test } from "@jest/globals";
import { callerFor, startTestApplication, type TestApplication } from "../testing/application.ts";
import { createLoads } from "../testing/loads.ts";

let app: TestApplication;
let loads: ReturnType<typeof createLoads>;
beforeAll(async () => {
  app = await startTestApplication(process.env.MONGODB_URI!);
  loads = createLoads(app);
});
beforeEach(() => loads.clear());
afterAll(() => app.stop());

const caller = callerFor("org_rows");
const uei = "ABCDEFGHJK51";
const PRODUCTS = "Section 889. The entity is not itself excluded.";
const statusOf = async (by = uei) =>
  (await app.gateway.lookUp({ caller, identifiers: { uei: by } })).entity!.samGov!.registrationStatus;
const record = () => app.verification.getRegistryRecord({ environment: 1, uei });

test("a row that limits only products debars nobody, and is returned with its comment, after graver ones", async () => {
  await loads.load([{ 1: uei, 116: "D" }]);
  const products = { uei, comment: PRODUCTS };
  await loads.exclude([products], "2026-09-07");
  expect(await statusOf()).toBe("active");
  expect((await record()).exclusions).toMatchObject([{ effect: "product", comment: PRODUCTS }]);
  await loads.exclude([products, { uei, agency: "EPA", comment: "This Facility Only." }], "2026-09-08");
  expect(await statusOf()).toBe("debarred");
  expect((await record()).exclusions).toMatchObject([{ effect: "facility" }, { effect: "product" }]);
});

test("a row that can't be read debars until a readable file says otherwise", async () => {
  await loads.load([{ 1: uei }]);
  const others = [{ cage: "1ZZZ1" }, { cage: "1ZZZ2" }];
  const report = await loads.exclude([...others, { uei, until: "99/99/2020" }], "2026-09-07");
  expect(report.counts).toMatchObject({ rows: 2, quarantined: 1, new: 3 });
  expect(await statusOf()).toBe("debarred");
  expect((await record()).exclusions).toMatchObject([{ effect: "bar", terminationDate: "indefinite" }]);
  await loads.exclude([...others, { uei, until: "2026-09-07" }], "2026-09-08");
  expect(await statusOf()).toBe("active");
});

test("a row that was stored before its effect was known excludes", async () => {
  await loads.load([{ 1: uei }]);
  await loads.exclude([{ uei }], "2026-09-07");
  await app.live.exclusions.updateMany({}, { $unset: { effect: "", comment: "" } });
  expect((await record()).exclusions).toMatchObject([{ effect: "", comment: "" }]);
  expect(await statusOf()).toBe("debarred");
});
