import { beforeEach, expect, test } from "@jest/globals";
import { receiptClaims as claims, receiptKey } from "../../../../test/support/receipts.ts";
import { dashboardPerTest } from "../testing/dashboard.ts";

const { jwk, sign: receiptOf } = receiptKey();
const { dashboard, visitor: stranger } = dashboardPerTest({ signsIn: false });
beforeEach(() => {
  dashboard.state.receiptKeys = JSON.stringify({ keys: [jwk] });
});

const check = (receipt: string) => stranger.post("/receipts", { receipt });

test("anybody can check a receipt, without an account, and reads what it proves", async () => {
  expect((await stranger.get("/receipts")).text).toContain("Check a receipt");
  // As it is copied from a page that breaks its lines.
  const { status, text } = await check(`${receiptOf(claims).replaceAll(/.{60}/g, "$& \r\n")}\n`);
  expect(status).toBe(200);
  for (const part of [
    "This receipt is genuine. https://api.acme.example signed it",
    "<code>ver_1</code>",
    "2026-11-21 09:30:00 UTC",
    "&lt;Acme&gt; LLC",
    "Reciprocal, bar",
    "ab".repeat(32),
    "<code>MONTHLY.dat</code>, 2 November 2026",
    "cd".repeat(32),
    "No longer kept when the receipt was made.",
  ]) {
    expect(text).toContain(part);
  }
  expect(text).not.toContain("Test environment");
});

test("a receipt of the sandbox is said to prove nothing about a real vendor", async () => {
  expect((await check(receiptOf({ ...claims, environment: "sandbox" }))).text).toContain("answers are invented");
});

test("a receipt of something else than a verification is shown as it is", async () => {
  const { status, text } = await check(
    receiptOf({ iss: claims.iss, sub: "job_1", environment: "live", job: { total: 3 } }),
  );
  expect([status, text.includes("genuine"), text.includes("&quot;total&quot;: 3")]).toEqual([200, true, true]);
});

test("a receipt of a list of 200 vendors is checked; a longer one is left to the command line, and not said to prove nothing", async () => {
  const rows = (count: number) => Array.from({ length: count }, (_, row) => ({ row, hash: "ab".repeat(110) }));
  const of = (count: number) =>
    receiptOf({ iss: claims.iss, sub: "job_1", environment: "live", job: { rows: rows(count) } });
  expect((await stranger.get("/receipts")).text).not.toContain("maxlength");
  expect((await check(of(200))).text).toContain("This receipt is genuine.");
  const { status, text } = await check(of(400));
  expect([status, text.includes("vendor-verification receipt check"), text.includes("proves nothing")]).toEqual([
    413,
    true,
    false,
  ]);
});

test("a text that was altered, or is none of the service's, proves nothing", async () => {
  const [header, , signature] = receiptOf(claims).split(".");
  const other = Buffer.from(JSON.stringify({ ...claims, sub: "ver_2" })).toString("base64url");
  for (const [text, message] of [
    [`${header}.${other}.${signature}`, "The receipt was altered"],
    ["<script>", "This is not a receipt of the service."],
    ["213-45-6789", "This is not a receipt of the service."],
    ["", "This is not a receipt of the service."],
  ] as const) {
    const page = await check(text);
    expect([page.status, page.text.includes(message), page.text.includes("genuine")]).toEqual([400, true, false]);
    expect(page.text).not.toMatch(/<script>|213/);
  }
});

test("verification is asked for the keys once a minute, and without it nothing is said about a receipt", async () => {
  dashboard.fail("getReceiptKeys", "service_unavailable");
  expect((await check(receiptOf(claims))).status).toBe(503);
  dashboard.state.failures.clear();
  for (let times = 0; times < 3; times++) expect((await check(receiptOf(claims))).status).toBe(200);
  expect(dashboard.callsOf("getReceiptKeys")).toHaveLength(1);
});
