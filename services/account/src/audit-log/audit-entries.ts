import { timestampDate, timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { ListAuditEntriesRequest } from "@vvs/proto/account/v1/audit_log";
import type { Position } from "@vvs/proto/common/v1/common";
import type { CallerContext } from "@vvs/tenant";
import { type Filter, ObjectId, type WithId } from "mongodb";
import { ownerOf } from "../members/membership.ts";
import { invalid } from "../refusals.ts";
import type { AccountStore, AuditDocument } from "../store.ts";

/** How long entries are kept, and the email addresses of former members that they refer to. */
export const AUDIT_KEPT_DAYS = 2_557;
const MAX_LIMIT = 100;

/** An entry with the email addresses of the users it refers to, if any. */
export interface ReadableEntry {
  readonly entry: WithId<AuditDocument>;
  readonly actorEmail?: string;
  readonly targetEmail?: string;
}

/** Reads the audit log. */
export function createAuditEntries({ store }: { store: AccountStore }) {
  /** Returns the email addresses of users of an organization, including former ones. */
  async function emailsOf(organizationId: string, ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
    const filter = { _id: { $in: [...ids] }, organization_id: organizationId };
    const found = await Promise.all([
      store.users.find(filter, { projection: { email: 1 } }).toArray(),
      store.formerMembers.find(filter).toArray(),
    ]);
    return new Map(found.flat().map(({ _id, email }) => [_id, email]));
  }

  return {
    /**
     * Returns a page of the audit log of the caller's organization, newest first. The caller must be an owner.
     * Errors: forbidden, invalid_request.
     */
    async list(caller: CallerContext, query: ListAuditEntriesRequest) {
      await ownerOf(store, caller);
      const { organizationId } = caller.tenant;
      const limit = query.page?.limit ?? 0;
      if (limit < 1 || limit > MAX_LIMIT) throw invalid("limit", `must be 1–${MAX_LIMIT}`);
      const found = await store.auditLog
        .find(filterOf(organizationId, query))
        .sort({ at: -1, _id: -1 })
        .limit(limit + 1)
        .toArray();
      const page = found.slice(0, limit);
      const last = found.length > limit ? page.at(-1) : undefined;
      const ids = page.flatMap(({ actor, target }) => [actor, target]).filter((id) => id.startsWith("usr_"));
      const emails = await emailsOf(organizationId, ids);
      const entries = page.map((entry): ReadableEntry => {
        return { entry, actorEmail: emails.get(entry.actor), targetEmail: emails.get(entry.target) };
      });
      return { entries, next: last && { createdAt: timestampFromDate(last.at), id: last._id.toHexString() } };
    },
  };
}

function filterOf(organizationId: string, query: ListAuditEntriesRequest): Filter<AuditDocument> {
  const { actor, action, from, to, page } = query;
  return {
    organization_id: organizationId,
    ...(actor && { actor }),
    ...(action && { action }),
    $and: [
      from ? { at: { $gte: timestampDate(from) } } : {},
      to ? { at: { $lt: timestampDate(to) } } : {},
      page?.after ? beyond(page.after) : {},
    ],
  };
}

function beyond({ createdAt, id }: Position): Filter<AuditDocument> {
  if (!createdAt || !/^[0-9a-f]{24}$/.test(id)) throw invalid("after", "is not a position in the log");
  const at = timestampDate(createdAt);
  // The first condition is redundant, but bounds the index: without it each page is read from the log's beginning.
  return { at: { $lte: at }, $or: [{ at: { $lt: at } }, { _id: { $lt: new ObjectId(id) } }] };
}
