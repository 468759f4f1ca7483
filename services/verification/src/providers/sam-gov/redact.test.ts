import { expect, test } from "@jest/globals";
import { redact } from "./redact.ts";

const KEY = "SAM-secret-0123456789";

test.each([
  [
    "a key in a link",
    `{"selfLink":"https://x/?api_key=${KEY}&page=0"}`,
    '{"selfLink":"https://x/?api_key=removed&page=0"}',
  ],
  ["any key in a link", '{"l":"https://x/?a=1&api_key=OTHER"}', '{"l":"https://x/?a=1&api_key=removed"}'],
  ["our key anywhere", `{"echo":"${KEY}"}`, '{"echo":"removed"}'],
  [
    "a taxpayer's number",
    '{"taxpayerIdentificationNumber": "123456789"}',
    '{"taxpayerIdentificationNumber": "****6789"}',
  ],
])("%s is not kept", (_name, text, expected) => {
  expect(redact(text, KEY)).toBe(expected);
});

test("everything else is kept byte for byte", () => {
  const text = '{ "totalRecords" : 1.0,\n"x":"480015629" }';
  expect(redact(text, KEY)).toBe(text);
});
