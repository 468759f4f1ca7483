import { describe, expect, test } from "@jest/globals";
import { ProviderError } from "../provider.ts";
import { irsVerdict, nameForIrs, sentName } from "./irs-codes.ts";

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

test.each(["", "株式会社", "- & -"])("of the name %p nothing is left that the IRS accepts", (given) => {
  expect(thrownBy(() => nameForIrs(given))).toMatchObject({ reason: "unusable_name", isFault: false });
  expect(sentName(given)).toBe(given);
});
