/** A registration in SAM.gov's Entity Management API. */
export interface PlayedRegistration {
  readonly uei: string;
  readonly cage?: string | null;
  readonly eftIndicator?: string | null;
  readonly legalName?: string;
  readonly samRegistered?: "Yes" | "No";
  readonly status?: string | null;
  /** YYYY-MM-DD. */
  readonly expirationDate?: string | null;
  readonly exclusionFlag?: string | null;
  readonly structureCode?: string | null;
  readonly structureDesc?: string | null;
}

/** An exclusion in SAM.gov's Exclusions API. */
export interface PlayedExclusion {
  readonly uei: string | null;
  readonly cage?: string | null;
  readonly name?: string;
  /** MM-DD-YYYY. */
  readonly activateDate?: string | null;
  /** MM-DD-YYYY; null if the exclusion is indefinite. */
  readonly terminationDate?: string | null;
  readonly terminationType?: string | null;
  readonly recordStatus?: string | null;
  readonly agencyCode?: string;
  readonly ctCode?: string | null;
  readonly comments?: string | null;
  /** UEIs of further locations. */
  readonly moreLocations?: readonly string[];
}

/** The text of GSA's rows of Section 889, which restrict products only. */
export const PRODUCTS_ONLY = "Section 889(a)(1)(A): the entity is not itself excluded, its equipment is prohibited.";

/** Returns one element of `entityData`, with the members that the public tier shows. */
export function entityRow(played: PlayedRegistration): Record<string, unknown> {
  const { uei, cage = "1PLY1", samRegistered = "Yes" } = played;
  const shared = {
    samRegistered,
    ueiSAM: uei,
    cageCode: cage,
    legalBusinessName: played.legalName ?? "PLAYED VENDOR LLC",
    registrationStatus: played.status === undefined ? "Active" : played.status,
    evsSource: null,
    ueiStatus: "Active",
    ueiExpirationDate: null,
    ueiCreationDate: "2021-07-20",
    publicDisplayFlag: "Y",
    dnbOpenData: null,
  };
  // A UEI without a registration has fewer members and no registration dates.
  if (samRegistered === "No") return { entityRegistration: shared, coreData: { physicalAddress: address() } };
  return {
    entityRegistration: {
      ...shared,
      entityEFTIndicator: played.eftIndicator ?? null,
      dodaac: null,
      dbaName: null,
      purposeOfRegistrationCode: "Z2",
      purposeOfRegistrationDesc: "All Awards",
      registrationDate: "2019-05-06",
      lastUpdateDate: "2026-02-11",
      registrationExpirationDate: played.expirationDate === undefined ? "2099-02-11" : played.expirationDate,
      activationDate: "2026-02-13",
      exclusionStatusFlag: played.exclusionFlag === undefined ? "N" : played.exclusionFlag,
      exclusionURL: null,
    },
    coreData: {
      entityInformation: { entityURL: null, entityStartDate: "2001-03-04", fiscalYearEndCloseDate: "12/31" },
      physicalAddress: address(),
      mailingAddress: address(),
      congressionalDistrict: "01",
      generalInformation: {
        entityStructureCode: played.structureCode === undefined ? "2L" : played.structureCode,
        entityStructureDesc:
          played.structureDesc === undefined ? "Corporate Entity (Not Tax Exempt)" : played.structureDesc,
        entityTypeCode: "F",
        entityTypeDesc: "Business or Organization",
      },
      businessTypes: {
        businessTypeList: [{ businessTypeCode: "2X", businessTypeDesc: "For Profit Organization" }],
        sbaBusinessTypeList: [{ sbaBusinessTypeCode: null, sbaBusinessTypeDesc: null }],
      },
    },
  };
}

/** Returns one element of `excludedEntity`. */
export function exclusionRow(played: PlayedExclusion): Record<string, unknown> {
  const { terminationDate = null } = played;
  return {
    exclusionDetails: {
      classificationType: "Firm",
      exclusionType: "Ineligible (Proceedings Completed)",
      exclusionProgram: "Reciprocal",
      excludingAgencyCode: played.agencyCode ?? "PLAY",
      excludingAgencyName: "DEPT OF PLAYED THINGS",
    },
    exclusionIdentification: {
      ueiSAM: played.uei,
      cageCode: played.cage ?? null,
      npi: null,
      entityName: played.name ?? "Played Vendor LLC",
      dnbOpenData: null,
    },
    exclusionActions: {
      listOfActions: [
        {
          createDate: "03-19-2025",
          updateDate: "03-19-2025",
          activateDate: played.activateDate === undefined ? "03-13-2025" : played.activateDate,
          terminationDate,
          terminationType: played.terminationType ?? (terminationDate ? "Definite" : "Indefinite"),
          recordStatus: played.recordStatus ?? "Active",
        },
      ],
    },
    exclusionPrimaryAddress: address(),
    exclusionSecondaryAddress: [],
    exclusionOtherInformation: {
      additionalComments: played.comments ?? null,
      ctCode: played.ctCode ?? null,
      references: { referencesList: [{ exclusionName: null, type: null }] },
      moreLocations: played.moreLocations?.map((ueiSAM) => ({
        exclusionName: "Another place",
        ueiSAM,
        cageCode: null,
      })) ?? [{ exclusionName: null, ueiSAM: null, cageCode: null }],
    },
    vesselDetails: { callSign: null, type: null },
  };
}

function address() {
  return {
    addressLine1: "1 Played Street",
    addressLine2: "null",
    city: "RESTON",
    stateOrProvinceCode: "VA",
    zipCode: "20190",
    zipCodePlus4: null,
    countryCode: "USA",
  };
}
