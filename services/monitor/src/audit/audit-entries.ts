import { shardOf } from "@vvs/outbox";
import type { CallerContext } from "@vvs/tenant";
import type { ClientSession, Collection, Db } from "mongodb";
import type { MonitorDocument } from "../model/monitor.ts";

/** An action on a monitor that the audit log does not have for certain yet. */
export interface AuditEntryDocument {
  /** `<monitor>:<what was done>`, the same for an action that is reported twice. */
  readonly _id: string;
  readonly organization_id: string;
  readonly actor: string;
  readonly request_id: string;
  readonly client_address?: string;
  readonly action: "monitor.created" | "monitor.canceled" | "monitor.webhook_url_changed";
  readonly monitor_id: string;
  readonly at: Date;
  readonly details: Readonly<Record<string, string>>;
  /** Decides which replica reports it. */
  readonly shard: number;
}

/** What was done to a monitor. */
export type MonitorAction = { readonly at: Date } & (
  | { readonly action: "monitor.created" | "monitor.canceled"; readonly monitor: MonitorDocument }
  | {
      readonly action: "monitor.webhook_url_changed";
      /** After the change. */
      readonly monitor: MonitorDocument;
      readonly before: MonitorDocument;
    }
);

export const auditEntriesOf = (db: Db): Collection<AuditEntryDocument> => db.collection("audit_entries");

export type AuditEntries = ReturnType<typeof createAuditEntries>;

/** Stores what people and API keys do to monitors, until the audit log has it. */
export function createAuditEntries({ db }: { db: Db }) {
  return {
    /** Adds entries in the transaction of their effects. */
    async add(
      session: ClientSession,
      actions: readonly { readonly caller: CallerContext; readonly done: MonitorAction }[],
    ): Promise<void> {
      const entries = actions.map(({ caller, done }) => entryOf(caller, done));
      await auditEntriesOf(db).insertMany(entries, { session });
    },
  };
}

/** Returns the entry of an action. Of a URL it has only the host: a path or a query may hold a secret. */
function entryOf(caller: CallerContext, done: MonitorAction): AuditEntryDocument {
  const { action, monitor, at } = done;
  const { actor, requestId: request_id, clientAddress: client_address, tenant } = caller;
  const isChange = action === "monitor.webhook_url_changed";
  const previous = isChange ? hostOf(done.before) : undefined;
  const host = action === "monitor.canceled" ? undefined : hostOf(monitor);
  return {
    _id: isChange ? `${monitor._id}:url:${monitor.url_version}` : `${monitor._id}:${action}`,
    organization_id: tenant.organizationId,
    actor,
    request_id,
    ...(client_address && { client_address }),
    action,
    monitor_id: monitor._id,
    at,
    details: {
      ...(isChange && { previous_host: previous ?? "none" }),
      ...((isChange || host) && { host: host ?? "none" }),
    },
    shard: shardOf(monitor._id),
  };
}

function hostOf({ webhook_url }: MonitorDocument): string | undefined {
  return webhook_url && new URL(webhook_url).host;
}
