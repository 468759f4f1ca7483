import { getHeapStatistics } from "node:v8";
import { expect, test } from "@jest/globals";
import { withoutNativeForms } from "./native-forms.ts";

test("the first name in another script compiles little, since no other call goes on meanwhile", () => {
  const before = getHeapStatistics().used_heap_size;
  withoutNativeForms("🦊");
  expect(getHeapStatistics().used_heap_size - before).toBeLessThan(4_000_000);
});

test.each([
  ["北京字节有限公司", "北京字节", ["co", "ltd"]],
  ["株式会社ソニー", "ソニー", ["kk"]],
  ["(株)ソニー", "ソニー", ["kk"]],
  ["公司法", "法", ["co"]],
  ["甲公司乙", "甲公司乙", []],
  ["о.о.о. ромашка", "ромашка", ["ooo"]],
  ["ооо  ао ромашка", "ромашка", ["ooo", "jsc"]],
  ["оооромашка", "оооромашка", []],
  ["شركة النور ذ. م. م.", "النور", ["co", "llc"]],
  ["ромашка о   о   о", "ромашка о о о", []],
])("takes the legal forms out of %s", (name, text, forms) => {
  const found = withoutNativeForms(name);
  expect({ ...found, text: found.text.replace(/[\s.]+/g, " ").trim() }).toMatchObject({ text, forms });
});
