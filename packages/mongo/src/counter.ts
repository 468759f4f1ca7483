import type { Collection, Document, Filter, UpdateFilter, WithId } from "mongodb";

/** What one write counts. The field `granted` of the document is how many it counted. */
export interface Taking {
  /** How many to count at most. */
  readonly wanted: number;
  /**
   * The numbers that grow, each with its limit, or with an expression over the document for what is left of it. All grow by
   * as many as the tightest allows.
   */
  readonly raise: Readonly<Record<string, number | object>>;
  /** Other numbers that a new document begins with, at 0. */
  readonly numbers?: readonly string[];
  /** Values of other fields, which each write sets: whose document it is, its day, or when it expires. */
  readonly set?: Readonly<Record<string, unknown>>;
  /** The number that begins at 0 again with each window. */
  readonly window?: CountingWindow & { readonly number: string };
}

/** A period in which a number counts. `field` of the document tells the windows apart. */
export interface CountingWindow {
  readonly field: string;
  readonly isOpen: object;
  /** The value of the field in a new window. */
  readonly next: Date;
}

/** Returns a window that begins with what is counted first. The field has its end. */
export function windowFromFirst(field: string, at: Date, lengthMs: number): CountingWindow {
  return { field, isOpen: { $gt: [`$${field}`, at] }, next: new Date(at.getTime() + lengthMs) };
}

/**
 * Returns a window of the calendar, such as a minute. The field has its beginning. One that has ended does not begin again
 * for a replica whose clock is behind.
 */
export function calendarWindow(field: string, begins: Date): CountingWindow {
  return { field, isOpen: { $gte: [`$${field}`, begins] }, next: begins };
}

type Taken<T> = WithId<T> & { readonly granted: number };

/**
 * Counts as many of `wanted` as the limits leave, by one write that decides and counts: so any number of calls and replicas
 * never exceed a limit together. Creates the document where there is none. Returns it as it is afterwards.
 */
export function take<T extends Document>(counters: Collection<T>, _id: T["_id"], taking: Taking): Promise<Taken<T>> {
  // MongoDB repeats it where another call creates the document at the same moment.
  const options = { upsert: true, returnDocument: "after" } as const;
  return counters.findOneAndUpdate({ _id } as Filter<T>, stages(taking), options) as Promise<Taken<T>>;
}

/** Takes one back of a number in each of these documents; none becomes less than 0. */
export async function giveBack<T extends Document>(
  counters: Collection<T>,
  ids: readonly T["_id"][],
  number: keyof T & string,
): Promise<void> {
  const update = { $inc: { [number]: -1 } } as UpdateFilter<T>;
  const writes = ids.map((_id) => ({ updateOne: { filter: { _id, [number]: { $gt: 0 } } as Filter<T>, update } }));
  await counters.bulkWrite(writes, { ordered: false });
}

function stages({ wanted, raise, numbers = [], set = {}, window }: Taking): Document[] {
  const raised = Object.keys(raise);
  const begun: Record<string, object> = {};
  for (const name of [...numbers, ...raised]) begun[name] = { $ifNull: [`$${name}`, 0] };
  if (window) {
    const { number, field, isOpen, next } = window;
    begun[number] = { $cond: [isOpen, `$${number}`, 0] };
    begun[field] = { $cond: [isOpen, `$${field}`, next] };
  }
  const values = Object.entries(set).map(([name, value]) => [name, { $literal: value }]);
  const left = Object.entries(raise).map(([name, limit]) =>
    typeof limit === "number" ? { $subtract: [limit, `$${name}`] } : limit,
  );
  return [
    { $set: { ...Object.fromEntries(values), ...begun } },
    { $set: { granted: { $max: [0, { $min: [wanted, ...left] }] } } },
    { $set: Object.fromEntries(raised.map((name) => [name, { $add: [`$${name}`, "$granted"] }])) },
  ];
}
