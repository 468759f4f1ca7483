import { timestampDate } from "@bufbuild/protobuf/wkt";
import { findPage } from "@vvs/mongo";
import type { ListAuditEntriesRequest } from "@vvs/proto/account/v1/audit_log";
import type { CallerContext } from "@vvs/tenant";
import { type Filter, ObjectId, type WithId } from "mongodb";
import { ownerOf } from "../members/membership.ts";
import { invalid } from "../refusals.ts";
import type { AccountStore, AuditDocument } from "../store.ts";

/** How long entries are kept, and the email addresses of former members that they refer to. */
export const AUDIT_KEPT_DAYS = 2_557;

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
      const filter = filterOf(organizationId, query);
      const { items, next } = await findPage(store.auditLog, filter, query.page, { time: "at", idOf });
      const ids = items.flatMap(({ actor, target }) => [actor, target]).filter((id) => id.startsWith("usr_"));
      const emails = await emailsOf(organizationId, ids);
      const entries = items.map((entry): ReadableEntry => {
        return { entry, actorEmail: emails.get(entry.actor), targetEmail: emails.get(entry.target) };
      });
      return { entries, next };
    },
  };
}

function filterOf(organizationId: string, { actor, action, from, to }: ListAuditEntriesRequest): Filter<AuditDocument> {
  return {
    organization_id: organizationId,
    ...(actor && { actor }),
    ...(action && { action }),
    ...((from ?? to) && { at: { ...(from && { $gte: timestampDate(from) }), ...(to && { $lt: timestampDate(to) }) } }),
  };
}

/** Errors: invalid_request. */
function idOf(id: string): ObjectId {
  if (!/^[0-9a-f]{24}$/.test(id)) throw invalid("after", "must be a position in the list");
  return new ObjectId(id);
}
