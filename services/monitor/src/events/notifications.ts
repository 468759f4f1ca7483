import type { FieldChange } from "@vvs/kafka";
import { shardOf } from "@vvs/outbox";
import type { ClientSession, Collection, Db } from "mongodb";
import type { EventDocument } from "../model/monitor.ts";

/** What account does not have for certain yet of an event, for the emails to members. */
export interface NotificationDocument {
  /** evt_…. */
  readonly _id: string;
  readonly organization_id: string;
  readonly entity_id: string;
  /** Empty where it is not known. */
  readonly entity_name: string;
  readonly external_id?: string;
  readonly changes: readonly FieldChange[];
  /** Decides which replica reports it: the same for all of an organization. */
  readonly shard: number;
}

export const notificationsOf = (db: Db): Collection<NotificationDocument> => db.collection("notifications");

/** Stores that members are to be notified of an event, in the transaction that stores it, until account has it. */
export async function addNotification(
  db: Db,
  session: ClientSession,
  event: EventDocument,
  entityName: string,
): Promise<void> {
  const { _id, organization_id, entity_id, external_id } = event;
  const changes = event.changes.map(withoutTin);
  const ids = { _id, organization_id, entity_id, entity_name: entityName, ...(external_id && { external_id }) };
  await notificationsOf(db).insertOne({ ...ids, changes, shard: shardOf(organization_id) }, { session });
}

/** Leaves out even the last digits of a TIN: emails hold nothing of one. */
function withoutTin(change: FieldChange): FieldChange {
  return change.field.endsWith(".tin") ? { field: change.field, previous: null, current: null } : change;
}
