import { expect, test } from "@jest/globals";
import { stepOf, totpCode } from "../testing/totp.ts";
import { matchingStep, newRecoveryCodes, newTotpSecret, recoveryHash, totpUri } from "./totp.ts";

/** The secret of RFC 6238, appendix B: "12345678901234567890". */
const SECRET = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ";

test.each([
  [59, "287082"],
  [1_111_111_109, "081804"],
  [1_111_111_111, "050471"],
  [1_234_567_890, "005924"],
  [2_000_000_000, "279037"],
  [20_000_000_000, "353130"],
])("the code at %i s is that of RFC 6238", (seconds, code) => {
  const now = new Date(seconds * 1000);
  expect(matchingStep(SECRET, code, { now, lastStep: 0 })).toBe(stepOf(now));
});

test.each([
  [-2, false],
  [-1, true],
  [0, true],
  [1, true],
  [2, false],
])("the code of %i steps from now is accepted: %s", (offset, counts) => {
  const now = new Date(1_234_567_890_000);
  const step = stepOf(now) + offset;
  const code = totpCode(SECRET, step);
  expect(matchingStep(SECRET, `${code.slice(0, 3)} ${code.slice(3)}`, { now, lastStep: 0 })).toBe(
    counts ? step : undefined,
  );
  expect(matchingStep(SECRET, code, { now, lastStep: step })).toBeUndefined();
});

test("a secret has 160 bits in base32, and its URI names the issuer and the user", () => {
  const secret = newTotpSecret();
  expect(secret).toMatch(/^[A-Z2-7]{32}$/);
  expect(totpUri(secret, "a+b@example.com")).toBe(
    `otpauth://totp/Vendor%20Verification:a%2Bb%40example.com?issuer=Vendor%20Verification&secret=${secret}&algorithm=SHA1&digits=6&period=30`,
  );
});

test("there are ten recovery codes of 80 bits, and spaces, hyphens and case do not matter", () => {
  const codes = newRecoveryCodes();
  expect(new Set(codes).size).toBe(10);
  for (const code of codes) {
    expect(code).toMatch(/^([a-z2-7]{4}-){3}[a-z2-7]{4}$/);
    expect(recoveryHash(` ${code.toUpperCase().replaceAll("-", " ")}`)).toBe(recoveryHash(code));
  }
});
