import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { ServiceError } from "@vvs/errors";
import type { CallerContext } from "@vvs/tenant";
import { type Filter, ObjectId, type WithId } from "mongodb";
import { ownerOf } from "../organizations/membership.ts";
import type { AccountStore, AuditDocument } from "../store.ts";

/** How long entries are kept, and the names of the members that they tell of. */
export const AUDIT_KEPT_DAYS = 730;

/** Which entries are asked for; what is absent does not matter. */
export interface AuditQuery {
  readonly actor?: string;
  readonly action?: string;
  readonly from?: Date;
  /** Exclusive. */
  readonly to?: Date;
  /** 1–100. */
  readonly limit: number;
  /** Continue after this entry. */
  readonly after?: { readonly at: Date; readonly id: string };
}

/** An entry with the addresses of the users in it, where there are any. */
export interface ReadableEntry {
  readonly entry: WithId<AuditDocument>;
  readonly actorEmail?: string;
  readonly targetEmail?: string;
}

export interface AuditEntries {
  /** A page of the organization's audit log, newest first. The caller must be an owner. Errors: forbidden, invalid_request. */
  list(
    caller: CallerContext,
    query: AuditQuery,
  ): Promise<{
    entries: ReadableEntry[];
    next: { createdAt: ReturnType<typeof timestampFromDate>; id: string } | undefined;
  }>;
}

const MAX_LIMIT = 100;

export function createAuditEntries(options: { store: AccountStore }): AuditEntries {
  const { store } = options;

  /** The addresses of an organization's users, also of those who are none any more. */
  async function emailsOf(organizationId: string, ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
    const filter = { _id: { $in: [...ids] }, organization_id: organizationId };
    const found = await Promise.all([
      store.users.find(filter, { projection: { email: 1 } }).toArray(),
      store.formerMembers.find(filter).toArray(),
    ]);
    return new Map(found.flat().map(({ _id, email }) => [_id, email]));
  }

  return {
    async list(caller, query) {
      await ownerOf(store, caller);
      const { organizationId } = caller.tenant;
      if (query.limit < 1 || query.limit > MAX_LIMIT) throw refusal("limit", `must be 1–${MAX_LIMIT}`);
      const found = await store.auditLog
        .find(filterOf(organizationId, query))
        .sort({ at: -1, _id: -1 })
        .limit(query.limit + 1)
        .toArray();
      const entries = found.slice(0, query.limit);
      const last = found.length > query.limit ? entries.at(-1) : undefined;
      const ids = new Set(entries.flatMap(({ actor, target }) => [actor, target]));
      const emails = await emailsOf(
        organizationId,
        [...ids].filter((id) => id.startsWith("usr_")),
      );
      return {
        entries: entries.map((entry) => ({
          entry,
          actorEmail: emails.get(entry.actor),
          targetEmail: emails.get(entry.target),
        })),
        next: last && { createdAt: timestampFromDate(last.at), id: last._id.toHexString() },
      };
    },
  };
}

function filterOf(organizationId: string, query: AuditQuery): Filter<AuditDocument> {
  const { actor, action, from, to, after } = query;
  return {
    organization_id: organizationId,
    ...(actor && { actor }),
    ...(action && { action }),
    $and: [from ? { at: { $gte: from } } : {}, to ? { at: { $lt: to } } : {}, after ? beyond(after) : {}],
  };
}

function beyond({ at, id }: NonNullable<AuditQuery["after"]>): Filter<AuditDocument> {
  if (!/^[0-9a-f]{24}$/.test(id)) throw refusal("after", "names no place in the log");
  // The first condition says nothing new, but bounds the index: without it each page is read from the log's beginning.
  return { at: { $lte: at }, $or: [{ at: { $lt: at } }, { _id: { $lt: new ObjectId(id) } }] };
}

function refusal(path: string, message: string): ServiceError {
  return new ServiceError("invalid_request", { details: [{ path, message }] });
}
