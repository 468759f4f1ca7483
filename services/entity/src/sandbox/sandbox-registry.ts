import { ueiCheckDigit } from "@vvs/identifiers/oddities";
import type { RegistrationStatus } from "@vvs/registration";
import type { Address } from "../matching/addresses/address.ts";
import type { RegistryEntityFacts } from "../model/facts.ts";
import { sandboxPlaces, sandboxStreets, sandboxTrades, sandboxWords } from "./sandbox-words.ts";

/** Number of entities beside those with a documented behavior. */
const madeUpEntities = 600;

/** The entities whose UEI decides the answers of the sandbox's providers; the documentation lists them. */
const special: readonly [uei: string, legalName: string, status: RegistrationStatus][] = [
  ["SANDBXACTVE1", "Sandbox Active Vendor LLC", "active"],
  ["SANDBXNACTV1", "Sandbox Inactive Vendor Inc", "inactive"],
  ["SANDBXEXPRD1", "Sandbox Expired Vendor Corp", "expired"],
  ["SANDBXDEBAR1", "Sandbox Debarred Vendor LLC", "debarred"],
  ["SANDBXERRR01", "Sandbox Provider Error Company", "active"],
  ["SANDBXFALLB1", "Sandbox Provider Fallback Partners LLP", "active"],
  ["SANDBXCHNGE1", "Sandbox Changing Status Inc", "active"],
];

/**
 * Documented as well: each verification says that they expire in so many days, or that an exclusion bears the name. They come
 * last, so that all others stay as they were before these were added.
 */
const addedLater: typeof special = [
  ["SANDBXEXP10D", "Sandbox Expiring In 10 Days LLC", "active"],
  ["SANDBXEXP40D", "Sandbox Expiring In 40 Days LLC", "active"],
  ["SANDBXEXP80D", "Sandbox Expiring In 80 Days LLC", "active"],
  ["SANDBXSAMEN2", "Sandbox Same Name LLC", "active"],
];

const legalForms = [
  ["LLC", "Partnership or Limited Liability Partnership"],
  ["Inc", "Corporate Entity (Not Tax Exempt)"],
  ["Corp", "Corporate Entity (Not Tax Exempt)"],
  ["Co", "Corporate Entity (Not Tax Exempt)"],
  ["LLP", "Partnership or Limited Liability Partnership"],
  ["Foundation", "Corporate Entity (Tax Exempt)"],
] as const;

/**
 * Returns the synthetic registry of the sandbox, the same at every call. GSA issues none of its UEIs (the check character
 * is wrong) and CAGE codes (they contain the letter O). Dates are far from now, so that each status stays true. Every 40th
 * entity has the core name of the previous one with another legal form.
 */
export function sandboxRegistry(): RegistryEntityFacts[] {
  const random = randomNumbers(20_261_121);
  const documented = (listed: typeof special, firstSerial: number) =>
    listed.map(([uei, legalName, status], index) => {
      const entityType = "Corporate Entity (Not Tax Exempt)";
      return entityOf({ uei, legalName, status, serial: firstSerial + index, entityType, random });
    });
  const entities = documented(special, 0);
  const names = new Set<string>();
  let before = { core: "", form: 0 };
  for (let index = 0; index < madeUpEntities; index++) {
    const sharesName = index % 40 === 39;
    const core = sharesName ? before.core : newCoreName(names, random);
    const formIndex = sharesName ? (before.form + 1) % legalForms.length : pick(legalForms.length, random);
    const form = legalForms[formIndex]!;
    entities.push(
      entityOf({
        uei: sandboxUei(index),
        legalName: `${core} ${form[0]}`,
        status: statusOf(index),
        serial: special.length + index,
        entityType: form[1],
        otherName: index % 7 === 0 ? `${core.split(" ").slice(0, 2).join(" ")} Group` : undefined,
        random,
      }),
    );
    before = { core, form: formIndex };
  }
  return [...entities, ...documented(addedLater, entities.length)];
}

type RandomNumbers = () => number;

/** A linear congruential generator (Numerical Recipes' constants): numbers in [0, 1), the same for the same seed. */
function randomNumbers(seed: number): RandomNumbers {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

function pick(count: number, random: RandomNumbers): number {
  return Math.floor(random() * count);
}

function statusOf(index: number): RegistrationStatus {
  const place = index % 20;
  if (place < 12) return "active";
  if (place < 15) return "inactive";
  return place < 18 ? "expired" : "debarred";
}

function newCoreName(taken: Set<string>, random: RandomNumbers): string {
  for (;;) {
    const first = sandboxWords[pick(sandboxWords.length, random)]!;
    const second = sandboxWords[pick(sandboxWords.length, random)]!;
    const trade = sandboxTrades[pick(sandboxTrades.length, random)]!;
    const name = `${first} ${second} ${trade}`;
    if (first === second || taken.has(name)) continue;
    taken.add(name);
    return name;
  }
}

/** `SANDBX`, a serial number and a wrong check digit. */
function sandboxUei(index: number): string {
  const first11 = `SANDBX${String(10_000 + index)}`;
  return `${first11}${(ueiCheckDigit(first11) + 1) % 10}`;
}

/** Issued CAGE codes never contain the letter O. */
function sandboxCage(serial: number): string {
  return `${1 + (serial % 9)}O${String(serial).padStart(3, "0")}`;
}

function entityOf(options: {
  uei: string;
  legalName: string;
  status: RegistrationStatus;
  serial: number;
  entityType: string;
  otherName?: string;
  random: RandomNumbers;
}): RegistryEntityFacts {
  const { uei, legalName, status, serial, entityType, otherName, random } = options;
  const [city, state, zip] = sandboxPlaces[pick(sandboxPlaces.length, random)]!;
  const street = sandboxStreets[pick(sandboxStreets.length, random)]!;
  const suite = pick(4, random) === 0 ? `STE ${100 + pick(800, random)}` : undefined;
  const place = { city, state, country: "USA" };
  const line1 = `${1 + serial + 100 * pick(90, random)} ${street}`;
  const addresses: Address[] = [{ type: "physical", line1, ...(suite && { line2: suite }), ...place, zip }];
  if (serial % 5 === 0) addresses.push({ type: "mailing", line1: `PO BOX ${1000 + serial}`, ...place, zip });
  return {
    uei,
    eft_indicator: "",
    legal_name: legalName,
    other_names: otherName ? [otherName] : [],
    addresses,
    sam: {
      sam_registered: true,
      listed_as: status === "debarred" ? "active" : status,
      expiration_date: status === "expired" ? "2021-03-31" : "2099-03-31",
      excluded: status === "debarred",
      cage: sandboxCage(serial),
      entity_type: entityType,
    },
  };
}
