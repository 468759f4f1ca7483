import { entityTypes, type PartSource, type RegistrationPart } from "@vvs/registration";
import { z } from "zod";
import { readShape } from "../http/provider-http.ts";
import { apiSource, entityDate, optionalCode, optionalText, type Page, requiredText } from "./shapes.ts";

/** One row of the Entity Management API, before its facts are parsed. */
export interface EntityRow {
  readonly uei: string;
  readonly cage: string;
  /** The row as received. */
  readonly raw: unknown;
}

/** What a row says. */
export interface Registration {
  /** Distinguishes the rows of one UEI that are paid to different accounts; empty in the entity's own row. */
  readonly eftIndicator: string;
  /** SAM.gov says that this UEI has exclusions, of whatever effect. */
  readonly isFlagged: boolean;
  /** SAM.gov says that this UEI has no exclusion; false where it says nothing. */
  readonly isClear: boolean;
  readonly listed: Omit<RegistrationPart, keyof PartSource>;
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

/** Parses a page of the Entity Management API v3 or v4. Errors: ProviderError `wrong_shape`. */
export function readEntityPage(json: unknown): Page<EntityRow> {
  const { totalRecords, entityData } = readShape(pageShape, json);
  const received = (json as { entityData: unknown[] }).entityData;
  const rows = entityData.map(({ entityRegistration: { ueiSAM, cageCode } }, index) => ({
    uei: ueiSAM.toUpperCase(),
    cage: cageCode,
    raw: received[index],
  }));
  return { totalRecords, rows };
}

/** Parses the facts of a row. Errors: ProviderError `wrong_shape`. */
export function readRegistration({ raw }: EntityRow): Registration {
  const { entityRegistration: row, coreData } = readShape(rowShape, raw);
  const structure = coreData?.generalInformation;
  return {
    eftIndicator: row.entityEFTIndicator,
    isFlagged: row.exclusionStatusFlag === "Y" || row.exclusionStatusFlag === "D",
    isClear: row.exclusionStatusFlag === "N",
    listed: {
      // An id without a registration is "Active" too.
      listed_as: row.registrationStatus.toLowerCase() === "active" ? "active" : "inactive",
      id_only: row.samRegistered === "No",
      expiration_date: row.registrationExpirationDate,
      legal_name: row.legalBusinessName,
      cage: row.cageCode,
      uei: row.ueiSAM.toUpperCase(),
      entity_type: structure ? (entityTypes[structure.entityStructureCode] ?? structure.entityStructureDesc) : "",
    },
  };
}

/**
 * Chooses among the rows of one UEI: first the one without an EFT indicator, then an active one, then the one that expires
 * last. The UEI is flagged where any row flags an exclusion, and clear where all rows say so. Returns undefined where
 * there are no rows.
 */
export function chooseRegistration(rows: readonly Registration[]): Registration | undefined {
  const [first] = rows.toSorted(
    (a, b) =>
      Number(b.eftIndicator === "") - Number(a.eftIndicator === "") ||
      a.listed.listed_as.localeCompare(b.listed.listed_as) || // active before inactive
      b.listed.expiration_date.localeCompare(a.listed.expiration_date),
  );
  const isFlagged = rows.some((row) => row.isFlagged);
  return first && { ...first, isFlagged, isClear: rows.every((row) => row.isClear) };
}

const NOT_FOUND: Registration["listed"] = {
  listed_as: "not_found",
  id_only: false,
  expiration_date: "",
  legal_name: "",
  cage: "",
  entity_type: "",
};

/** Returns the registration part: `not_found` for a vendor without a registration or an id. */
export function registrationPart(registration: Registration | undefined, receivedAt: Date): RegistrationPart {
  const flag = registration?.isFlagged && { flagged: true as const };
  return { ...apiSource(receivedAt), ...(registration?.listed ?? NOT_FOUND), ...flag };
}
