import { expect, test } from "@jest/globals";
import { entityDocument } from "../testing/entity-document.ts";
import { type ProviderFacts, withFacts } from "./provider-update.ts";

const own = entityDocument({
  organization_id: "org_1",
  listed: undefined,
  sources: [{ name: "organization", retrieved_at: new Date("2026-05-01T00:00:00Z") }],
});
const status = (registrationStatus: string): ProviderFacts => ({
  provider: "sam_gov_extract",
  retrievedAt: new Date("2026-05-02T00:00:00Z"),
  registrationStatus,
  legalName: "",
  cage: "",
  expirationDate: "",
  entityType: "",
});

test("a loaded exclusion that a provider repeats is not taken over: it ends with the exclusion", () => {
  const excluded = { ...own, exclusions: [{ termination_date: "indefinite" as const }] };
  expect(withFacts(excluded, status("debarred"))).toBeUndefined();
});

test("an exclusion that only the provider knows is taken over", () => {
  expect(withFacts(own, status("debarred"))).toMatchObject({ sam: { excluded: true } });
});

test("a status that the entity already has changes nothing, any other fact does", () => {
  expect(withFacts(own, status("inactive"))).toBeUndefined();
  expect(withFacts(own, { ...status("inactive"), cage: "1ABC2" })).toMatchObject({ sam: { cage: "1ABC2" } });
});
