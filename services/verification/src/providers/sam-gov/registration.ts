import { z } from "zod";
import { entityDate, optionalCode, optionalText, type Page, readShape, requiredText } from "./shapes.ts";

/** One row of the Entity Management API, before its facts are read. */
export interface EntityRow {
  readonly uei: string;
  readonly cage: string;
  /** As received. */
  readonly raw: unknown;
}

/** What a row says of a registration. Texts are "" where it has none. */
export interface Registration {
  readonly uei: string;
  readonly cage: string;
  /** Tells apart the rows of one UEI that are paid to different accounts; the entity's own row has none. */
  readonly eftIndicator: string;
  /** False for a UEI that was assigned without a registration. */
  readonly isRegistered: boolean;
  /** The word "Active", which an id without a registration carries too. */
  readonly isActive: boolean;
  /** YYYY-MM-DD. */
  readonly expirationDate: string;
  /** SAM.gov flags an active exclusion of this UEI. */
  readonly isExcluded: boolean;
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
      // Versions 1 and 2, and the extracts, say D where 3 and 4 say Y.
      exclusionStatusFlag: optionalCode.pipe(z.enum(["", "N", "Y", "D"])),
    })
    .refine(({ samRegistered, registrationStatus }) => samRegistered === "No" || registrationStatus !== ""),
  coreData: z
    .object({ generalInformation: z.object({ entityStructureCode: optionalCode, entityStructureDesc: optionalText }) })
    .optional()
    .catch(undefined),
});

/** The registry's words for entity structures, the same as for its extract, so that monitors see no change between sources. */
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

/** A page of the Entity Management API v3 or v4. Errors: ProviderError `wrong_shape`. */
export function readEntityPage(json: unknown): Page<EntityRow> {
  const { totalRecords, entityData } = readShape(pageShape, json);
  const rows = entityData.map((raw) => ({
    uei: raw.entityRegistration.ueiSAM.toUpperCase(),
    cage: raw.entityRegistration.cageCode,
  }));
  const received = (json as { entityData: unknown[] }).entityData;
  return { totalRecords, rows: rows.map((row, index) => ({ ...row, raw: received[index] })) };
}

/** The facts of a row. Errors: ProviderError `wrong_shape`. */
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
    legalName: row.legalBusinessName,
    entityType: structure ? (ENTITY_TYPES[structure.entityStructureCode] ?? structure.entityStructureDesc) : "",
  };
}

/**
 * The row that stands for a UEI which has several: the one without an EFT indicator, then an active one, then the one
 * that expires last. An exclusion flagged on any of them is the UEI's. Undefined where there is none.
 */
export function chooseRegistration(rows: readonly Registration[]): Registration | undefined {
  const [first] = rows.toSorted(
    (a, b) =>
      Number(b.eftIndicator === "") - Number(a.eftIndicator === "") ||
      Number(b.isActive) - Number(a.isActive) ||
      b.expirationDate.localeCompare(a.expirationDate),
  );
  return first && { ...first, isExcluded: rows.some(({ isExcluded }) => isExcluded) };
}
