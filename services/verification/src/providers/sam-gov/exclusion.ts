import { z } from "zod";
import { exclusionDate, optionalCode, optionalText, type Page, readShape } from "./shapes.ts";

/** One row of the Exclusions API. */
export interface ExclusionRow {
  /** Those that the exclusion names, its further locations' included. */
  readonly ueis: readonly string[];
  readonly cages: readonly string[];
  readonly actions: readonly ExclusionAction[];
  /** As received. */
  readonly raw: unknown;
}

/** Dates are YYYY-MM-DD, "" where there is none. */
export interface ExclusionAction {
  readonly activateDate: string;
  readonly terminationDate: string;
  readonly isIndefinite: boolean;
  readonly recordStatus: string;
}

const identityShape = z.object({ ueiSAM: optionalCode, cageCode: optionalCode });

const pageShape = z.object({
  totalRecords: z.int().min(0),
  excludedEntity: z.array(
    z.object({
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

/** A page of the Exclusions API v4. Errors: ProviderError `wrong_shape`. */
export function readExclusionPage(json: unknown): Page<ExclusionRow> {
  const { totalRecords, excludedEntity } = readShape(pageShape, json);
  const received = (json as { excludedEntity: unknown[] }).excludedEntity;
  const rows = excludedEntity.map((row, index) => {
    const named = [row.exclusionIdentification, ...(row.exclusionOtherInformation?.moreLocations ?? [])];
    return {
      ueis: named.map(({ ueiSAM }) => ueiSAM).filter(Boolean),
      cages: named.map(({ cageCode }) => cageCode).filter(Boolean),
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

/** Is an exclusion in force today (YYYY-MM-DD): begun, and without an end or not past its last day? */
export function isInForce({ actions }: Pick<ExclusionRow, "actions">, today: string): boolean {
  return actions.some(
    ({ activateDate, terminationDate, isIndefinite, recordStatus }) =>
      recordStatus.toLowerCase() !== "inactive" &&
      activateDate <= today &&
      (isIndefinite || terminationDate === "" || terminationDate >= today),
  );
}
