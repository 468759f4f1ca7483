import { registryDay } from "@vvs/registration";
import type { ReceivedBody } from "../../questions/question.ts";
import { ProviderError } from "../provider.ts";
import type { Listing, SamGovClient } from "./client.ts";
import { type ExclusionRow, isBarred } from "./exclusion.ts";
import type { EntityRow } from "./registration.ts";

/** The rows that SAM.gov has about one vendor. */
export interface VendorRows<Row> {
  /** Empty where SAM.gov has none, or none that is public. */
  readonly rows: readonly Row[];
  /** What was received about it, in the order of the calls. */
  readonly bodies: readonly ReceivedBody[];
  readonly receivedAt: Date;
  /** False where further rows were not read. */
  readonly isComplete?: boolean;
}

/** The vendor's identifiers; "" where unknown. */
export interface Vendor {
  readonly uei: string;
  readonly cage: string;
}

/** The rows of many UEIs; a UEI that got no answer has an error instead. */
export type RowsByUei<Row> = ReadonlyMap<string, VendorRows<Row> | ProviderError>;

/**
 * Looks up the registration of one vendor by its UEI, or by its CAGE where it has none. Without a registration, looks up
 * its id. Errors: ProviderError.
 */
export async function lookUpRegistration(
  client: SamGovClient,
  vendor: Vendor,
  signal: AbortSignal,
): Promise<VendorRows<EntityRow>> {
  const query = queryFor(vendor);
  const registered = await client.entities(query, "Yes", signal);
  const ids = registered.rows.length === 0 ? await client.entities(query, "No", signal) : undefined;
  const { rows } = ids ?? registered;
  if (new Set(rows.map(({ uei }) => uei)).size > 1) throw new ProviderError("ambiguous_cage", { isInputFault: true });
  return vendorRowsOf(rows, [...registered.bodies, ...(ids?.bodies ?? [])]);
}

/**
 * Looks up the exclusions of one vendor: as far as the first page that bars it, and at most some pages. Errors:
 * ProviderError.
 */
export async function lookUpExclusions(
  client: SamGovClient,
  vendor: Vendor,
  signal: AbortSignal,
): Promise<VendorRows<ExclusionRow>> {
  const { rows, bodies, isComplete } = await client.exclusions(queryFor(vendor), barredAt, signal);
  return { ...vendorRowsOf(rows, bodies), isComplete };
}

/**
 * Looks up the registrations of up to 100 UEIs. Each UEI gets only its own rows. Where SAM.gov refuses the query as
 * invalid (400, 422), or we do, it is repeated in halves, so that one UEI can't fail all the others. Errors: ProviderError that
 * concerns all of them.
 */
export function lookUpRegistrations(client: SamGovClient, ueis: readonly string[], signal: AbortSignal) {
  return inHalves(ueis, async (some): Promise<RowsByUei<EntityRow>> => {
    if (some.length === 1) return new Map([[some[0]!, await lookUpRegistration(client, only(some), signal)]]);
    const registered = await client.entities({ ueiSAM: some }, "Yes", signal);
    const known = new Set(registered.rows.map(({ uei }) => uei));
    const missing = some.filter((uei) => !known.has(uei));
    const ids = missing.length > 0 ? await client.entities({ ueiSAM: missing }, "No", signal) : undefined;
    const part = (uei: string) => {
      const listing = known.has(uei) || !ids ? registered : ids;
      const own = listing.rows.filter((row) => row.uei === uei);
      const before = listing === ids ? [partOf(registered, uei, "entityData", [])] : [];
      return vendorRowsOf(own, [...before, partOf(listing, uei, "entityData", own)]);
    };
    return new Map(some.map((uei) => [uei, part(uei)]));
  });
}

/**
 * Looks up the exclusions of up to 100 UEIs, like `lookUpRegistrations`. A vendor that a page bars needs no further pages, so
 * the next ones are read without it: one vendor with hundreds of rows costs one page. Where the quota is used up before the
 * last vendor, the others keep what was found.
 */
export function lookUpManyExclusions(client: SamGovClient, ueis: readonly string[], signal: AbortSignal) {
  return inHalves(ueis, async (some): Promise<RowsByUei<ExclusionRow>> => {
    if (some.length === 1) return new Map([[some[0]!, await lookUpExclusions(client, only(some), signal)]]);
    const found = new Map<string, VendorRows<ExclusionRow> | ProviderError>();
    for (let open = some; open.length > 0; open = open.filter((uei) => !found.has(uei))) {
      try {
        for (const [uei, rows] of await lookUpSomeExclusions(client, open, signal)) found.set(uei, rows);
      } catch (error) {
        if (found.size === 0 || !(error instanceof ProviderError) || error.reason !== "quota_exhausted") throw error;
        for (const uei of open) found.set(uei, error);
      }
    }
    return found;
  });
}

/** Looks up the exclusions of UEIs: of all of them, or, where there are further rows, of those that the first ones bar. */
async function lookUpSomeExclusions(
  client: SamGovClient,
  ueis: readonly string[],
  signal: AbortSignal,
): Promise<[uei: string, VendorRows<ExclusionRow>][]> {
  const ownOf = (rows: readonly ExclusionRow[], uei: string) => rows.filter((row) => row.ueis.includes(uei));
  const barredBy = (rows: readonly ExclusionRow[], at: Date) => {
    const today = registryDay(at);
    return ueis.filter((uei) => isBarred(ownOf(rows, uei), today));
  };
  const isEnough = (rows: readonly ExclusionRow[], at: Date) => barredBy(rows, at).length > 0;
  const listing = await client.exclusions({ ueiSAM: ueis }, isEnough, signal);
  const { rows, bodies, isComplete } = listing;
  const known = isComplete ? ueis : barredBy(rows, oldest(bodies));
  if (known.length === 0) throw new ProviderError("too_large", { isInputFault: true });
  return known.map((uei) => {
    const own = ownOf(rows, uei);
    return [uei, { ...vendorRowsOf(own, [partOf(listing, uei, "excludedEntity", own)]), isComplete }];
  });
}

/** The reasons for which a query is repeated in halves. Not for a 404, which comes for every query if the API has moved. */
const INVALID = new Set(["http_400", "http_422", "unaskable", "too_large"]);

async function inHalves<Row>(
  ueis: readonly string[],
  ask: (ueis: readonly string[]) => Promise<RowsByUei<Row>>,
): Promise<RowsByUei<Row>> {
  try {
    return await ask(ueis);
  } catch (error) {
    if (ueis.length === 1 || !(error instanceof ProviderError) || !INVALID.has(error.reason)) throw error;
    const middle = Math.ceil(ueis.length / 2);
    const halves = [ueis.slice(0, middle), ueis.slice(middle)];
    const found = await Promise.all(
      halves.map((half) =>
        inHalves(half, ask).catch((cause: unknown): RowsByUei<Row> => {
          const shared = cause instanceof ProviderError ? cause : new ProviderError("internal_error", { cause });
          return new Map(half.map((uei) => [uei, shared]));
        }),
      ),
    );
    return new Map(found.flatMap((half) => [...half]));
  }
}

function barredAt(rows: readonly ExclusionRow[], at: Date): boolean {
  return isBarred(rows, registryDay(at));
}

function queryFor({ uei, cage }: Vendor) {
  return uei ? { ueiSAM: [uei] } : { cageCode: [cage] };
}

function only(ueis: readonly string[]): Vendor {
  return { uei: ueis[0]!, cage: "" };
}

function vendorRowsOf<Row>(rows: readonly Row[], bodies: readonly ReceivedBody[]): VendorRows<Row> {
  return { rows, bodies, receivedAt: oldest(bodies) };
}

/** Returns one UEI's own part of a listing: neither its URL nor its body names the other UEIs of the call. */
function partOf(
  { bodies }: Listing<unknown>,
  uei: string,
  member: "entityData" | "excludedEntity",
  rows: readonly { raw: unknown }[],
): ReceivedBody {
  return {
    url: bodies[0]!.url.replace(/ueiSAM=\[[^\]]*\]/, `ueiSAM=${uei}`),
    receivedAt: oldest(bodies),
    text: JSON.stringify({ [member]: rows.map(({ raw }) => raw) }),
  };
}

function oldest(bodies: readonly ReceivedBody[]): Date {
  return new Date(Math.min(...bodies.map(({ receivedAt }) => receivedAt.getTime())));
}
