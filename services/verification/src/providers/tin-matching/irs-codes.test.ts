import { describe, expect, test } from "@jest/globals";
import { ProviderError } from "../provider.ts";
import { irsVerdict, nameForIrs } from "./irs-codes.ts";

function thrownBy(work: () => unknown): ProviderError {
  try {
    work();
  } catch (error) {
    expect(error).toBeInstanceOf(ProviderError);
    return error as ProviderError;
  }
  throw new Error("nothing was thrown");
}

describe("an IRS result code", () => {
  test.each<[number, string]>([
    [0, "pass"],
    [2, "fail not_issued"],
    [3, "fail mismatch"],
    [6, "pass"],
    [7, "pass"],
    [8, "pass"],
  ])("%d is %s", (code, expected) => {
    const { outcome, reason } = irsVerdict(code);
    expect(`${outcome} ${reason}`.trim()).toBe(expected);
  });

  test.each([
    [1, false],
    [4, false],
    [5, false],
    [9, true],
    [10, true],
    [-1, true],
    [Number.NaN, true],
  ])("%d is no answer; the provider's fault: %s", (code, isFault) => {
    expect(thrownBy(() => irsVerdict(code))).toMatchObject({ reason: `irs_code_${code}`, isFault });
  });
});

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
    expect(nameForIrs(given)).toBe(expected);
    expect(expected.length).toBeLessThanOrEqual(40);
  });

  test.each(["", "株式会社", "- & -"])("nothing is left of %p", (given) => {
    expect(thrownBy(() => nameForIrs(given))).toMatchObject({ reason: "unusable_name", isFault: false });
  });
});
