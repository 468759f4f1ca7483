import { describe, expect, test } from "@jest/globals";
import { repairName } from "./written-name.ts";

/** UTF-8 read as Windows-1252, as a browser reads it. */
const misread = (text: string) => new TextDecoder("windows-1252").decode(new TextEncoder().encode(text));
const misreadAsLatin1 = (text: string) => Buffer.from(text, "utf8").toString("latin1");
const encoded = (text: string) => text.replaceAll("&", "&amp;").replaceAll("'", "&#39;").replaceAll('"', "&quot;");

describe("HTML entities become their characters", () => {
  test.each([
    ["A&amp;M Foods LLC", "A&M Foods LLC"],
    ["A&AMP;M FOODS LLC", "A&M FOODS LLC"],
    ["Smith &amp Sons", "Smith & Sons"],
    ["SMITH &AMP SONS", "SMITH & SONS"],
    ["A&amp;amp;M Foods", "A&M Foods"],
    ["O&#39;Brien", "O'Brien"],
    ["Nestl{acute over (e)} I{umlaut over (n)}c", "Nestle Inc"],
    ["O&#039;Brien", "O'Brien"],
    ["O&#x27;Brien", "O'Brien"],
    ["O&amp;#39;Brien", "O'Brien"],
    ["O&apos;Brien", "O'Brien"],
    ["O&rsquo;Brien &#8211; Co", "O’Brien – Co"],
    ["O&#146;Brien", "O’Brien"],
    ["&quot;Best&quot; Foods", '"Best" Foods'],
    ["Nestl&eacute; &Eacute;toile", "Nestlé Étoile"],
    ["M&uuml;ller Stra&szlig;e &AElig;r&oslash;", "Müller Straße Ærø"],
    ["Dvo&rcaron;&aacute;k", "Dvořák"],
    ["Acme&nbsp;Inc&#10;", "Acme Inc "],
    ["Acme&reg; Inc", "Acme® Inc"],
  ])("%s → %s", (written, meant) => {
    expect(repairName(written)).toBe(meant);
  });

  test.each(["AT&T Corp", "A & B", "R&D; Labs", "P&amper Co", "&#xD800; Inc", "&#99999999; Inc", "&constructor; Inc"])(
    "%s has none",
    (name) => {
      expect(repairName(name)).toBe(name);
    },
  );
});

const NAMES = [
  "Nestlé USA",
  "NESTLÉ USA",
  "Peña Núñez García",
  "JOSÉ MUÑOZ",
  "São João Comércio",
  "Müller Größe",
  "Łódź Spółka",
  "Dvořák Škoda",
  "Ørsted Åkerström",
  "Crème Brûlée “Ça” – L’Été",
  "Türkiye İş Bankası Şişecam",
  "Société Générale",
  "Ελληνική Τράπεζα",
  "Газпром",
  "株式会社トヨタ",
  "Acme™ Inc",
  "Café®",
];

describe("UTF-8 that was read as another encoding is read right", () => {
  test.each(NAMES)("%s", (name) => {
    expect(repairName(misread(name))).toBe(name);
    expect(repairName(misreadAsLatin1(name))).toBe(name);
    expect(repairName(misread(misread(name)))).toBe(name);
    expect(repairName(encoded(misread(`${name} "A&M" O'Brien`)))).toBe(`${name} "A&M" O'Brien`);
  });
});

describe("what is right stays as it is", () => {
  test.each([
    ...NAMES,
    "CAFÉ®",
    "NESTLÉ™",
    "ANDRÉ’S BAKERY",
    "SMÅ®",
    "ÄÖÜ GmbH",
    "IRMÃOS",
    "ÂGE D’OR",
    "à la carte",
    "ESPAÑA–PERÚ",
    "“É”",
    "Ñ’S",
    "Škoda",
    "Acme",
    "",
  ])("%s", (name) => {
    expect(repairName(name)).toBe(name);
  });
});
