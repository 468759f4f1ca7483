import { expect, test } from "@jest/globals";
import type { UnversionedEntity } from "../model/documents.ts";
import { entityDocument } from "../testing/entity-document.ts";
import { watchedEffect } from "./watched-effect.ts";

const now = new Date("2026-09-13T12:00:00Z");
const sam = {
  sam_registered: true,
  listed_as: "active",
  expiration_date: "2027-01-01",
  excluded: false,
  cage: "5ABC1",
  entity_type: "Corporate Entity",
} as const;
const entity: UnversionedEntity = entityDocument({ identifiers: { uei: "ABCDEFGHJK51", cage: "5ABC1" }, sam });
const until = (termination_date: string, active_date = "2026-01-01") => ({ active_date, termination_date });
const excluded = { ...entity, exclusions: [until("2026-12-31")] };
const withEffect = (effect: "facility" | "product") => ({ ...until("2026-12-31"), effect });
const flagged = { ...entity, sam: { ...sam, excluded: true } };

test.each<[string, UnversionedEntity, Partial<UnversionedEntity>, ReturnType<typeof watchedEffect>]>([
  ["nothing", entity, {}, undefined],
  [
    "an address",
    entity,
    { addresses: [{ type: "mailing", line1: "1", city: "", state: "", zip: "", country: "" }] },
    undefined,
  ],
  ["the file", entity, { sources: [{ name: "sam_gov_extract", retrieved_at: now }] }, undefined],
  ["another name", entity, { other_names: ["BRT"] }, undefined],
  ["the row's load", entity, { registry_row: { eft_indicator: "", hash: "x", load_id: "registry:1" } }, undefined],
  ["the legal name", entity, { legal_name: "BLUE RIDGE LUMBER LLC" }, "changed"],
  ["the expiration date", entity, { sam: { ...sam, expiration_date: "2028-01-01" } }, "changed"],
  ["the expiration date to a past one", entity, { sam: { ...sam, expiration_date: "2026-01-01" } }, "changed"],
  ["the CAGE", entity, { sam: { ...sam, cage: "5ABC2" } }, "changed"],
  ["the entity type", entity, { sam: { ...sam, entity_type: "Sole Proprietorship" } }, "changed"],
  ["active to inactive", entity, { sam: { ...sam, listed_as: "inactive" } }, "changed"],
  [
    "inactive to an id without a registration",
    { ...entity, sam: { ...sam, listed_as: "inactive" } },
    { sam: { ...sam, listed_as: "inactive", sam_registered: false } },
    "changed",
  ],
  ["the extract code under an exclusion", excluded, { sam: { ...sam, listed_as: "expired" } }, "changed"],
  ["listed again", { ...entity, listed: false }, { listed: true }, "changed"],
  ["without facts", entity, { sam: undefined }, "changed"],
  ["an exclusion", entity, excluded, "excluded"],
  ["an exclusion that begins later", entity, { exclusions: [until("2030-01-01", "2026-10-01")] }, "changed"],
  ["a second exclusion", excluded, { exclusions: [until("2026-12-31"), until("2027-12-31")] }, "changed"],
  [
    "the end of one of two exclusions",
    { ...entity, exclusions: [until("2026-12-31"), until("2027-12-31")] },
    excluded,
    "changed",
  ],
  ["an exclusion of products only", entity, { exclusions: [withEffect("product")] }, "changed"],
  ["an exclusion of all to one of a facility", excluded, { exclusions: [withEffect("facility")] }, "changed"],
  ["an exclusion of all to one of products", excluded, { exclusions: [withEffect("product")] }, "cleared"],
  ["an exclusion of products to one of all", { ...entity, exclusions: [withEffect("product")] }, excluded, "excluded"],
  ["the end of the exclusion", excluded, { exclusions: [] }, "cleared"],
  ["the registry's flag", entity, flagged, "excluded"],
  ["the registry's flag beside an exclusion", excluded, { ...excluded, sam: flagged.sam }, "changed"],
  ["the end of what the flag says", flagged, { flag_ended: true }, "cleared"],
])("the effect of a change of %s is known", (_, before, change, effect) => {
  expect(watchedEffect(before, { ...before, ...change }, "2026-09-13")).toBe(effect);
});
