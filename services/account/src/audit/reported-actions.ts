import { ServiceError } from "@vvs/errors";
import type { CallerContext } from "@vvs/tenant";
import type { MongoClient } from "mongodb";
import { type AuditLog, type ReportedAction, reportedActions } from "./audit.ts";

const MAX_DETAILS = 10;
/** The name of a host has up to 253. */
const MAX_CHARACTERS = 300;

export interface ReportedEntry {
  readonly action: string;
  readonly target: string;
  readonly details: Readonly<Record<string, string>>;
}

export interface ReportedActions {
  /** Notes what a user has another service do. Errors: invalid_request. */
  append(caller: CallerContext, entry: ReportedEntry): Promise<void>;
}

export function createReportedActions(options: { client: MongoClient; audit: AuditLog }): ReportedActions {
  return {
    async append(caller, { action, target, details }) {
      const isKnown = reportedActions.includes(action as ReportedAction);
      const texts = [target, ...Object.entries(details).flat()];
      const isBounded = Object.keys(details).length <= MAX_DETAILS && texts.every(fits);
      if (!isKnown || !isBounded || target === "") {
        throw new ServiceError("invalid_request", { message: "Other services cannot report this action." });
      }
      const { organizationId, environment } = caller.tenant;
      const entry = { action: action as ReportedAction, organizationId, environment, target, details };
      await options.client.withSession((session) => options.audit.append(session, caller, entry));
    },
  };
}

const fits = (text: string) => text.length <= MAX_CHARACTERS;
