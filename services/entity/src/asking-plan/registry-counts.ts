import { addDays, registryDay } from "@vvs/registration";
import type { IsoDate } from "../model/dates.ts";
import type { Collections } from "../model/documents.ts";
import { newestLoad } from "../model/exclusions.ts";
import { DAILY_DAYS, type RegistryCounts } from "./asking-plan.ts";

/** Counts the vendors of the loaded registry by their registrations. Reads all registry entities once. */
export async function countRegistry(collections: Collections, now: Date): Promise<RegistryCounts> {
  const today = registryDay(now);
  const cut = (await newestLoad(collections, "registry"))?.cut_date ?? today;
  const end = "$sam.expiration_date";
  const isBefore = (day: IsoDate) => ({ $and: [{ $gt: [end, ""] }, { $lt: [end, day] }] });
  // By the rules of statusOf, apart from exclusions.
  const kinds: [condition: object, kind: string][] = [
    [{ $or: [{ $ne: ["$listed", true] }, { $not: ["$sam"] }] }, "gone"],
    [{ $ne: ["$sam.sam_registered", true] }, "idOnly"],
    [{ $and: [isBefore(cut), { $gte: [end, addDays(cut, -DAILY_DAYS)] }] }, "lapsedRecently"],
    [{ $or: [isBefore(cut), { $eq: ["$sam.listed_as", "expired"] }] }, "lapsedBefore"],
    [{ $or: [{ $ne: ["$sam.listed_as", "active"] }, { $not: [end] }] }, "inactive"],
    [isBefore(today), "expiredSince"],
    [isBefore(addDays(today, DAILY_DAYS)), end],
  ];
  const kind = kinds.reduceRight<unknown>((rest, [condition, name]) => ({ $cond: [condition, name, rest] }), "later");
  const isBegun = { $lte: [{ $ifNull: ["$$one.active_date", ""] }, today] };
  const isOpen = { $gte: [{ $ifNull: ["$$one.termination_date", "indefinite"] }, today] };
  const isBar = { $ne: ["$$one.effect", "product"] };
  const inForce = { $filter: { input: "$exclusions", as: "one", cond: { $and: [isBegun, isOpen, isBar] } } };
  const isFlagged = { $and: [{ $eq: ["$sam.excluded", true] }, { $ne: ["$flag_ended", true] }] };
  const isExcluded = { $or: [isFlagged, { $gt: [{ $size: inForce }, 0] }] };
  const found = await collections.entities
    .aggregate<{ _id: string; count: number; excluded: number }>([
      { $match: { organization_id: null } },
      { $group: { _id: kind, count: { $sum: 1 }, excluded: { $sum: { $cond: [isExcluded, 1, 0] } } } },
    ])
    .toArray();
  const counts = new Map(found.map(({ _id, count }) => [_id, count]));
  const of = (name: string) => counts.get(name) ?? 0;
  return {
    vendors: found.reduce((sum, { count }) => sum + count, 0),
    excluded: found.reduce((sum, { excluded }) => sum + excluded, 0),
    lapsedRecently: of("lapsedRecently"),
    lapsedBefore: of("lapsedBefore"),
    expiredSince: of("expiredSince"),
    inactive: of("inactive"),
    idOnly: of("idOnly"),
    gone: of("gone"),
    expiring: Array.from({ length: DAILY_DAYS }, (_, days) => of(addDays(today, days))),
  };
}
