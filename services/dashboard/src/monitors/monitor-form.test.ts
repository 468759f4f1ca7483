import { expect, test } from "@jest/globals";
import { Frequency } from "@vvs/proto/monitor/v1/monitor";
import { echoOfUrl, readSchedule } from "./monitor-form.ts";

test("a form makes a request of its trimmed values", () => {
  const typed = { frequency: "daily", webhook_url: " https://acme.example/hook ", external_id: " V-1 " };
  expect(readSchedule(typed)).toEqual({
    request: { frequency: Frequency.DAILY, webhookUrl: "https://acme.example/hook", externalId: "V-1" },
  });
});

test("a form reports all problems together", () => {
  const { problems } = readSchedule({ frequency: "toString", webhook_url: " ", external_id: "V\n1" });
  expect(Object.keys(problems!)).toEqual(["frequency", "external_id"]);
});

test.each([
  ["https://acme.example/hook?a=1", "https://acme.example/hook?a=1"],
  ["http://127.0.0.1:9000", "http://127.0.0.1:9000"],
  ["https://me:secret@acme.example/", ""],
  ["whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkw", ""],
  ["12-3456789", ""],
  ["https://acme.example/12-3456789", ""],
  ["javascript:alert(1)", ""],
])("a form with the URL %s shows %j again", (typed, shown) => {
  expect(echoOfUrl(typed)).toBe(shown);
});
