/** What a column can say of a vendor, with the words for it that a person can choose from. */
export const fields = {
  uei: "UEI",
  tin: "TIN",
  duns: "DUNS",
  cage: "CAGE code",
  legal_name: "Legal name",
  external_id: "Your vendor number",
  entity_id: "Entity ID (ent_…)",
  address_line1: "Address",
  address_line2: "Address, line 2",
  city: "City",
  state: "State",
  zip: "ZIP code",
  country: "Country",
} as const;

export type Field = keyof typeof fields;

/** Fields by which a vendor can be found; a list has at least one of them. */
export const namingFields: readonly Field[] = ["entity_id", "uei", "tin", "duns", "cage", "legal_name"];

/**
 * How people name the columns, best first: letters and digits only. `vendor`, `supplier` and the like before a name, and
 * `number` or `code` after it, are left out before comparing where that finds nothing.
 */
const HEADERS: Readonly<Record<Field, string>> = {
  uei: `uei uniqueentityid uniqueentityidentifier ueisam samuei ueiuniqueentityid uniqueentityidsam uniqueentityiduei
    ueiid samuniqueentityid samgovuei entityuei`,
  tin: `tin taxid ein fein taxpayerid taxpayeridentification taxidentification taxidtin taxidein tinein eintin einssn
    ssnein tinssn taxidssn federaltaxid fedtaxid federalid fedid federalein federaltaxidentification federalidentification
    employeridentification employerid ssn socialsecurity taxnumber taxno taxpayernumber irsnumber irsno taxid1 1099taxid
    einortin stcd1`,
  duns: "duns dunsid dandb dunandbradstreet dunsandbradstreet",
  cage: "cage cageid ncage cagencage",
  legal_name: `legalname legalbusinessname legalentityname registeredname nameofrecord irsname taxname 1099name vendorname
    suppliername companyname businessname entityname organizationname organisationname payeename contractorname
    subcontractorname recipientname corporatename firmname fullname vendorlegalname vendorsname suppliersname nameofvendor nameofsupplier
    nameofcompany name1 name vendor supplier company
    organization organisation business payee contractor subcontractor firm`,
  external_id: `externalid vendornumber vendorid vendorno vendornum vendorcode suppliernumber supplierid supplierno suppliernum
    suppliercode payeeid payeenumber vendoraccount supplieraccount vendorrecordid internalid erpid lifnr id`,
  entity_id: "entityid",
  address_line1: `addressline1 address1 address streetaddress street street1 addr1 addr mailingaddress physicaladdress
    businessaddress remittoaddress remitaddress addressstreet stras`,
  address_line2: "addressline2 address2 street2 addr2 suite unit aptsuite",
  city: "city town citytown addresscity mailingcity physicalcity ort01",
  state: "state stateprovince province region stateregion addressstate mailingstate physicalstate st regio",
  zip: "zip zipcode postalcode postcode postal zippostalcode zip5 zip4 zippostal addresszip mailingzip physicalzip pstlz",
  country: "country countrycode countryname addresscountry land1",
};

/** The field and its place among the words for it: the lower, the better. */
export interface FieldGuess {
  readonly field: Field;
  readonly rank: number;
}

const guesses = new Map<string, FieldGuess>(
  Object.entries(HEADERS).flatMap(([field, words]) =>
    words.split(/\s+/).map((word, rank) => [word, { field: field as Field, rank }] as const),
  ),
);

const MAX_NAME_LENGTH = 100;
const NUMBER = /(?:number|code|num|nbr|no)$/;

/** Returns the field that a column's name means; undefined if it is none that is known. */
export function guessField(name: string): FieldGuess | undefined {
  if (name.length > MAX_NAME_LENGTH) return undefined;
  const whole = lettersOf(name);
  const inner = lettersOf(name.replaceAll(/\(.*?\)|\[.*?\]/g, " "));
  return [whole, inner].flatMap((word) => guesses.get(word) ?? guessByEssence(word) ?? [])[0];
}

/** The number of what bears a name, such as that of a contractor, is the organization's own: not a name. */
function guessByEssence(word: string): FieldGuess | undefined {
  const inner = word.replace(/^(?:vendor|supplier|payee|company|business|primary)/, "");
  const found = guesses.get(inner.replace(NUMBER, ""));
  return found?.field === "legal_name" && NUMBER.test(inner) ? { field: "external_id", rank: guesses.size } : found;
}

/** Returns the letters and digits of a column's name, which tell whether two names are the same. */
export function lettersOf(name: string): string {
  return name
    .normalize("NFKC")
    .toLowerCase()
    .replaceAll("&", "and")
    .replaceAll("#", "number")
    .replaceAll(/[^a-z\d]/g, "");
}
