import { describe, expect, test } from "@jest/globals";
import type { EntityDocument } from "./model/documents.ts";
import { createSeenEntities } from "./seen-entities.ts";
import { entityDocument } from "./testing/entity-document.ts";

const tenant = { organizationId: "org_1", environment: "live" } as const;
const sam = { sam_registered: true, listed_as: "active", expiration_date: "2099-01-01", excluded: false } as const;

async function statusAt(moment: string, fields: Partial<EntityDocument>): Promise<string | undefined> {
  const store = { rememberedOf: async () => new Map() };
  const seen = createSeenEntities({ store, now: () => new Date(moment) });
  return (await seen(tenant, [entityDocument({ sam, ...fields })]))[0]!.samGov.registrationStatus;
}

describe("the status that is shown changes at midnight in Washington", () => {
  test.each([
    ["in winter", "2026-11-24", "2026-11-25T04:59:59.999Z", "2026-11-25T05:00:00Z"],
    ["in summer", "2026-07-31", "2026-08-01T03:59:59.999Z", "2026-08-01T04:00:00Z"],
    ["where clocks are set back", "2026-11-01", "2026-11-02T04:59:59.999Z", "2026-11-02T05:00:00Z"],
    ["where clocks are set forward", "2027-03-14", "2027-03-15T03:59:59.999Z", "2027-03-15T04:00:00Z"],
    ["on a leap day", "2028-02-29", "2028-03-01T04:59:59.999Z", "2028-03-01T05:00:00Z"],
  ])("%s", async (_name, day, last, next) => {
    const ends = { exclusions: [{ active_date: "2020-01-01", termination_date: day }] };
    const begins = { exclusions: [{ active_date: next.slice(0, 10) }] };
    const at = async (moment: string) => [
      await statusAt(moment, { sam: { ...sam, expiration_date: day } }),
      await statusAt(moment, ends),
      await statusAt(moment, begins),
    ];
    for (const moment of [`${day}T23:00:00Z`, `${next.slice(0, 10)}T01:30:00Z`, last])
      expect(await at(moment)).toEqual(["active", "debarred", "active"]);
    expect(await at(next)).toEqual(["expired", "active", "debarred"]);
  });
});
