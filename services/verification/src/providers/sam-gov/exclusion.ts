import { type Exclusion, type ExclusionsPart, effectInForce, effectOf, registryDay } from "@vvs/registration";
import { z } from "zod";
import { readShape } from "../http/provider-http.ts";
import { ProviderError } from "../provider.ts";
import { apiSource, exclusionDate, optionalCode, optionalText, type Page } from "./shapes.ts";

/** Maximum number of exclusions in an answer; the evidence has all that were read. */
const MAX_EXCLUSIONS = 100;

/** One row of the Exclusions API. */
export interface ExclusionRow {
  /** The UEIs that the exclusion names, also those of its further locations. */
  readonly ueis: readonly string[];
  readonly cages: readonly string[];
  /** Its periods, apart from those whose record is inactive. */
  readonly exclusions: readonly Exclusion[];
  /** The row as received. */
  readonly raw: unknown;
}

const detailsShape = z.object({
  exclusionProgram: optionalText,
  exclusionType: optionalText,
  excludingAgencyName: optionalText,
  excludingAgencyCode: optionalText,
});
const NO_DETAILS = { exclusionProgram: "", exclusionType: "", excludingAgencyName: "", excludingAgencyCode: "" };
const identityShape = z.object({ ueiSAM: optionalCode, cageCode: optionalCode });
const otherShape = z.object({
  ctCode: optionalText,
  additionalComments: optionalText,
  moreLocations: z.array(identityShape).nullish(),
});

const pageShape = z.object({
  totalRecords: z.int().min(0),
  excludedEntity: z.array(
    z.object({
      exclusionDetails: detailsShape.catch(NO_DETAILS),
      exclusionIdentification: identityShape,
      exclusionActions: z.object({
        listOfActions: z
          .array(
            z.object({
              activateDate: exclusionDate,
              terminationDate: exclusionDate,
              terminationType: optionalText,
              recordStatus: optionalText,
            }),
          )
          .min(1),
      }),
      exclusionOtherInformation: otherShape.nullish(),
    }),
  ),
});

/** Parses a page of the Exclusions API v4. Errors: ProviderError `wrong_shape`. */
export function readExclusionPage(json: unknown): Page<ExclusionRow> {
  const { totalRecords, excludedEntity } = readShape(pageShape, json);
  const received = (json as { excludedEntity: unknown[] }).excludedEntity;
  const rows = excludedEntity.map((row, index) => {
    const named = [row.exclusionIdentification, ...(row.exclusionOtherInformation?.moreLocations ?? [])];
    const { exclusionProgram: program, exclusionType: type, excludingAgencyName: agency } = row.exclusionDetails;
    const comment = row.exclusionOtherInformation?.additionalComments ?? "";
    const causeCode = row.exclusionOtherInformation?.ctCode ?? "";
    const effect = effectOf({ agency: row.exclusionDetails.excludingAgencyCode, causeCode, comment });
    return {
      ueis: named.map(({ ueiSAM }) => ueiSAM).filter(Boolean),
      cages: named.map(({ cageCode }) => cageCode).filter(Boolean),
      exclusions: row.exclusionActions.listOfActions
        .filter(({ recordStatus }) => recordStatus.toLowerCase() !== "inactive")
        .map(({ activateDate: active_date, terminationDate, terminationType }): Exclusion => {
          const isIndefinite = terminationType.toLowerCase() === "indefinite" || terminationDate === "";
          return {
            program,
            type,
            agency,
            active_date,
            termination_date: isIndefinite ? "indefinite" : terminationDate,
            effect,
            ...(comment && { comment }),
          };
        }),
      raw: received[index],
    };
  });
  return { totalRecords, rows };
}

/** Returns true where a row bars its vendor on a registry's day, so that no further row can change the verdict. */
export function isBarred(rows: readonly ExclusionRow[], today: string): boolean {
  const exclusions = rows.flatMap((row) => row.exclusions);
  return effectInForce({ flagged: false, exclusions }, today) === "bar";
}

/** Returns at most 100 of the exclusions: first those that have begun, of these the strongest. */
export function shownExclusions(exclusions: readonly Exclusion[], today: string): Exclusion[] {
  const ofEffect = ({ effect = "bar" }: Exclusion) => effect;
  return exclusions
    .toSorted(
      (a, b) => Number(a.active_date > today) - Number(b.active_date > today) || ofEffect(a).localeCompare(ofEffect(b)), // bar before facility before product
    )
    .slice(0, MAX_EXCLUSIONS);
}

/**
 * Returns the exclusions part of rows: those that have not ended. Rows of a flagged vendor that were not read, or that SAM.gov
 * does not show, count as a bar. Errors: ProviderError `too_large` where they belong to a vendor without the flag.
 */
export function exclusionsPart(
  {
    rows,
    receivedAt,
    isComplete = true,
  }: { readonly rows: readonly ExclusionRow[]; readonly receivedAt: Date; readonly isComplete?: boolean },
  registration: { readonly isFlagged: boolean } | undefined,
): ExclusionsPart {
  const today = registryDay(receivedAt);
  const isFlagged = registration?.isFlagged ?? false;
  const hasUnread = !isComplete && !isBarred(rows, today);
  if (hasUnread && !isFlagged) throw new ProviderError("too_large", { isInputFault: true });
  const lasting = rows
    .flatMap((row) => row.exclusions)
    .filter(({ termination_date: end }) => end === "indefinite" || end >= today);
  const flagged = hasUnread || (isFlagged && lasting.length === 0);
  return { ...apiSource(receivedAt), flagged, exclusions: shownExclusions(lasting, today) };
}

/** Returns the exclusions part of a registration that flags exclusions, while none of their rows could be read. */
export function flaggedPart(receivedAt: Date): ExclusionsPart {
  return { ...apiSource(receivedAt), flagged: true, exclusions: [] };
}
