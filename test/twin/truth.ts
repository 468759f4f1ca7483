import { addDays, effectInForce, factsOf, type Parts, registryDay, utcDay, verdictOf } from "@vvs/registration";
import { filePartsOf } from "../../services/verification/src/providers/sam-gov/file-parts.ts";
import type { Random } from "../bench/registry/random.ts";
import { ENTITY_TYPE, type TrueExclusion, type Truth, type Vendor, type World } from "./world.ts";

// Random truths, and what they would show.

const FROM_API = { origin: "sam_gov_api", load: "" };

export function someTruth(random: Random, now: Date): Truth {
  const today = utcDay(now);
  return {
    ...random.pick<Pick<Truth, "listed" | "expirationDate">>([
      ...[3, 10, 200, 300].map((days) => ({ listed: "active" as const, expirationDate: addDays(today, days) })),
      { listed: "expired", expirationDate: addDays(today, -30) },
      { listed: "absent", expirationDate: "" },
    ]),
    legalName: "NAME 0",
    exclusions: [],
  };
}

/** Returns what becomes true of a vendor. */
export function someChange(random: Random, now: Date): Partial<Truth> {
  const today = registryDay(now);
  const day = (within: number) => addDays(today, random.below(within));
  const exclusion = (change: Partial<TrueExclusion>): Partial<Truth> => {
    const effect = random.pick(["bar", "bar", "product", "facility"] as const);
    const withoutUei = random.chance(0.3);
    return { exclusions: [{ activeDate: today, terminationDate: "indefinite", effect, withoutUei, ...change }] };
  };
  return random.pick<Partial<Truth>>([
    { legalName: `NAME ${random.below(4)}` },
    { listed: "active", expirationDate: addDays(today, 100 + random.below(200)) },
    { listed: "active", expirationDate: day(5) },
    { listed: "expired", expirationDate: addDays(today, -1) },
    { listed: "absent" },
    exclusion({}),
    exclusion({ activeDate: day(4) }),
    exclusion({ terminationDate: day(4) }),
    { exclusions: [] },
    { exclusions: [] },
  ]);
}

/** Returns what a bad file says of half of the vendors. */
export function someMistake(random: Random, now: Date): (vendor: Vendor, truth: Truth) => Truth {
  const mistake = random.pick<Partial<Truth>>([
    { legalName: "GARBLED" },
    { exclusions: [] },
    { listed: "absent" },
    { listed: "expired", expirationDate: addDays(utcDay(now), -30) },
  ]);
  return (_, truth) => (random.chance(0.5) ? { ...truth, ...mistake } : truth);
}

/** Returns the values of a watched field that some source has now, or had since the newest file was cut. */
export function trueValues(world: World, vendor: Vendor, field: string, now: Date): Set<string | null> {
  const record = world.recordOf(vendor);
  const { parts: file } = filePartsOf(record, now);
  const registrations = [
    file.registration,
    ...truthsSince(vendor, record.registryCutDate, now).map((truth) => registrationOf(vendor, truth, now)),
  ];
  const exclusions = [
    file.exclusions,
    ...truthsSince(vendor, record.exclusionsCutDate, now).flatMap((truth) => exclusionsOf(truth, file.exclusions, now)),
  ];
  const today = registryDay(now);
  const values = registrations.flatMap((registration) =>
    exclusions.flatMap((excluded) => {
      const parts: Parts = { ...(registration && { registration }), ...(excluded && { exclusions: excluded }) };
      const verdict = verdictOf(parts, today);
      const facts: Record<string, string | undefined> = verdict ? { ...factsOf(parts, verdict, today) } : {};
      return verdict ? [{ ...facts, status: verdict.outcome }[field] || null] : [];
    }),
  );
  return new Set(values);
}

function truthsSince({ history }: Vendor, cutDate: string, now: Date): Truth[] {
  const since = new Date(cutDate ? `${cutDate}T00:00:00Z` : 0);
  return history.filter((_, index) => (history[index + 1]?.at ?? now) >= since).map(({ truth }) => truth);
}

function registrationOf({ cage }: Vendor, truth: Truth, date: Date): NonNullable<Parts["registration"]> {
  const { listed, legalName, expirationDate } = truth;
  const source = { ...FROM_API, date, id_only: false };
  if (listed === "absent") {
    return { ...source, listed_as: "not_found", cage: "", legal_name: "", expiration_date: "", entity_type: "" };
  }
  const texts = { cage, legal_name: legalName, expiration_date: expirationDate, entity_type: ENTITY_TYPE };
  return { ...source, listed_as: listed === "active" ? "active" : "inactive", ...texts };
}

/** Returns the exclusions as they are, as the API names them beside the file's rows without a UEI, and as only a flag says. */
function exclusionsOf(
  { exclusions }: Truth,
  file: Parts["exclusions"],
  date: Date,
): NonNullable<Parts["exclusions"]>[] {
  const rowsOf = (some: typeof exclusions) =>
    some.map(({ activeDate, terminationDate, effect }) => ({
      ...{ program: "", type: "", agency: "", active_date: activeDate, termination_date: terminationDate, effect },
    }));
  const named = { ...FROM_API, date, flagged: false, exclusions: rowsOf(exclusions) };
  const ofUei = rowsOf(exclusions.filter(({ withoutUei }) => !withoutUei));
  const ofFile = file?.exclusions.filter(({ without_uei }) => without_uei) ?? [];
  const asked = { ...named, exclusions: [...ofUei, ...ofFile] };
  const flagged = effectInForce(named, registryDay(date)) ? [{ ...named, flagged: true }] : [];
  return [named, asked, ...flagged];
}
