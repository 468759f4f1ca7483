import { ServiceError } from "@vvs/errors";
import { maskTins } from "@vvs/identifiers";
import type { CallerContext } from "@vvs/tenant";
import type { MongoClient } from "mongodb";
import type { AccountStore } from "../store.ts";
import { type AuditLog, entryIdOf, type ReportedAction, reportedActions } from "./audit.ts";

const MAX_DETAILS = 10;
/** Maximum length of a text: enough for a host name, which has up to 253 characters. Longer details are cut. */
const MAX_CHARACTERS = 300;

/** An action that another service reports. */
export interface ReportedEntry {
  /** Name of that service. */
  readonly reporter: string;
  readonly action: string;
  readonly target: string;
  readonly details: Readonly<Record<string, string>>;
  /** Only where the entry may be sent again. */
  readonly known?: {
    /** Unique within the organization and environment. */
    readonly entryId: string;
    readonly at: Date;
    /** Set where the entry stands for several actions: their number so far, and the time of the last one. */
    readonly counted?: { readonly count: number; readonly lastAt: Date } | undefined;
  };
}

/** Records actions that users and API keys take in other services. */
export function createReportedActions({
  client,
  store,
  audit,
}: {
  client: MongoClient;
  store: AccountStore;
  audit: AuditLog;
}) {
  return {
    /** Errors: invalid_request. */
    async append(caller: CallerContext, entry: ReportedEntry): Promise<void> {
      const { reporter, action, target, known } = entry;
      // A reporter can't mend an entry, and would report it for ever.
      const details = Object.fromEntries(
        Object.entries(entry.details).map(([name, text]) => [name, maskTins(text).slice(0, MAX_CHARACTERS)]),
      );
      const actions: readonly string[] = reportedActions[reporter as keyof typeof reportedActions] ?? [];
      const isKnown = actions.includes(action);
      const texts = [target, ...Object.keys(details)];
      const isBounded =
        Object.keys(details).length <= MAX_DETAILS && texts.every((text) => text.length <= MAX_CHARACTERS);
      if (!isKnown || !isBounded || target === "") {
        throw new ServiceError("invalid_request", { message: "This service cannot report this action." });
      }
      const { organizationId, environment } = caller.tenant;
      if (!known) {
        const appended = { action: action as ReportedAction, organizationId, environment, target, details };
        return client.withSession((session) => audit.append(session, caller, appended));
      }
      const { actor, requestId, clientAddress } = caller;
      const { at, counted } = known;
      const described = { organization_id: organizationId, environment, actor, action, target, at };
      const $setOnInsert = {
        ...described,
        ...(requestId && { request_id: requestId }),
        ...(clientAddress && { client_address: clientAddress }),
        ...(!counted && Object.keys(details).length > 0 && { details }),
      };
      // ISO times sort as texts.
      const $max = counted && { "details.count": counted.count, "details.last_at": counted.lastAt.toISOString() };
      const _id = entryIdOf(["reported", organizationId, environment, known.entryId]);
      await store.auditLog.updateOne({ _id }, { $setOnInsert, ...($max && { $max }) }, { upsert: true });
    },
  };
}
