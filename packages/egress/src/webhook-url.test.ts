import { describe, expect, test } from "@jest/globals";
import { privateHosts } from "./testing/private-hosts.ts";
import { webhookUrlProblem } from "./webhook-url.ts";

const live = { environment: "live", allowPrivateTargets: false } as const;
const sandbox = { environment: "sandbox", allowPrivateTargets: false } as const;
const localLive = { environment: "live", allowPrivateTargets: true } as const;
const localSandbox = { environment: "sandbox", allowPrivateTargets: true } as const;

describe("a webhook URL", () => {
  test.each([
    "https://example.com",
    "https://example.com/hooks?tenant=7",
    "https://hooks.example.com:8443/a/b",
    "HTTPS://EXAMPLE.COM/",
    "https://8.8.8.8/",
    "https://[2606:4700:4700::1111]/",
    `https://example.com/${"a".repeat(2_048 - 20)}`,
    `https://${"a.".repeat(125)}com/`,
    `https://${"a.".repeat(125)}com./`,
  ])("%s is fine", (url) => {
    expect(webhookUrlProblem(url, live)).toBeUndefined();
    expect(webhookUrlProblem(url, sandbox)).toBeUndefined();
  });

  test.each([
    ["", /absolute/],
    ["example.com/hooks", /absolute/],
    ["/hooks", /absolute/],
    ["//example.com/hooks", /absolute/],
    ["https:example.com", /absolute/],
    ["https:///hooks", /absolute/],
    ["https://", /absolute/],
    ["https://exa mple.com/", /spaces/],
    [" https://example.com/", /spaces/],
    ["https://example.com/\n", /spaces/],
    ["https://example.com/\u0000", /control/],
    ["https:\\\\example.com", /backslashes/],
    ["https://example.com:99999/", /absolute/],
    ["ftp://example.com/", /absolute/],
    ["javascript:alert(1)", /absolute/],
    ["file:///etc/passwd", /absolute/],
    ["https://user@example.com/", /user name/],
    ["https://user:secret@example.com/", /user name/],
    ["https://@example.com/", /user name/],
    ["https://example.com/#part", /fragment/],
    ["https://example.com/#", /fragment/],
    [`https://example.com/${"a".repeat(2_048)}`, /2048/],
    [`https://${"a.".repeat(125)}com.m/`, /253/],
    [`https://${"a.".repeat(256)}com/`, /253/],
    // 200 characters, which DNS writes in more.
    [`https://${"ä.".repeat(99)}de/`, /253/],
  ])("%j is refused in every environment", (url, problem) => {
    for (const rule of [live, sandbox, localLive, localSandbox]) expect(webhookUrlProblem(url, rule)).toMatch(problem);
  });

  test.each(["169.254.169.254", "[fd00:ec2::254]", "100.100.100.200", "168.63.129.16", "0xa9fea9fe"])(
    "to the host of a cloud, %s, is refused even where private hosts are allowed",
    (host) => {
      for (const rule of [live, sandbox, localLive, localSandbox])
        expect(webhookUrlProblem(`https://${host}/`, rule)).toMatch(/public host/);
    },
  );

  test("live accepts only https, the sandbox also http", () => {
    expect(webhookUrlProblem("http://example.com/", live)).toMatch(/https/);
    expect(webhookUrlProblem("http://example.com/", localLive)).toMatch(/https/);
    expect(webhookUrlProblem("http://example.com/", sandbox)).toBeUndefined();
  });

  const privateNames = ["localhost", "LOCALHOST", "localhost.", "app.localhost", "printer.local", "subscriber"];
  test.each([...privateHosts, ...privateNames, "metadata.google.internal"])(
    "%s is not a public host, and is accepted only if the operator allows private targets",
    (host) => {
      for (const rule of [live, sandbox]) expect(webhookUrlProblem(`https://${host}/`, rule)).toMatch(/public/);
      for (const rule of [localLive, localSandbox]) {
        expect(webhookUrlProblem(`https://${host}/`, rule)).toBeUndefined();
        expect(webhookUrlProblem(`http://${host}:9000/`, rule)).toBeUndefined();
      }
    },
  );
});
