import { ProviderError } from "../provider.ts";
import type { Listing, ReceivedBody, SamGovClient } from "./client.ts";
import type { ExclusionRow } from "./exclusion.ts";
import type { EntityRow } from "./registration.ts";

/** What SAM.gov said of one vendor. */
export interface Found {
  /** Empty where it has neither a registration nor an id, or shows none in public. */
  readonly rows: readonly EntityRow[];
  /** Or why there are none. */
  readonly exclusions: readonly ExclusionRow[] | ProviderError;
  /** What was received of it, in the order of the calls. */
  readonly bodies: readonly ReceivedBody[];
  readonly receivedAt: Date;
}

/** The vendor's identifiers; "" where unknown. */
export interface Vendor {
  readonly uei: string;
  readonly cage: string;
}

/**
 * Asks for one vendor: its registration, its mere id where there is no registration, and its exclusions beside them. A
 * CAGE serves where there is no UEI. Errors: ProviderError where the registration can't be known; an exclusions call
 * that failed is told in the result.
 */
export async function lookUpOne(client: SamGovClient, vendor: Vendor, signal: AbortSignal): Promise<Found> {
  const asked = vendor.uei ? { ueiSAM: [vendor.uei] } : { cageCode: [vendor.cage] };
  const excluded = vendor.uei ? exclusionsOf(client, asked, signal) : undefined;
  const registered = await client.entities(asked, "Yes", signal);
  const ids = registered.rows.length === 0 ? await client.entities(asked, "No", signal) : undefined;
  const { rows } = ids ?? registered;
  const ueis = [...new Set(rows.map(({ uei }) => uei))];
  if (ueis.length > 1) throw new ProviderError("ambiguous_cage", { isFault: false });
  const exclusions = await (excluded ?? exclusionsOf(client, ueis.length === 1 ? { ueiSAM: ueis } : asked, signal));
  const bodies = [...registered.bodies, ...(ids?.bodies ?? []), ...bodiesOf(exclusions)];
  return {
    rows,
    exclusions: exclusions instanceof ProviderError ? exclusions : exclusions.rows,
    bodies,
    receivedAt: oldest(bodies),
  };
}

/**
 * Asks for up to 100 UEIs at once. Each gets the part of the answers that is its own, and nothing of the others'. Where
 * SAM.gov finds fault with the question it is asked in halves, so that one UEI does not cost all others their answer.
 * What can't be known of a UEI is its error. Errors: as lookUpOne's, where they are of all.
 */
export async function lookUpMany(
  client: SamGovClient,
  ueis: readonly string[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, Found | ProviderError>> {
  if (ueis.length === 1) return new Map([[ueis[0]!, await lookUpOne(client, { uei: ueis[0]!, cage: "" }, signal)]]);
  try {
    return await lookUpTogether(client, ueis, signal);
  } catch (error) {
    if (!(error instanceof ProviderError) || error.reason !== "http_400") throw error;
    const half = Math.ceil(ueis.length / 2);
    const halves = [ueis.slice(0, half), ueis.slice(half)];
    const found = await Promise.all(halves.map((part) => lookUpMany(client, part, signal).catch(eachOf(part))));
    return new Map(found.flatMap((part) => [...part]));
  }
}

/** Their common error, for each. */
function eachOf(ueis: readonly string[]): (error: unknown) => Map<string, ProviderError> {
  return (error) => new Map(ueis.map((uei) => [uei, asProviderError(error)]));
}

function asProviderError(error: unknown): ProviderError {
  return error instanceof ProviderError ? error : new ProviderError("internal_error", { cause: error });
}

async function lookUpTogether(client: SamGovClient, ueis: readonly string[], signal: AbortSignal) {
  const excluded = exclusionsOf(client, { ueiSAM: ueis }, signal);
  const registered = await client.entities({ ueiSAM: ueis }, "Yes", signal);
  const known = new Set(registered.rows.map(({ uei }) => uei));
  const missing = ueis.filter((uei) => !known.has(uei));
  const ids = missing.length > 0 ? await client.entities({ ueiSAM: missing }, "No", signal) : undefined;
  const exclusions = await excluded;
  const part = (uei: string): Found => {
    const own = <Row extends EntityRow | ExclusionRow>(rows: readonly Row[]) =>
      rows.filter((row) => ("ueis" in row ? row.ueis.includes(uei) : row.uei === uei));
    const listing = known.has(uei) || !ids ? registered : ids;
    const bodies = [
      ...(listing === ids ? [partOf(registered, uei, "entityData", [])] : []),
      partOf(listing, uei, "entityData", own(listing.rows)),
      ...(exclusions instanceof ProviderError ? [] : [partOf(exclusions, uei, "excludedEntity", own(exclusions.rows))]),
    ];
    return {
      rows: own(listing.rows),
      exclusions: exclusions instanceof ProviderError ? exclusions : own(exclusions.rows),
      bodies,
      receivedAt: oldest(bodies),
    };
  };
  return new Map(ueis.map((uei) => [uei, part(uei)]));
}

/** The part of a listing that is of one UEI: neither the address nor the body names the others asked for with it. */
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

/** Never rejects, since nobody may be waiting for it any more. */
async function exclusionsOf(
  client: SamGovClient,
  asked: Parameters<SamGovClient["exclusions"]>[0],
  signal: AbortSignal,
) {
  try {
    return await client.exclusions(asked, signal);
  } catch (error) {
    return asProviderError(error);
  }
}

function bodiesOf(exclusions: Listing<ExclusionRow> | ProviderError): readonly ReceivedBody[] {
  return exclusions instanceof ProviderError ? [] : exclusions.bodies;
}

function oldest(bodies: readonly ReceivedBody[]): Date {
  return new Date(Math.min(...bodies.map(({ receivedAt }) => receivedAt.getTime())));
}
