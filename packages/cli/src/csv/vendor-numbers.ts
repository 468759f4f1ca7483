import { ApiError, type Client } from "@vendor-verification/client";
import type { Outcome } from "./journal.ts";
import type { Quota } from "./quota.ts";
import { callAll } from "./run.ts";

/** A row that gives a vendor a number, with what became of its verification; undefined where it was not verified. */
export interface NumberedRow {
  readonly vendorNumber?: string | undefined;
  readonly outcome: Outcome | undefined;
}

/**
 * Saves the organization's own numbers of the verified vendors, as `external_id`. Returns why it was not saved for each row,
 * empty where it was or there is nothing to save. The first row of a vendor counts. Repeatable. Throws errors that concern
 * all vendors.
 */
export async function saveVendorNumbers(options: {
  client: Pick<Client, "setExternalId">;
  quota: Pick<Quota, "ready" | "track">;
  rows: readonly NumberedRow[];
  parallel: number;
  signal: AbortSignal;
}): Promise<string[]> {
  const { client, rows, signal } = options;
  const numbers = new Map<string, string>();
  for (const row of rows) {
    const entityId = entityOf(row);
    if (entityId && row.vendorNumber && !numbers.has(entityId)) numbers.set(entityId, row.vendorNumber);
  }
  const refusals = new Map<string, string>();
  await callAll({ ...options, items: [...numbers] }, async ([entityId, number]) => {
    try {
      await client.setExternalId(entityId, number, { signal });
    } catch (error) {
      if (!(error instanceof ApiError) || ![400, 403, 404, 500].includes(error.status)) throw error;
      refusals.set(entityId, [error.code, error.details[0]?.message ?? error.message].join(": "));
    }
  });
  return rows.map((row) => {
    const entityId = entityOf(row);
    if (!entityId || !row.vendorNumber) return "";
    const number = numbers.get(entityId)!;
    if (number !== row.vendorNumber) return `not saved: an earlier row gives this vendor the number ${number}`;
    return refusals.get(entityId) ?? "";
  });
}

const entityOf = ({ outcome }: NumberedRow) =>
  outcome && "verification" in outcome ? outcome.verification.entity_id : undefined;
