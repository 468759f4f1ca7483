import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { Vendor } from "@vvs/proto/entity/v1/vendors";
import type { Verification } from "@vvs/proto/verification/v1/verification";
import type { AppOptions } from "../app-options.ts";
import type { ScheduledRun } from "../confirmed/confirmation.ts";
import { noRuns, readScheduledRuns } from "../confirmed/read-confirmed.ts";
import type { Visit } from "../http/session.ts";
import { bounds, type Period } from "./period.ts";

/** A verification of a period, with its vendor where that is in the list. */
export interface ScreenedVerification {
  readonly verification: Verification;
  readonly vendor: Vendor | undefined;
  /** What scheduled checks made of the newest runs of its vendor's monitors until the end of the period. */
  readonly runs: readonly ScheduledRun[];
}

/** A vendor of the list, with the same. */
export interface ListedVendor {
  readonly vendor: Vendor;
  readonly runs: readonly ScheduledRun[];
}

const PAGE_SIZE = 100;

/** Reads what was verified in a period, and which vendors were not. */
export function createReadScreening(options: Pick<AppOptions, "verification" | "vendorList" | "monitors">) {
  const { verification, vendorList } = options;
  return {
    /** Yields the verifications of a period, newest first, in chunks of at most 100. */
    async *verifications({ caller }: Pick<Visit, "caller">, period: Period) {
      const { start, end } = bounds(period);
      const range = { from: timestampFromDate(start), before: timestampFromDate(end) };
      for (let after: object | undefined; ; ) {
        const page = { limit: PAGE_SIZE, ...(after && { after }) };
        const { verifications, next } = await verification.listVerifications({ caller, page, ...range });
        const entityIds = [...new Set(verifications.map(({ entityId }) => entityId))];
        const [{ vendors }, scheduled] = await Promise.all([
          entityIds.length > 0 ? vendorList.getVendors({ caller, entityIds }) : { vendors: [] },
          readScheduledRuns(options, { caller }, { entityIds, before: end }),
        ]);
        const byId = new Map(vendors.map((vendor) => [vendor.entity?.id, vendor]));
        yield verifications.map((each): ScreenedVerification => {
          const { entityId } = each;
          return { verification: each, vendor: byId.get(entityId), runs: scheduled.get(entityId) ?? noRuns };
        });
        if (!next) return;
        after = next;
      }
    },

    /** Yields all vendors of the list, by name, in chunks of at most 100. Archived ones are left out. */
    async *vendors({ caller }: Pick<Visit, "caller">, period: Period) {
      const { end } = bounds(period);
      for (let after: object | undefined; ; ) {
        const { vendors, next } = await vendorList.listVendors({ caller, limit: PAGE_SIZE, ...(after && { after }) });
        const entityIds = vendors.map(({ entity }) => entity?.id ?? "");
        const scheduled = await readScheduledRuns(options, { caller }, { entityIds, before: end });
        yield vendors.map(
          (vendor): ListedVendor => ({ vendor, runs: scheduled.get(vendor.entity?.id ?? "") ?? noRuns }),
        );
        if (!next) return;
        after = next;
      }
    },
  };
}
