import { describe, expect, test } from "@jest/globals";
import { csvRow } from "./csv-row.ts";

describe("a cell", () => {
  test.each([
    ["plain", "plain"],
    ["", ""],
    ['Say "hi", Bob\nCo', 'Say ""hi"", Bob\nCo'],
    ["=1+1", "'=1+1"],
    ["+1", "'+1"],
    ["-1", "'-1"],
    ["@SUM(A1)", "'@SUM(A1)"],
    ["  =1+1", "'  =1+1"],
    ["\t=1", "'\t'=1"],
    ["\rcmd", "'\rcmd"],
    ["\n=1", "'\n'=1"],
    ["＝1+1", "'＝1+1"],
    ["A=1", "A=1"],
    ["A;=1+1", "A;'=1+1"],
    ["A; \u00a0＝1;-2", "A; \u00a0'＝1;'-2"],
    ["A\t@SUM(A1)", "A\t'@SUM(A1)"],
    ["A\n+1", "A\n'+1"],
    ["=1;=2", "'=1;'=2"],
    ["'=1+1", "''=1+1"],
    ["A, =1", "A, =1"],
    ["A; B - C", "A; B - C"],
    ["SMITH-JONES", "SMITH-JONES"],
  ])("%j is quoted, and never begins a formula", (cell, expected) => {
    expect(csvRow([cell])).toBe(`"${expected}"\r\n`);
  });
});

test("with another delimiter, what follows a comma begins no formula either", () => {
  expect(csvRow(["A, =1;-2", "B"], ";")).toBe(`"A, '=1;-2";"B"\r\n`);
});
