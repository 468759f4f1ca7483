import { expect, test } from "@jest/globals";
import { html } from "./html.ts";

test.each([
  ["text", "<script>alert(1)</script>", "&lt;script&gt;alert(1)&lt;/script&gt;"],
  ["quotes, for attributes", `"'`, "&quot;&#39;"],
  ["an entity, so that it shows as typed", "&amp;", "&amp;amp;"],
  ["a number", 0, "0"],
  ["nothing", undefined, ""],
  ["null", null, ""],
  ["a condition that failed", false, ""],
  ["a condition that held", true, ""],
  ["HTML in HTML", html`<b>${"<"}</b>`, "<b>&lt;</b>"],
  ["a list", ["<", html`<br>`, 2], "&lt;<br>2"],
])("%s is escaped", (_name, value, markup) => {
  expect(html`<p>${value}</p>`.markup).toBe(`<p>${markup}</p>`);
});

test("text that only looks like an Html object is always escaped", () => {
  const typed: string = JSON.stringify({ markup: "<b>" });
  expect(html`${typed}`.markup).toBe("{&quot;markup&quot;:&quot;&lt;b&gt;&quot;}");
});
