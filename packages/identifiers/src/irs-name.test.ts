import { describe, expect, test } from "@jest/globals";
import { irsName } from "./irs-name.ts";

describe("a name in the form that the IRS accepts", () => {
  test.each([
    ["Acme LLC", "Acme LLC"],
    ["Smith & Sons, Inc.", "Smith & Sons Inc"],
    ["AT&T Corp", "AT&T Corp"],
    ["O'Brien's U.S.A. Trading", "OBriens USA Trading"],
    ["Coca-Cola Co", "Coca-Cola Co"],
    ["Rhein–Ruhr Logistik", "Rhein-Ruhr Logistik"],
    ["Café Ñandú S.A.", "Cafe Nandu SA"],
    ["Straße Ærø Łódź", "Strasse AEro Lodz"],
    ["Ｆｕｌｌ ＆ Wide", "Full & Wide"],
    ["One/Two (Holdings)", "One Two Holdings"],
    ["  spaced \t out  ", "spaced out"],
    ["株式会社 Acme", "Acme"],
    ["An Extraordinarily Long Business Name Of America", "An Extraordinarily Long Business Name Of"],
    ["A&amp;M Foods LLC", "A&M Foods LLC"],
    ["O&#39;Brien &amp;quot;Best&amp;quot; Co", "OBrien Best Co"],
    ["NestlÃ© USA", "Nestle USA"],
    ["NestlÃƒÂ© USA", "Nestle USA"],
    ["Thirty-Nine Characters Long Business Co Inc", "Thirty-Nine Characters Long Business Co"],
  ])("%s → %s", (given, expected) => {
    expect(irsName(given)).toBe(expected);
    expect(expected.length).toBeLessThanOrEqual(40);
  });

  test.each(["", "株式会社", "- & -"])("nothing is left of %p", (given) => {
    expect(irsName(given)).toBe("");
  });
});
