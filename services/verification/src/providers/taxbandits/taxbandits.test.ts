import { beforeEach, describe, expect, test } from "@jest/globals";
import { untilEnd } from "@vvs/testing";
import { formsOf, type PlayedTaxBandits, playTaxBandits } from "../../../../../test/outside/taxbandits.ts";
import { questionOf } from "../../testing/calls.ts";
import { createProviderHttp } from "../http/provider-http.ts";
import { type Answer, type Provider, ProviderError } from "../provider.ts";
import { createTaxBandits, parseTaxBandits } from "./taxbandits.ts";
import { signRequest } from "./taxbandits-token.ts";

const REF = "b7c5";
const answer = (more: object = {}) => ({
  StatusCode: 200,
  RecordId: "24ef4269-c356-4f0f-ac73-538235f566de",
  RefId: REF,
  TINStatusCode: "TIN-002",
  TINStatus: "FAILED",
  TINStatusMsg: "TIN and Name combination do not match the IRS records",
  Errors: null,
  ...more,
});

function said(body: unknown): string {
  try {
    const { outcome, reason } = parseTaxBandits(body, REF);
    return `${outcome} ${reason}`.trim();
  } catch (error) {
    expect(error).toBeInstanceOf(ProviderError);
    return `throw ${(error as ProviderError).reason}`;
  }
}

describe("the documented sentences", () => {
  test.each([
    ["TIN-001", "TIN and Name combination match the IRS records", "pass"],
    ["TIN-001", "TIN and Name combination matches IRS records.", "pass"],
    ["TIN-001", "TIN and Name combination match the IRS SSN records", "pass"],
    ["TIN-001", "TIN and Name combination matches IRS EIN records.", "pass"],
    ["TIN-001", "TIN and Name combination match IRS SSN and EIN records", "pass"],
    ["TIN-002", "TIN missing or TIN not a 9-digit numeric", "throw irs_code_1"],
    ["TIN-002", "TIN entered is not currently issued", "fail not_issued"],
    ["TIN-002", "TIN and Name combination do not match the IRS records", "fail mismatch"],
    ["TIN-002", "TIN and Name combination does not match IRS records.", "fail mismatch"],
    ["TIN-002", "TIN and Name combination doesn't match the IRS records", "fail mismatch"],
    ["TIN-002", "Invalid TIN Matching request", "throw irs_code_4"],
    ["TIN-002", "Duplicate TIN Matching request", "throw irs_code_5"],
  ])("%s %s → %s", (TINStatusCode, TINStatusMsg, expected) => {
    expect(said(answer({ TINStatusCode, TINStatusMsg }))).toBe(expected);
  });
});

describe("any other answer throws, and never fails a vendor", () => {
  test.each<[string, unknown, string]>([
    ["on hold", answer({ TINStatusCode: "TIN-003", TINStatusMsg: "anything" }), "on_hold"],
    ["a sentence that is not documented", answer({ TINStatusMsg: "Did not match" }), "unknown_answer"],
    ["no sentence", answer({ TINStatusMsg: null }), "unknown_answer"],
    ["a status that is not documented", answer({ TINStatusCode: "TIN-004" }), "unknown_answer"],
    ["a success with the sentence of a mismatch", answer({ TINStatusCode: "TIN-001" }), "unknown_answer"],
    [
      "a failure with the sentence of a match",
      answer({ TINStatusMsg: "TIN and Name combination match the IRS records" }),
      "unknown_answer",
    ],
    ["errors beside a status", answer({ Errors: [{ Id: "1", Name: "TIN", Message: "no" }] }), "refused"],
    ["another status of the call", answer({ StatusCode: 400 }), "refused"],
    ["another one's reference", answer({ RefId: "other" }), "wrong_shape"],
    ["no status", answer({ TINStatusCode: undefined }), "wrong_shape"],
    ["a list", [answer()], "wrong_shape"],
    ["nothing", null, "wrong_shape"],
  ])("%s", (_name, body, reason) => {
    expect(said(body)).toBe(`throw ${reason}`);
  });

  test("but a success without errors, reference or call status is one", () => {
    expect(
      said({ TINStatusCode: "TIN-001", TINStatusMsg: "TIN and Name combination match the IRS records", RefId: null }),
    ).toBe("pass");
  });
});

test("a request for a token is signed like the documentation's example", () => {
  const credentials = {
    clientId: "968a9c78dae29a29",
    clientSecret: "siqHfLy59g3UHxrb5gjxg",
    userToken: "a574b75f18b24fc09f9039ffb5cb08f3",
  };
  expect(signRequest(credentials, 1_516_239_022).split(".")[2]).toBe("HNQznxlPyVt62kyUeVwtk1-uzm1uDWH4NBDLShA6Ac0");
});

describe("against a simulated TaxBandits", () => {
  const http = untilEnd(createProviderHttp());
  let played: PlayedTaxBandits;
  let provider: Provider;
  let clock: Date;
  beforeEach(async () => {
    played = await playTaxBandits();
    clock = new Date("2026-11-21T09:30:00Z");
    provider = createTaxBandits({ http, ...played, now: () => clock });
  });

  const question = (tin: string, legalName = "Smith & Sons, Inc.", entityType = "") =>
    questionOf({ legalName, entityType, tin: async () => tin });
  const ask = (tin: string, signal = new AbortController().signal) => provider.ask(question(tin), { signal });
  const shown = ({ outcome, reason }: Answer) => `${outcome} ${reason}`.trim();

  test.each([
    ["by_digit", "irs_code_1", "the input's"],
    ["on_hold", "on_hold", "its own"],
    ["bad_request", "http_400", "the input's"],
    ["down", "http_503", "its own"],
    ["html", "wrong_content_type", "its own"],
    ["drip", "timeout", "its own"],
  ] as const)("%s throws %s, which is %s fault", async (behaviour, reason, whose) => {
    played.behave(behaviour);
    const asking = ask("471829361", AbortSignal.timeout(behaviour === "drip" ? 300 : 30_000));
    const fault = { isFault: whose === "its own", isInputFault: whose === "the input's" };
    await expect(asking).rejects.toMatchObject({ reason, ...fault });
  });

  test("asks with the prepared name, an EIN and a reference of its own each time, the token in a header", async () => {
    await Promise.all([ask("471829360"), ask("471829360")]);
    const [first, second] = played.matchCalls().map(({ body }) => JSON.parse(body));
    expect(first).toEqual({
      RefId: expect.any(String),
      BusinessNm: "Smith & Sons Inc",
      TINType: "EIN",
      TIN: "471829360",
    });
    expect(second.RefId).not.toBe(first.RefId);
    for (const { url } of played.calls) expect(url).not.toMatch(/471829360|token/i);
  });

  describe("a TIN that may be a person's or a business's", () => {
    const types = () => played.matchCalls().map(({ body }) => JSON.parse(body).TINType);
    let furtherCalls = 0;
    const asked = async (tin: string, legalName: string, entityType = "") => {
      furtherCalls = 0;
      const onFurtherCall = async () => void furtherCalls++;
      const { signal } = new AbortController();
      return provider.ask(question(tin, legalName, entityType), { signal, onFurtherCall });
    };

    test("is asked about once where it matches as the likelier type", async () => {
      expect(shown(await asked("471829360", "Maria Garcia", "Sole Proprietorship"))).toBe("pass");
      expect(JSON.parse(played.matchCalls()[0]!.body)).toEqual({
        RefId: expect.any(String),
        FirstNm: "Maria",
        LastNm: "Garcia",
        TINType: "SSN",
        TIN: "471829360",
      });
      expect(shown(await asked("471829360", "Maria Garcia"))).toBe("pass");
      expect(types()).toEqual(["SSN", "EIN"]);
    });

    test("passes where it matches as either type, fails only where it is neither, and each call counts", async () => {
      played.answer(({ TINType }) => (TINType === "SSN" ? 6 : 2));
      expect(shown(await asked("471829363", "Maria Garcia"))).toBe("pass");
      expect(furtherCalls).toBe(1);
      played.answer(({ TINType }) => (TINType === "SSN" ? 2 : 3));
      const failed = await asked("471829363", "Maria Garcia", "Sole Proprietorship");
      expect(shown(failed)).toBe("fail mismatch");
      expect(JSON.parse(failed.content)).toMatchObject([
        { TINStatusMsg: "TIN entered is not currently issued" },
        { TINStatusMsg: "TIN and Name combination do not match the IRS records" },
      ]);
      expect(types()).toEqual(["EIN", "SSN", "SSN", "EIN"]);
    });

    test("throws where the second question has no answer", async () => {
      played.answer(({ TINType }) => (TINType === "SSN" ? 5 : 2));
      await expect(asked("471829363", "Maria Garcia")).rejects.toMatchObject({ reason: "irs_code_5" });
    });
  });

  test("concurrent calls wait for one token, and a token is kept until shortly before it expires", async () => {
    await Promise.all(Array.from({ length: 8 }, () => ask("471829360")));
    expect(played.authCalls()).toBe(1);
    expect(played.matchCalls()).toHaveLength(8);
    clock = new Date(clock.getTime() + 50 * 60_000);
    await ask("471829360");
    expect(played.authCalls()).toBe(1);
    clock = new Date(clock.getTime() + 9 * 60_000);
    await ask("471829360");
    expect(played.authCalls()).toBe(2);
  });

  test("a refused token is replaced once, also for many concurrent calls", async () => {
    await ask("471829360");
    played.expireTokens();
    const answers = await Promise.all(Array.from({ length: 4 }, () => ask("471829360")));
    expect(answers.map(shown)).toEqual(["pass", "pass", "pass", "pass"]);
    expect(played.authCalls()).toBe(2);
  });

  test("a token that is refused twice throws, and the next call fetches another", async () => {
    const wrong = { ...played.credentials, clientSecret: "wrong" };
    const stranger = createTaxBandits({ http, ...played, credentials: wrong, now: () => clock });
    const { signal } = new AbortController();
    await expect(stranger.ask(question("471829360"), { signal })).rejects.toMatchObject({ reason: "http_401" });
    played.giveTokens("down");
    await expect(ask("471829360")).rejects.toMatchObject({ reason: "http_503" });
    played.giveTokens({ expiresInSeconds: 3_600 });
    expect(shown(await ask("471829360"))).toBe("pass");
  });

  test("a caller that gives up does not affect the others' token", async () => {
    const gone = new AbortController();
    const first = ask("471829360", gone.signal);
    const second = ask("471829360");
    gone.abort();
    await expect(first).rejects.toMatchObject({ reason: "timeout" });
    expect(shown(await second)).toBe("pass");
  });

  test("the evidence holds neither the TIN in any form nor a credential", async () => {
    played.behave("indiscreet");
    const { content } = await ask("471829360");
    expect(JSON.parse(content)).toMatchObject({ TINStatusCode: "TIN-001", number: "****9360", token: "****" });
    for (const secret of [...formsOf("471829360"), played.credentials.clientSecret, played.credentials.userToken]) {
      expect(content).not.toContain(secret);
    }
    expect(content).not.toContain("played-token");
  });

  test("a name without any character that the IRS accepts is not sent, and no TIN is revealed", async () => {
    const tin = () => Promise.reject(new Error("revealed"));
    const { signal } = new AbortController();
    await expect(provider.ask({ ...question(""), legalName: "株式会社", tin }, { signal })).rejects.toMatchObject({
      reason: "unusable_name",
      isFault: false,
    });
    expect(played.calls).toEqual([]);
  });
});
