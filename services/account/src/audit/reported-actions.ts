import { ServiceError } from "@vvs/errors";
import type { CallerContext } from "@vvs/tenant";
import type { MongoClient } from "mongodb";
import { type AuditLog, type ReportedAction, reportedActions } from "./audit.ts";

const MAX_DETAILS = 10;
/** Enough for a host name, which has up to 253 characters. */
const MAX_CHARACTERS = 300;

/** Records actions that users take in other services. */
export function createReportedActions({ client, audit }: { client: MongoClient; audit: AuditLog }) {
  return {
    /** Errors: invalid_request. */
    async append(
      caller: CallerContext,
      { action, target, details }: { action: string; target: string; details: Readonly<Record<string, string>> },
    ): Promise<void> {
      const isKnown = reportedActions.includes(action as ReportedAction);
      const texts = [target, ...Object.entries(details).flat()];
      const isBounded =
        Object.keys(details).length <= MAX_DETAILS && texts.every((text) => text.length <= MAX_CHARACTERS);
      if (!isKnown || !isBounded || target === "") {
        throw new ServiceError("invalid_request", { message: "Other services cannot report this action." });
      }
      const { organizationId, environment } = caller.tenant;
      const entry = { action: action as ReportedAction, organizationId, environment, target, details };
      await client.withSession((session) => audit.append(session, caller, entry));
    },
  };
}
