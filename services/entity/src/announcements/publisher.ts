import { create, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { trace } from "@opentelemetry/api";
import type { Logger } from "@vvs/logging";
import { inTransaction } from "@vvs/mongo";
import type { OutboxRecord } from "@vvs/outbox";
import { createLeases, createOutbox, type LeasedWork, type Leases, runLeasedWork, shardOf } from "@vvs/outbox";
import { LoadStep, RegistryChangedSchema } from "@vvs/proto/events/v1/events";
import type { Db, Filter, MongoClient, ObjectId } from "mongodb";
import { type AnnouncementDocument, type ChangePageDocument, collectionsOf } from "../model/documents.ts";
import { UNPUBLISHED } from "./announce.ts";

/** Maximum number of entities in a record. */
const RECORD_ENTITIES = 500;
/** Named by a record of a step, which consumers of earlier versions would refuse without any entity. No entity has this id. */
const NO_ENTITY = "none";
/** Pages are read until they have this many entities, so that a file with few changes makes few records. */
const ENOUGH_ENTITIES = RECORD_ENTITIES;
/** Most pages have a few entities, and some 500. */
const PAGES_AT_ONCE = 50;
/** One process publishes all announcements, one after another, because those of two loads may share pages. */
const SHARD = shardOf("registry");
/** Time in which an announcement is noticed. */
const POLL_MS = 100;
const HAS_URGENT = { $or: ["excluded.0", "cleared.0"].map((name) => ({ [name]: { $exists: true } })) };

interface PublisherOptions {
  readonly client: MongoClient;
  readonly db: Db;
  /** Full name of the topic registry.changed. */
  readonly topic: string;
  /** Wakes the outbox relay. */
  readonly nudge: () => void;
  readonly logger: Logger;
}

type Announcement = AnnouncementDocument & Required<Pick<AnnouncementDocument, "changed_at">>;
/** What a page says of changes that monitors watch. */
type Page = Pick<ChangePageDocument, "watched" | "excluded" | "cleared" | "gone"> & { readonly _id: ObjectId };
type Changes = { readonly ids: readonly string[]; readonly urgent: ReadonlySet<string> };

/**
 * Creates the publisher of loads and withdrawals, and of what they changed. A transaction appends the records of some pages to the outbox
 * and marks the pages as published. So a crash at any point loses nothing and publishes nothing twice.
 */
export function createPublisher(options: PublisherOptions & { leases: Pick<Leases, "held" | "touch" | "settling"> }) {
  const { client, db, topic, leases } = options;
  const { announcements, changes, entities } = collectionsOf(db);
  const outbox = createOutbox({ db });
  const tracer = trace.getTracer("entity");
  /** The announcement of which no urgent page is left. All its pages are there before it is. */
  let withoutUrgent: ObjectId | undefined;

  /**
   * Sets the time of the changes at the first attempt. That is after they were committed, so that whoever asked before it
   * may have seen the older data, and whoever asks after it has not.
   */
  async function begun(announcement: AnnouncementDocument): Promise<Announcement | undefined> {
    const { _id, changed_at } = announcement;
    if (changed_at) return { ...announcement, changed_at };
    const set = [{ $set: { changed_at: { $ifNull: ["$changed_at", "$$NOW"] } } }];
    const found = await announcements.findOneAndUpdate({ _id }, set, { returnDocument: "after" });
    return (found as Announcement | null) ?? undefined;
  }

  /** Returns the next pages, those with urgent changes first. */
  async function nextPages(announcement: Announcement): Promise<Page[]> {
    const urgent = withoutUrgent?.equals(announcement._id) ? [] : await pagesOf(announcement, HAS_URGENT);
    const left = ENOUGH_ENTITIES - sizeOf(urgent);
    if (left <= 0) return urgent;
    withoutUrgent = announcement._id;
    return [...urgent, ...(await pagesOf(announcement, { _id: { $nin: urgent.map(({ _id }) => _id) } }, left))];
  }

  async function pagesOf({ runs }: Announcement, which: Filter<ChangePageDocument>, enough = ENOUGH_ENTITIES) {
    const pages: Page[] = [];
    const waiting = changes
      .find({ unpublished: { $in: [...runs] }, ...which })
      .hint(UNPUBLISHED.name)
      .sort(UNPUBLISHED.key)
      .project<Page>({ watched: 1, excluded: 1, cleared: 1, gone: 1 })
      .batchSize(PAGES_AT_ONCE);
    for await (const page of waiting) {
      pages.push(page);
      if (sizeOf(pages) >= enough) break;
    }
    return pages;
  }

  /** Returns the entities of the pages, the newly excluded ones first, and the own entities that took them over. */
  async function changesOf(pages: readonly Page[]): Promise<Changes> {
    const of = (name: "excluded" | "cleared" | "watched" | "gone") => pages.flatMap((page) => page[name] ?? []);
    const [excluded, cleared] = [of("excluded"), of("cleared")];
    const changed = new Set([...excluded, ...cleared, ...of("watched"), ...of("gone")]);
    const urgent = new Set([...excluded, ...cleared]);
    // Their runs are answered by the facts of the registry entity, even where the load did not write them.
    const standIns = await entities
      .find({ registry_entity_id: { $in: [...changed] } })
      .project<{ _id: string; registry_entity_id: string }>({ registry_entity_id: 1 })
      .toArray();
    for (const { _id, registry_entity_id } of standIns) if (urgent.has(registry_entity_id)) urgent.add(_id);
    const ids = new Set([...urgent, ...changed, ...standIns.map(({ _id }) => _id)]);
    return { ids: [...ids], urgent };
  }

  /**
   * Publishes some pages or, if none are left, that the load or withdrawal is done, and removes the announcement. Returns false
   * if another process has the lease.
   */
  async function publishSome(announcement: Announcement): Promise<boolean> {
    const { _id, runs, load_id, withdrawn } = announcement;
    const pages = await nextPages(announcement);
    const [first] = pages;
    const messages = first
      ? changesIn(announcement, String(first._id), await changesOf(pages))
      : [stepOf(announcement)];
    const records = messages.map((message) => recordOf(announcement, message, topic));
    const isHolder = await inTransaction(client, async (session) => {
      if (!(await leases.touch(session, SHARD))) return false;
      const published = { _id: { $in: pages.map((page) => page._id) }, unpublished: { $in: [...runs] } };
      if (first) await changes.updateMany(published, { $unset: { unpublished: "" } }, { session });
      // Gone if another process published it between two leases of this one.
      else if ((await announcements.deleteOne({ _id }, { session })).deletedCount === 0) return true;
      await outbox.append(session, ...records);
      return true;
    });
    if (isHolder) options.nudge();
    if (isHolder && !first) options.logger.info({ load_id, withdrawn }, "the changes of a load are published");
    return isHolder;
  }

  function publish(announcement: Announcement): Promise<boolean> {
    const attributes = { "registry.load_id": announcement.load_id };
    return tracer.startActiveSpan("publish registry changes", { root: true, attributes }, (span) =>
      publishSome(announcement).finally(() => span.end()),
    );
  }

  return {
    /** Publishes all that is to be published. Errors: those of the database; may be retried. */
    async run(): Promise<void> {
      while (leases.held().includes(SHARD)) {
        const [announcement] = await announcements.find().sort({ _id: 1 }).limit(1).toArray();
        const next = announcement && (await begun(announcement));
        if (!next) return;
        if (!(await leases.settling(publish(next)))) return;
      }
    },
  };
}

/** Returns how many entities some pages name. */
function sizeOf(pages: readonly Page[]): number {
  return pages.reduce((sum, { watched = [], gone }) => sum + watched.length + gone.length, 0);
}

type Message = MessageInitShape<typeof RegistryChangedSchema> & { readonly recordId: string };

/** Returns what is published of some pages. Ids are the same if it is made again from the same pages. */
function changesIn({ load_id, withdrawn }: Announcement, page: string, { ids, urgent }: Changes): Message[] {
  return Array.from({ length: Math.ceil(ids.length / RECORD_ENTITIES) }, (_, number) => {
    const recordId = `${load_id}:${withdrawn ? "withdrawn" : "done"}:${page}:${number}`;
    const entityIds = ids.slice(number * RECORD_ENTITIES, (number + 1) * RECORD_ENTITIES);
    return { recordId, entityIds, urgentEntityIds: entityIds.filter((one) => urgent.has(one)) };
  });
}

/** Returns the announcement itself, once all its changes are published. */
function stepOf({ _id, load_id, withdrawn, begun }: Announcement): Message {
  const ended = withdrawn ? LoadStep.WITHDRAWN : LoadStep.LOADED;
  const step = begun ? LoadStep.WITHDRAWAL_BEGUN : ended;
  return { recordId: `${load_id}:${LoadStep[step].toLowerCase()}:${_id}`, entityIds: [NO_ENTITY], step };
}

function recordOf({ load_id, changed_at }: Announcement, message: Message, topic: string): OutboxRecord {
  const fields = { loadId: load_id, changedAt: timestampFromDate(changed_at) };
  const value = toBinary(RegistryChangedSchema, create(RegistryChangedSchema, { ...message, ...fields }));
  return { id: message.recordId, topic, key: load_id, value };
}

/** Publishes what loads and withdrawals changed, until stopped. Of the replicas of the service, one does it at a time. */
export function runPublisher(options: PublisherOptions): LeasedWork {
  const { db, logger } = options;
  const leases = createLeases({ db, name: "registry_publisher" });
  return runLeasedWork({ leases, pollMs: POLL_MS, work: createPublisher({ ...options, leases }).run, logger });
}
