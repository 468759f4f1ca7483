import { ServiceError } from "@vvs/errors";
import type { Tenant } from "@vvs/tenant";
import type { Db } from "mongodb";
import { collections } from "../store.ts";

/** Maximum number of events returned by one read. */
const MAX_LIMIT = 100;

/** Reads the events of one environment forward. */
export function createEventReader({ db }: { db: Db }) {
  const { events, eventPositions } = collections(db);

  /** Returns the highest position assigned so far. */
  async function newest(organizationId: string, atLeast: number): Promise<number> {
    const last = (await eventPositions.findOne({ _id: organizationId }))?.last ?? 0;
    if (atLeast <= last) return last;
    // A MongoDB member that has just lost its primary role may lag behind, so read once more from a confirmed primary.
    const options = { readConcern: { level: "linearizable" }, maxTimeMS: 5_000 } as const;
    return (await eventPositions.findOne({ _id: organizationId }, options))?.last ?? 0;
  }

  return {
    /** Returns the position of the organization's newest numbered event, 0 without one. */
    end: ({ organizationId }: Tenant): Promise<number> => newest(organizationId, 0),

    /**
     * Returns the organization's events after a position, oldest first, in the order in which they were stored; undefined
     * begins at the oldest stored event. Also returns the position of the last event; without events, that of the request.
     * Only numbered events are returned. They become visible in the order of their numbers, so a reader never skips one.
     * Errors: invalid_request (the limit; a position that was never assigned), cursor_expired (events after the position
     * are no longer stored).
     */
    async after({ organizationId }: Tenant, position: number | undefined, limit: number) {
      if (limit < 1 || limit > MAX_LIMIT) throw invalid("limit", `must be between 1 and ${MAX_LIMIT}`);
      const last = await newest(organizationId, position ?? 0);
      const found = await events
        .find({ organization_id: organizationId, position: { $gt: position ?? 0 } })
        .sort({ position: 1 })
        .limit(limit)
        .toArray();
      if (position !== undefined) {
        if (position > last)
          throw invalid("after", "is not a cursor of this list: send start, or the next_cursor of an earlier answer");
        // Positions have no gaps, so a missing event is no longer stored.
        if (found.length === 0 ? position < last : found[0]!.position! > position + 1) {
          throw new ServiceError("cursor_expired");
        }
      }
      return { events: found, position: found.at(-1)?.position ?? position ?? last };
    },
  };
}

function invalid(path: string, message: string): ServiceError {
  return new ServiceError("invalid_request", { details: [{ path, message }] });
}
