import { z } from "zod";
import { entityDate, optionalCode, optionalText, type Page, readShape, requiredText } from "./shapes.ts";

/** One row of the Entity Management API, before its facts are parsed. */
export interface EntityRow {
  readonly uei: string;
  readonly cage: string;
  /** The row as received. */
  readonly raw: unknown;
}

/** The facts of a row. Texts are "" where it has none. */
export interface Registration {
  readonly uei: string;
  readonly cage: string;
  /** Distinguishes the rows of one UEI that are paid to different accounts; empty in the entity's own row. */
  readonly eftIndicator: string;
  /** False for a UEI that was assigned but never registered. */
  readonly isRegistered: boolean;
  /** SAM.gov calls it "Active", as it does an id without a registration. */
  readonly isActive: boolean;
  /** YYYY-MM-DD. */
  readonly expirationDate: string;
  /** SAM.gov flags an exclusion of this UEI. */
  readonly isExcluded: boolean;
  /** SAM.gov says that this UEI has no exclusion; false where it says nothing. */
  readonly isClear: boolean;
  readonly legalName: string;
  readonly entityType: string;
}

const pageShape = z.object({
  totalRecords: z.int().min(0),
  entityData: z.array(
    z.looseObject({ entityRegistration: z.looseObject({ ueiSAM: requiredText, cageCode: optionalCode }) }),
  ),
});

const rowShape = z.object({
  entityRegistration: z
    .object({
      samRegistered: z.enum(["Yes", "No"]),
      ueiSAM: requiredText,
      entityEFTIndicator: optionalText,
      cageCode: optionalCode,
      legalBusinessName: requiredText,
      registrationStatus: optionalText,
      registrationExpirationDate: entityDate,
      // Versions 1 and 2 and the extracts have D where versions 3 and 4 have Y.
      exclusionStatusFlag: optionalCode.pipe(z.enum(["", "N", "Y", "D"])),
    })
    .refine(({ samRegistered, registrationStatus }) => samRegistered === "No" || registrationStatus !== ""),
  coreData: z
    .object({ generalInformation: z.object({ entityStructureCode: optionalCode, entityStructureDesc: optionalText }) })
    .optional()
    .catch(undefined),
});

/** Entity types by structure code, the same as for the extract, so that monitors see no change between the two sources. */
const ENTITY_TYPES: Readonly<Record<string, string>> = {
  "2J": "Sole Proprietorship",
  "2K": "Partnership or Limited Liability Partnership",
  "2L": "Corporate Entity (Not Tax Exempt)",
  "8H": "Corporate Entity (Tax Exempt)",
  "2A": "U.S. Government Entity",
  CY: "Country - Foreign Government",
  X6: "International Organization",
  ZZ: "Other",
};

/** Parses a page of the Entity Management API v3 or v4. Errors: ProviderError `wrong_shape`. */
export function readEntityPage(json: unknown): Page<EntityRow> {
  const { totalRecords, entityData } = readShape(pageShape, json);
  const rows = entityData.map((raw) => ({
    uei: raw.entityRegistration.ueiSAM.toUpperCase(),
    cage: raw.entityRegistration.cageCode,
  }));
  const received = (json as { entityData: unknown[] }).entityData;
  return { totalRecords, rows: rows.map((row, index) => ({ ...row, raw: received[index] })) };
}

/** Parses the facts of a row. Errors: ProviderError `wrong_shape`. */
export function readRegistration({ raw }: EntityRow): Registration {
  const { entityRegistration: row, coreData } = readShape(rowShape, raw);
  const structure = coreData?.generalInformation;
  return {
    uei: row.ueiSAM.toUpperCase(),
    cage: row.cageCode,
    eftIndicator: row.entityEFTIndicator,
    isRegistered: row.samRegistered === "Yes",
    isActive: row.registrationStatus.toLowerCase() === "active",
    expirationDate: row.registrationExpirationDate,
    isExcluded: row.exclusionStatusFlag === "Y" || row.exclusionStatusFlag === "D",
    isClear: row.exclusionStatusFlag === "N",
    legalName: row.legalBusinessName,
    entityType: structure ? (ENTITY_TYPES[structure.entityStructureCode] ?? structure.entityStructureDesc) : "",
  };
}

/**
 * Chooses among the rows of one UEI: first the one without an EFT indicator, then an active one, then the one that expires
 * last. The UEI is excluded where any row flags an exclusion, and clear where all rows say so. Returns undefined where
 * there are no rows.
 */
export function chooseRegistration(rows: readonly Registration[]): Registration | undefined {
  const [first] = rows.toSorted(
    (a, b) =>
      Number(b.eftIndicator === "") - Number(a.eftIndicator === "") ||
      Number(b.isActive) - Number(a.isActive) ||
      b.expirationDate.localeCompare(a.expirationDate),
  );
  const isExcluded = rows.some((row) => row.isExcluded);
  return first && { ...first, isExcluded, isClear: rows.every((row) => row.isClear) };
}
