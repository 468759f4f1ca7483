import { beforeEach, expect, test } from "@jest/globals";
import { dashboardPerTest } from "../testing/dashboard.ts";
import { EVIDENCE_ID, evidenceOf, VERIFICATION_ID } from "../testing/fake-verification.ts";

const path = `/test/evidence/${EVIDENCE_ID}`;
const { dashboard, visitor } = dashboardPerTest();

beforeEach(() => {
  dashboard.state.evidence = [evidenceOf()];
});

test("evidence is shown with each attempt, its hash, and its content indented and as received", async () => {
  const { status, text } = await visitor.get(path);
  expect(status).toBe(200);
  for (const part of [
    "2 attempts",
    '<span class="state throw">no answer</span>',
    '<code class="hint">http_503</code>',
    "The provider answered with HTTP status 503.",
    "12 ms",
    "34 ms",
    `/test/verifications/${VERIFICATION_ID}`,
    "<code>application/json</code>",
    "015abd7f5cc57a2dd94b7590f04ad8084273905ee33ec5cebeae62276a97f862",
    '<span class="state pass">unaltered</span>',
    "<code>{\n  &quot;a&quot;: 1\n}</code>",
    "<code>{&quot;a&quot;:1}</code>",
  ]) {
    expect(text).toContain(part);
  }
});

test.each([
  ["text/html", "<script>alert(1)</script>", "&lt;script&gt;alert(1)&lt;/script&gt;"],
  ["application/json", '{"a":', "{&quot;a&quot;:"],
  ["application/problem+json", "[]", "<code>[]</code>"],
])("content of %s is shown only as text", async (contentType, content, shown) => {
  dashboard.state.evidence = [evidenceOf({ contentType, content })];
  const { text } = await visitor.get(path);
  expect(text).toContain(shown);
  expect(text).not.toContain("<script>");
});

test("content that does not match its hash is reported", async () => {
  dashboard.state.evidence = [evidenceOf({ content: '{"a":2}' })];
  const { text } = await visitor.get(path);
  expect(text).toContain("its SHA-256 differs");
  expect(text).toContain('<span class="state fail">altered</span>');
});

test("without any answer only the attempts are shown", async () => {
  dashboard.state.evidence = [evidenceOf({ content: "", contentType: "", origin: "none", sha256: "e3b0c442" })];
  const { text } = await visitor.get(path);
  expect(text).toContain("No provider answered, so there is no content");
  expect(text).not.toContain("Download");
});

test("content too long for a page is cut there, and complete in the download", async () => {
  const content = `${"x".repeat(99_999)}😀end`;
  dashboard.state.evidence = [evidenceOf({ contentType: "text/plain", content })];
  const { text } = await visitor.get(path);
  expect(text).toContain("100,000 of 100,004 characters");
  expect(text).not.toContain("end</code>");
  expect((await visitor.get(`${path}/content`)).text).toBe(content);
});

test("the download is the exact content, as a text file that no browser renders", async () => {
  dashboard.state.evidence = [evidenceOf({ contentType: "text/html", content: "<b>é</b>\r\n" })];
  const { status, headers, text } = await visitor.get(`${path}/content`);
  expect([status, text]).toEqual([200, "<b>é</b>\r\n"]);
  expect(Object.fromEntries(headers)).toMatchObject({
    "content-type": "text/plain; charset=utf-8",
    "content-disposition": `attachment; filename="${EVIDENCE_ID}.txt"`,
    "x-content-type-options": "nosniff",
    "cache-control": "no-store",
  });
});
