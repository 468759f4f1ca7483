/**
 * SAM.gov's structures of entities by their code, in its words. The extract and the API name them alike, so that monitors see
 * no change between the two sources.
 */
export const entityTypes: Readonly<Record<string, string>> = {
  "2J": "Sole Proprietorship",
  "2K": "Partnership or Limited Liability Partnership",
  "2L": "Corporate Entity (Not Tax Exempt)",
  "8H": "Corporate Entity (Tax Exempt)",
  "2A": "U.S. Government Entity",
  CY: "Country - Foreign Government",
  X6: "International Organization",
  ZZ: "Other",
};
