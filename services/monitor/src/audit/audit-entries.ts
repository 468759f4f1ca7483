import { randomUUID } from "node:crypto";
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
  readonly action: MonitorAction["action"];
  readonly monitor_id: string;
  readonly at: Date;
  readonly details: Readonly<Record<string, string>>;
  /** Decides which replica reports it. */
  readonly shard: number;
}

/** What was done to a monitor. */
export type MonitorAction = {
  readonly at: Date;
  /** After the action. */
  readonly monitor: MonitorDocument;
} & (
  | { readonly action: "monitor.created" | "monitor.canceled" }
  | { readonly action: "monitor.changed" | "monitor.webhook_url_changed"; readonly before: MonitorDocument }
);

export const auditEntriesOf = (db: Db): Collection<AuditEntryDocument> => db.collection("audit_entries");

/** Stores what people and API keys do to monitors, in the transaction of its effects, until the audit log has it. */
export async function addAuditEntries(
  db: Db,
  session: ClientSession,
  actions: readonly { readonly caller: CallerContext; readonly done: MonitorAction }[],
): Promise<void> {
  const entries = actions.map(({ caller, done }) => entryOf(caller, done));
  await auditEntriesOf(db).insertMany(entries, { session });
}

function entryOf(caller: CallerContext, done: MonitorAction): AuditEntryDocument {
  const { action, monitor, at } = done;
  const { actor, requestId: request_id, clientAddress: client_address, tenant } = caller;
  return {
    _id: `${monitor._id}:${suffixOf(done)}`,
    organization_id: tenant.organizationId,
    actor,
    request_id,
    ...(client_address && { client_address }),
    action,
    monitor_id: monitor._id,
    at,
    details: detailsOf(done),
    shard: shardOf(monitor._id),
  };
}

function suffixOf({ action, monitor }: MonitorAction): string {
  if (action === "monitor.webhook_url_changed") return `url:${monitor.url_version}`;
  // A monitor can change back and forth.
  return action === "monitor.changed" ? `changed:${randomUUID()}` : action;
}

/** Returns what the entry of an action says. Of a URL it has only the host: a path or a query may hold a secret. */
function detailsOf(done: MonitorAction): Record<string, string> {
  const { monitor } = done;
  const host = hostOf(monitor);
  if (!("before" in done)) return done.action === "monitor.created" && host ? { host } : {};
  const { before } = done;
  if (done.action === "monitor.webhook_url_changed") {
    return { previous_host: hostOf(before) ?? "none", host: host ?? "none" };
  }
  return {
    ...(monitor.frequency !== before.frequency && {
      previous_frequency: before.frequency,
      frequency: monitor.frequency,
    }),
    ...(monitor.external_id !== before.external_id && {
      previous_external_id: before.external_id ?? "none",
      external_id: monitor.external_id ?? "none",
    }),
  };
}

function hostOf({ webhook_url }: MonitorDocument): string | undefined {
  return webhook_url && new URL(webhook_url).host;
}
