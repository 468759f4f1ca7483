import type { Exclusion } from "@vvs/registration";
import { z } from "zod";
import { exclusionDate, optionalCode, optionalText, type Page, readShape } from "./shapes.ts";

/** Maximum number of exclusions in an answer; the evidence has all. */
export const MAX_EXCLUSIONS = 100;

/** One row of the Exclusions API. */
export interface ExclusionRow {
  /** The UEIs that the exclusion names, also those of its further locations. */
  readonly ueis: readonly string[];
  readonly cages: readonly string[];
  readonly program: string;
  readonly type: string;
  readonly agency: string;
  readonly actions: readonly ExclusionAction[];
  /** The row as received. */
  readonly raw: unknown;
}

/** The period of an exclusion. Dates are YYYY-MM-DD, "" where there is none. */
export interface ExclusionAction {
  readonly activateDate: string;
  readonly terminationDate: string;
  readonly isIndefinite: boolean;
  readonly recordStatus: string;
}

const detailsShape = z.object({
  exclusionProgram: optionalText,
  exclusionType: optionalText,
  excludingAgencyName: optionalText,
});
const NO_DETAILS = { exclusionProgram: "", exclusionType: "", excludingAgencyName: "" };

const identityShape = z.object({ ueiSAM: optionalCode, cageCode: optionalCode });

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
      exclusionOtherInformation: z.object({ moreLocations: z.array(identityShape).nullish() }).nullish(),
    }),
  ),
});

/** Parses a page of the Exclusions API v4. Errors: ProviderError `wrong_shape`. */
export function readExclusionPage(json: unknown): Page<ExclusionRow> {
  const { totalRecords, excludedEntity } = readShape(pageShape, json);
  const received = (json as { excludedEntity: unknown[] }).excludedEntity;
  const rows = excludedEntity.map((row, index) => {
    const named = [row.exclusionIdentification, ...(row.exclusionOtherInformation?.moreLocations ?? [])];
    return {
      ueis: named.map(({ ueiSAM }) => ueiSAM).filter(Boolean),
      cages: named.map(({ cageCode }) => cageCode).filter(Boolean),
      program: row.exclusionDetails.exclusionProgram,
      type: row.exclusionDetails.exclusionType,
      agency: row.exclusionDetails.excludingAgencyName,
      actions: row.exclusionActions.listOfActions.map((action) => ({
        activateDate: action.activateDate,
        terminationDate: action.terminationDate,
        isIndefinite: action.terminationType.toLowerCase() === "indefinite",
        recordStatus: action.recordStatus,
      })),
      raw: received[index],
    };
  });
  return { totalRecords, rows };
}

/** Returns the exclusions that have not ended before today (YYYY-MM-DD): at most 100, those that have begun first. */
export function exclusionsOf(rows: readonly ExclusionRow[], today: string): Exclusion[] {
  const found = rows.flatMap(({ program, type, agency, actions }) =>
    actions
      .filter(({ recordStatus }) => recordStatus.toLowerCase() !== "inactive")
      .map(({ activateDate, terminationDate, isIndefinite }) => ({
        program,
        type,
        agency,
        active_date: activateDate,
        termination_date: isIndefinite || terminationDate === "" ? "indefinite" : terminationDate,
      }))
      .filter(({ termination_date: end }) => end === "indefinite" || end >= today),
  );
  return found
    .toSorted((a, b) => Number(a.active_date > today) - Number(b.active_date > today))
    .slice(0, MAX_EXCLUSIONS);
}
