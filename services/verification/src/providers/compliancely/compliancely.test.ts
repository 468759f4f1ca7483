import { beforeEach, describe, expect, test } from "@jest/globals";
import { eventually, untilEnd } from "@vvs/testing";
import { IRS_CHECK_DATE, type PlayedCompliancely, playCompliancely } from "../../../../../test/outside/compliancely.ts";
import { formsOf } from "../../../../../test/outside/taxbandits.ts";
import { questionOf } from "../../testing/calls.ts";
import { createProviderHttp } from "../http/provider-http.ts";
import { type Provider, ProviderError } from "../provider.ts";
import { createCompliancely, parseCompliancely } from "./compliancely.ts";

const TIN = "471829360";
const submission = (more: object = {}) => ({
  id: 4_989_258,
  name: "Acme",
  tin: TIN,
  status: "Did Not Match",
  irs_code: 3,
  irs_reason: "",
  irs_service_status: "RUNNING",
  last_irs_check_date: IRS_CHECK_DATE,
  ...more,
});

function said(body: unknown): string {
  try {
    const state = parseCompliancely(body, TIN);
    return state.kind === "pending" ? `pending ${state.id}` : `${state.verdict.outcome} ${state.verdict.reason}`.trim();
  } catch (error) {
    expect(error).toBeInstanceOf(ProviderError);
    return `throw ${(error as ProviderError).reason}`;
  }
}

describe("a submission says", () => {
  const outage = { irs_service_status: "THE IRS TIN MATCHING SERVICE IS SLOW OR CURRENTLY EXPERIENCING AN OUTAGE" };
  test.each<[string, unknown, string]>([
    ["a match", submission({ irs_code: 6 }), "pass"],
    ["a mismatch", submission(), "fail mismatch"],
    ["a code that is no answer", submission({ irs_code: 10 }), "throw irs_code_10"],
    ["pending", submission({ irs_code: -1, status: "Pending" }), "pending 4989258"],
    ["pending in an outage", submission({ irs_code: -1, ...outage }), "throw irs_outage"],
    ["a fail in an outage", submission(outage), "throw irs_outage"],
    ["a service status that is not documented", submission({ irs_service_status: "MAYBE" }), "throw irs_outage"],
    ["a code without service status and date", { id: 1, irs_code: 0 }, "pass"],
    ["a masked TIN", submission({ tin: "*****9360" }), "fail mismatch"],
    ["another TIN", submission({ tin: "471829361" }), "throw wrong_shape"],
    ["a code that is a text", submission({ irs_code: "3" }), "throw wrong_shape"],
    ["no code", submission({ irs_code: null }), "throw wrong_shape"],
    ["no id", submission({ id: undefined }), "throw wrong_shape"],
    ["an id that is a path", submission({ id: "../users" }), "throw wrong_shape"],
    ["no credit left", { code: "credit_message", message: "Credit limit reached!" }, "throw out_of_credit"],
    ["a list", [submission()], "throw wrong_shape"],
    ["nothing", null, "throw wrong_shape"],
  ])("%s", (_name, body, expected) => {
    expect(said(body)).toBe(expected);
  });
});

describe("against a simulated Compliancely", () => {
  const now = () => new Date("2026-11-21T09:30:00Z");
  const http = untilEnd(createProviderHttp());
  let played: PlayedCompliancely;
  let provider: Provider;
  beforeEach(async () => {
    played = await playCompliancely();
    provider = createCompliancely({ http, ...played, now });
  });

  const question = (tin: string) => questionOf({ legalName: "Café Acme, Inc.", tin: async () => tin });
  const ask = (tin: string, signal = new AbortController().signal) => provider.ask(question(tin), { signal });

  test("pending first, then resolved: the submission is polled, and dated by the day the IRS was asked", async () => {
    const answer = await ask("471829363");
    expect(answer).toMatchObject({ outcome: "fail", reason: "mismatch", dataDate: new Date(IRS_CHECK_DATE) });
    expect(JSON.parse(answer.content)).toMatchObject({ irs_code: 3, tin: "****9363" });
    expect(JSON.parse(played.submissions()[0]!.body)).toEqual({ tin: "471829363", name: "Cafe Acme Inc" });
    expect(played.polls().length).toBeGreaterThan(0);
    for (const { url } of played.calls) expect(url).not.toMatch(/471829363|key/);
  });

  test("resolved immediately: the submission is not polled", async () => {
    played.behave("at_once");
    expect(await ask("471829367")).toMatchObject({ outcome: "pass", reason: "" });
    expect(played.calls).toHaveLength(1);
  });

  test("never resolved: throws pending at the end of the attempt's time", async () => {
    played.behave("never_resolved");
    const over = new AbortController();
    const refused = expect(ask(TIN, over.signal)).rejects.toMatchObject({ reason: "pending" });
    await eventually(() => played.polls().length > 0);
    over.abort();
    await refused;
    expect(played.submissions()).toHaveLength(1);
  });

  test.each([
    ["outage", "irs_outage"],
    ["mistaken", "wrong_shape"],
    ["down", "http_502"],
    ["html", "wrong_content_type"],
    ["drip", "timeout"],
  ] as const)("%s throws %s", async (behaviour, reason) => {
    played.behave(behaviour);
    const asking = ask(TIN, AbortSignal.timeout(behaviour === "drip" ? 300 : 30_000));
    await expect(asking).rejects.toMatchObject({ reason, isFault: true });
  });

  test("a wrong key throws", async () => {
    const stranger = createCompliancely({ http, ...played, apiKey: "wrong", now });
    await expect(stranger.ask(question(TIN), { signal: new AbortController().signal })).rejects.toMatchObject({
      reason: "http_401",
    });
  });

  test("the evidence holds neither the TIN in any form nor the key", async () => {
    played.behave("indiscreet");
    const { content } = await ask(TIN);
    expect(JSON.parse(content)).toMatchObject({ number: "****9360", apiKey: "****" });
    for (const secret of [...formsOf(TIN), played.apiKey]) expect(content).not.toContain(secret);
  });
});
