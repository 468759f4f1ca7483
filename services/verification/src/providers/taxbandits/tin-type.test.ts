import { describe, expect, test } from "@jest/globals";
import { questionsFor } from "./tin-type.ts";

const SOLE = "Sole Proprietorship";
const shown = (tin: string, legalName: string, entityType = "") =>
  questionsFor({ tin, entityType, legalName, sentName: legalName.replaceAll(/[.,']/g, "") }).map((asked) =>
    asked.TINType === "EIN"
      ? "EIN"
      : [asked.TINType, asked.FirstNm, asked.MiddleNm, asked.LastNm].filter(Boolean).join(" "),
  );

describe("the types of a TIN, the likeliest first", () => {
  test.each([
    ["a business without a known structure", "471829360", "Smith & Sons, Inc.", "", ["EIN"]],
    ["another structure", "471829360", "Maria Garcia", "Corporate Entity (Not Tax Exempt)", ["EIN"]],
    ["a government", "471829360", "Maria Garcia", "U.S. Government Entity", ["EIN"]],
    ["a person's name", "471829360", "Maria Garcia", "", ["EIN", "SSN Maria Garcia"]],
    ["a structure that says nothing", "471829360", "Maria Garcia", "Other", ["EIN", "SSN Maria Garcia"]],
    ["a sole proprietor", "471829360", "Maria L. Garcia", SOLE, ["SSN Maria L Garcia", "EIN"]],
    ["a sole proprietor, turned", "471829360", "GARCIA, MARIA L", SOLE, ["SSN MARIA L GARCIA", "EIN"]],
    ["a sole proprietor with a suffix", "471829360", "SMITH JR., JOHN", SOLE, ["SSN JOHN SMITH", "EIN"]],
    ["an individual", "471829360", "John Smith, III", "Individual", ["SSN John Smith", "EIN"]],
    ["a surname of two words, turned", "471829360", "GARCIA LOPEZ, MARIA", SOLE, ["SSN MARIA GARCIA LOPEZ", "EIN"]],
    ["a surname of three words, turned", "471829360", "DE LA CRUZ, MARIA", SOLE, ["SSN MARIA DE LA CRUZ", "EIN"]],
    ["credentials", "471829360", "John Smith, M.D.", SOLE, ["SSN John Smith", "EIN"]],
    ["credentials between commas", "471829360", "John Smith, DO, PhD", SOLE, ["SSN John Smith", "EIN"]],
    ["a name like credentials", "471829360", "Kim Do", SOLE, ["SSN Kim Do", "EIN"]],
    ["such a name, turned", "471829360", "Kim, Do", SOLE, ["SSN Do Kim", "EIN"]],
    ["another name behind", "071829360", "John Smith dba Smith Plumbing", "", ["SSN John Smith"]],
    ["another name behind, turned", "071829360", "SMITH, JOHN D/B/A Smith Plumbing", "", ["SSN JOHN SMITH"]],
    ["a sole proprietor with a business name", "471829360", "Garcia Consulting", SOLE, ["EIN"]],
    ["a sole proprietor with one word", "471829360", "Garcia", SOLE, ["EIN"]],
    ["no prefix of an EIN", "071829360", "Maria Garcia", "", ["SSN Maria Garcia"]],
    ["no prefix of an EIN, and a business", "071829360", "Acme LLC", "", ["EIN"]],
    ["no SSN: area 000", "000829360", "Maria Garcia", SOLE, ["EIN"]],
    ["no SSN: area 666", "666829360", "Maria Garcia", SOLE, ["EIN"]],
    ["no SSN: group 00", "471009360", "Maria Garcia", SOLE, ["EIN"]],
    ["no SSN: serial 0000", "471820000", "Maria Garcia", SOLE, ["EIN"]],
    ["an ITIN", "912709360", "Maria Garcia", SOLE, ["ITIN Maria Garcia", "EIN"]],
    ["a 9 that is no ITIN", "912669360", "Maria Garcia", SOLE, ["EIN"]],
  ])("%s: %s %s %s", (_name, tin, legalName, entityType, expected) => {
    expect(shown(tin, legalName, entityType)).toEqual(expected);
  });

  test("with all words before a comma as the surname", () => {
    const [asked] = questionsFor({ tin: "471829360", entityType: SOLE, legalName: "DE LA CRUZ, MARIA", sentName: "" });
    expect(asked).toEqual({ TINType: "SSN", FirstNm: "MARIA", LastNm: "DE LA CRUZ" });
  });
});
