import { expect, test } from "@jest/globals";
import { createOwnerShares } from "./owner-shares.ts";

const entity = (owner: string | null, names = 1) => ({ id: "ent_1", owner, names: Array<string>(names).fill("Acme") });

test("an organization's names beyond its share are left out; other organizations' and the registry's are not", () => {
  const shares = createOwnerShares({ most: 3 });
  expect([shares.admits(entity("org_a", 2)), shares.isExceeded("org_a")]).toEqual([true, false]);
  expect([shares.admits(entity("org_a", 2)), shares.isExceeded("org_a")]).toEqual([false, true]);
  expect([shares.admits(entity("org_b")), shares.isExceeded("org_b")]).toEqual([true, false]);
  for (let count = 0; count < 10; count++) expect(shares.admits(entity(null))).toBe(true);
  expect(shares.sizes()).toEqual({ total: 3, largest: 2 });
});
