import { expect, test } from "@jest/globals";
import { wordsOf } from "../matching/names/name-keys.ts";
import { normalizeName } from "../matching/names/normalize-name.ts";
import { isPlain, plainName } from "./plain-name.ts";

test.each([
  "Quarrystone Paving LLC",
  "ACME CO., INC.",
  "3M Company",
  "Forty Four Mfg Holdings",
  "The Larkspur",
  "Straße Łódź GmbH",
])("%s is the same from its words and legal forms", (text) => {
  const name = normalizeName(text);
  const words = wordsOf(name);
  expect(isPlain(name, words)).toBe(true);
  expect(plainName(words, name.legalForms)).toEqual(name);
});

test.each([
  ["with particles", "Bank of Elgin"],
  ["with a word twice", "Walla Walla Foods"],
  ["with an abbreviation with several meanings", "Comm Group"],
  ["of a person", "SANDOVAL, MARIA T"],
  ["with a qualifier", "Philips NV, Eindhoven"],
  ["of two names", "Acme dba Zenith"],
  ["of nothing", ""],
])("a name %s is not plain", (_, text) => {
  const name = normalizeName(text);
  expect(isPlain(name, wordsOf(name))).toBe(false);
});
