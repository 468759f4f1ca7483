import { type Timestamp, timestampDate, timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { TinReplacement } from "@vvs/proto/entity/v1/entity";
import type { Confirmations, Event, Monitor } from "@vvs/proto/monitor/v1/monitor";
import type { Verification } from "@vvs/proto/verification/v1/verification";
import type { Delivery } from "@vvs/proto/webhook/v1/webhook";
import type { Visit } from "../http/session.ts";
import type { PageContext } from "../page/page-context.ts";
import { unlessUnavailable } from "../page/panels.ts";
import { type ListPosition, readPosition } from "../ui/listing.ts";
import { type HistoryEntry, historyOf } from "./snapshot-history.ts";

/** What happened to a vendor, by the prefix of its id. */
export const kinds = {
  verifications: "ver",
  changes: "evt",
  deliveries: "dlv",
  versions: "snp",
  tins: "tin",
} as const;

export type Kind = keyof typeof kinds;

export type TimelineItem = { readonly id: string; readonly at: Date } & (
  | {
      readonly kind: "verifications";
      readonly verification: Verification;
      /** The scheduled checks that confirmed it; undefined where there were none. */
      readonly confirmed: Confirmations | undefined;
    }
  | { readonly kind: "changes"; readonly event: Event }
  | { readonly kind: "deliveries"; readonly delivery: Delivery }
  | { readonly kind: "versions"; readonly entry: HistoryEntry }
  | { readonly kind: "tins"; readonly replacement: TinReplacement }
);

/** A page of what happened to a vendor, newest first. */
export interface Timeline {
  readonly items: readonly TimelineItem[];
  /** Undefined on the last page. */
  readonly next: ListPosition | undefined;
  readonly isFirst: boolean;
  /** Only these are shown; all if undefined. */
  readonly only: Kind | undefined;
  /** What is missing, because its service is unavailable. */
  readonly unavailable: readonly Kind[];
}

const PAGE_SIZE = 20;
/** Maximum number of a vendor's monitors whose changes and deliveries are read. */
const MONITORS_READ = 10;

interface Found {
  readonly items: readonly TimelineItem[];
  readonly hasMore: boolean;
}

/** Returns the position in a timeline of a query parameter. Errors: ProblemError if it is malformed. */
export function readTimelinePosition(text: unknown): ListPosition | undefined {
  const [, prefix] = /~([a-z]{3})_/.exec(String(text)) ?? [];
  return readPosition(text, Object.values(kinds).find((each) => each === prefix) ?? "ver");
}

/**
 * Returns where a list of one kind continues after a position in a timeline, whose items at the same time are ordered by
 * their ids, the greatest first. Items of kinds with greater prefixes came before the position, others come after it.
 */
export function positionIn(prefix: string, after: ListPosition | undefined): ListPosition | undefined {
  if (!after) return undefined;
  const own = after.id.slice(0, 3);
  if (prefix === own) return after;
  return { createdAt: after.createdAt, id: prefix > own ? `${prefix}_` : `${prefix}_~` };
}

/** Merges lists, each newest first, into one page. */
export function mergeTimeline(lists: readonly Found[]): Pick<Timeline, "items" | "next"> {
  const newestFirst = lists
    .flatMap(({ items }) => items)
    .sort((a, b) => b.at.getTime() - a.at.getTime() || (a.id < b.id ? 1 : -1));
  const items = newestFirst.slice(0, PAGE_SIZE);
  const last = items.at(-1);
  const hasMore = newestFirst.length > PAGE_SIZE || lists.some((list) => list.hasMore);
  return { items, next: hasMore && last ? { createdAt: timestampFromDate(last.at), id: last.id } : undefined };
}

const placed = ({ id }: { readonly id: string }, at: Timestamp | undefined) => ({ id, at: timestampDate(at!) });

type ReadKind = (position: ListPosition | undefined) => Promise<Found>;

/** Creates a function that reads a page of what happened to a vendor: verifications, changes, deliveries, versions and TINs. */
export function createReadTimeline(context: PageContext) {
  const { verification, entities, monitors, deliveries, readPanel, logger } = context;
  const foundIn = (items: readonly TimelineItem[], next: unknown): Found => ({ items, hasMore: next !== undefined });

  function readers(visit: Visit, entityId: string, of: readonly Monitor[]): Readonly<Record<Kind, ReadKind>> {
    const { caller } = visit;
    const ofMonitors = async (read: (monitorId: string) => Promise<Found>): Promise<Found> => {
      const lists = await Promise.all(of.slice(0, MONITORS_READ).map(({ id }) => read(id)));
      return { items: lists.flatMap(({ items }) => items), hasMore: lists.some(({ hasMore }) => hasMore) };
    };
    const pageAfter = (after: ListPosition | undefined) => ({ limit: PAGE_SIZE, after });
    /** Returns the scheduled checks that confirmed the monitors' runs after a position, by verification. */
    const confirmationsAfter = async (after: ListPosition | undefined): Promise<ReadonlyMap<string, Confirmations>> => {
      const read = ({ id: monitorId }: Monitor) =>
        readPanel(visit, "runs of a monitor", (options) =>
          monitors.listRuns({ caller, monitorId, page: pageAfter(positionIn("mon", after)) }, options),
        );
      const found = await Promise.all(of.slice(0, MONITORS_READ).map(read));
      const runs = found.flatMap((page) => page?.runs ?? []);
      return new Map(
        runs.flatMap(({ verificationId, confirmed }) => (confirmed ? [[verificationId, confirmed] as const] : [])),
      );
    };
    return {
      async verifications(after) {
        const [found, confirmations] = await Promise.all([
          verification.listVerifications({ caller, entityId, page: pageAfter(after) }),
          confirmationsAfter(after),
        ]);
        const items = found.verifications.map((each) => ({
          kind: "verifications" as const,
          ...placed(each, each.createdAt),
          verification: each,
          confirmed: confirmations.get(each.id),
        }));
        return foundIn(items, found.next);
      },
      changes: (after) =>
        ofMonitors(async (monitorId) => {
          const found = await monitors.listEvents({ caller, monitorId, page: pageAfter(after) });
          const items = found.events.map((event) => ({
            kind: "changes" as const,
            ...placed(event, event.detectedAt),
            event,
          }));
          return foundIn(items, found.next);
        }),
      deliveries: (after) =>
        ofMonitors(async (monitorId) => {
          const found = await deliveries.listDeliveries({ caller, monitorId, page: pageAfter(after) });
          const items = found.deliveries.map((delivery) => ({
            kind: "deliveries" as const,
            ...placed(delivery, delivery.createdAt),
            delivery,
          }));
          return foundIn(items, found.next);
        }),
      async versions(after) {
        const list = (page: { limit: number; after: ListPosition | undefined }) =>
          entities.listSnapshots({ caller, entityId, page });
        const { snapshots, next } = await list(pageAfter(after));
        const older = next && (await list({ limit: 1, after: next }));
        const items = historyOf(snapshots, older?.snapshots[0]).map((entry) => ({
          kind: "versions" as const,
          id: entry.snapshot.id,
          at: new Date(entry.snapshot.createdAt),
          entry,
        }));
        return foundIn(items, next);
      },
      async tins(after) {
        const found = await entities.listTinReplacements({ caller, entityId, page: pageAfter(after) });
        const items = found.replacements.map((replacement) => ({
          kind: "tins" as const,
          ...placed(replacement, replacement.at),
          replacement,
        }));
        return foundIn(items, found.next);
      },
    };
  }

  return async (
    visit: Visit,
    options: {
      readonly entityId: string;
      /** The vendor's monitors, active ones first; undefined while unavailable. */
      readonly monitors: readonly Monitor[] | undefined;
      readonly only: Kind | undefined;
      readonly after: ListPosition | undefined;
    },
  ): Promise<Timeline> => {
    const { only, after } = options;
    const wanted = only ? [only] : (Object.keys(kinds) as Kind[]);
    const reads = readers(visit, options.entityId, options.monitors ?? []);
    const needMonitors: readonly Kind[] = ["changes", "deliveries"];
    const lists = await Promise.all(
      wanted.map(async (kind) => {
        if (!options.monitors && needMonitors.includes(kind)) return undefined;
        return unlessUnavailable(logger, visit, () => reads[kind](positionIn(kinds[kind], after)));
      }),
    );
    return {
      ...mergeTimeline(lists.filter((list) => list !== undefined)),
      isFirst: after === undefined,
      only,
      unavailable: wanted.filter((_kind, index) => lists[index] === undefined),
    };
  };
}
