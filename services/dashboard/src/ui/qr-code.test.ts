import { expect, test } from "@jest/globals";
import decodeQr from "qr/decode.js";
import { qrCode } from "./qr-code.ts";

const PIXELS_PER_MODULE = 4;

/** Draws the code as pixels, as a screen would. */
function draw(markup: string): { width: number; height: number; data: Uint8ClampedArray } {
  const modules = Number(/viewBox="0 0 (\d+) /.exec(markup)![1]);
  const side = modules * PIXELS_PER_MODULE;
  const data = new Uint8ClampedArray(side * side * 4).fill(255);
  for (const [, x, y] of markup.matchAll(/M(\d+) (\d+)h1v1h-1z/g)) {
    for (let pixel = 0; pixel < PIXELS_PER_MODULE ** 2; pixel++) {
      const row = Number(y) * PIXELS_PER_MODULE + Math.floor(pixel / PIXELS_PER_MODULE);
      const column = Number(x) * PIXELS_PER_MODULE + (pixel % PIXELS_PER_MODULE);
      data.fill(0, (row * side + column) * 4, (row * side + column) * 4 + 3);
    }
  }
  return { width: side, height: side, data };
}

test("a reader of the QR code reads the text, and markup in the label is escaped", () => {
  const uri = "otpauth://totp/Vendor%20Verification%3Aada%40acme.example?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ";
  const { markup } = qrCode(uri, 'The "key"');
  expect(decodeQr(draw(markup))).toBe(uri);
  expect(markup).toContain('aria-label="The &quot;key&quot;"');
  expect(markup).not.toContain("style=");
});
