import { randomUUID } from "node:crypto";
import { z } from "zod";
import {
  isInputFault,
  type ProviderHttp,
  type ProviderResponse,
  parseJsonAnswer,
  readShape,
  requireAnswered,
} from "../http/provider-http.ts";
import { type Answer, type Provider, ProviderError } from "../provider.ts";
import { irsVerdict, nameForIrs, type TinVerdict } from "../tin-matching/irs-codes.ts";
import { maskSecrets, maskTinIn } from "../tin-matching/mask-answers.ts";
import { createTaxBanditsTokens, type TaxBanditsCredentials } from "./taxbandits-token.ts";
import { type AskedName, questionsFor } from "./tin-type.ts";

const matchAnswer = z.object({
  StatusCode: z.number().optional(),
  RefId: z.string().nullish(),
  TINStatusCode: z.string().nullish(),
  TINStatusMsg: z.string().nullish(),
  Errors: z.array(z.unknown()).nullish(),
});

/**
 * The nine sentences that TaxBandits documents, normalized by `normalized`, with the IRS code that each stands for.
 * TaxBandits returns no codes.
 */
const SENTENCES: ReadonlyMap<string, number> = new Map([
  ["tin and name combination match irs records", 0],
  ["tin missing or tin not a 9-digit numeric", 1],
  ["tin entered is not currently issued", 2],
  ["tin and name combination do not match irs records", 3],
  ["invalid tin matching request", 4],
  ["duplicate tin matching request", 5],
  ["tin and name combination match irs ssn records", 6],
  ["tin and name combination match irs ein records", 7],
  ["tin and name combination match irs ssn and ein records", 8],
]);

/** Returns a sentence in one spelling: the documentation's own examples differ in verb form, article and full stop. */
function normalized(sentence: string): string {
  return sentence
    .toLowerCase()
    .replaceAll(/\b(?:does not|doesn['’]t|don['’]t)\b/g, "do not")
    .replaceAll(/\bmatches\b/g, "match")
    .replaceAll(/\bthe irs\b/g, "irs")
    .replaceAll(/[\s.]+/g, " ")
    .trim();
}

/**
 * Parses the verdict of an Instant TIN Match. `refId` is the reference that was sent. Errors: ProviderError `on_hold` while
 * TaxBandits can't reach the IRS, `refused` for an answer that lists errors, `unknown_answer` for a status or a sentence
 * that is not documented, `irs_code_…`, `wrong_shape`.
 */
export function parseTaxBandits(body: unknown, refId: string): TinVerdict {
  const { StatusCode, RefId, TINStatusCode, TINStatusMsg, Errors } = readShape(matchAnswer, body);
  if ((Errors?.length ?? 0) > 0 || (StatusCode !== undefined && (StatusCode < 200 || StatusCode > 299))) {
    throw new ProviderError("refused", { isInputFault: StatusCode !== undefined && isInputFault(StatusCode) });
  }
  if (!TINStatusCode || (RefId && RefId !== refId)) throw new ProviderError("wrong_shape");
  if (TINStatusCode === "TIN-003") throw new ProviderError("on_hold");
  const isSuccess = TINStatusCode === "TIN-001";
  const code = SENTENCES.get(normalized(TINStatusMsg ?? ""));
  if (code === undefined || (!isSuccess && TINStatusCode !== "TIN-002")) throw new ProviderError("unknown_answer");
  const verdict = irsVerdict(code);
  if ((verdict.outcome === "pass") !== isSuccess) throw new ProviderError("unknown_answer");
  return verdict;
}

/**
 * Creates the provider that asks TaxBandits' Instant TIN Match. It requires the type of the TIN: where the TIN may have
 * another one too, and did not match, it is asked about as that one as well, which is a further call. An access token that
 * is refused is replaced once. The evidence is the answer as received, or a list of both.
 */
export function createTaxBandits(options: {
  http: ProviderHttp;
  authUrl: string;
  /** URL of the API, with the version in its path. */
  baseUrl: string;
  credentials: TaxBanditsCredentials;
  now: () => Date;
}): Provider {
  const { http, credentials, now } = options;
  const tokens = createTaxBanditsTokens(options);
  const url = `${options.baseUrl}/InstantTINMatch/Request`;

  async function post(body: string, signal: AbortSignal): Promise<{ response: ProviderResponse; token: string }> {
    const token = await tokens.get(signal);
    const headers = {
      accept: "application/json",
      "content-type": "application/json",
      authorization: `Bearer ${token}`,
    };
    return { response: await http.call({ method: "POST", url, headers, body, signal }), token };
  }

  /** Asks about a TIN as one type. */
  async function match(asked: AskedName, tin: string, signal: AbortSignal) {
    const refId = randomUUID();
    const body = JSON.stringify({ RefId: refId, ...asked, TIN: tin });
    let exchange = await post(body, signal);
    if (exchange.response.status === 401) {
      tokens.drop(exchange.token);
      exchange = await post(body, signal);
    }
    const { response, token } = exchange;
    if (response.status === 401) tokens.drop(token);
    const verdict = parseTaxBandits(parseJsonAnswer(requireAnswered(response)), refId);
    const secrets = [token, credentials.clientSecret, credentials.userToken];
    const content = maskTinIn(maskSecrets(response.text, secrets), tin);
    return { verdict, content, contentType: response.contentType };
  }

  return {
    name: "taxbandits",
    check: "tin_match",
    async ask({ legalName, entityType, tin: reveal }, { signal, onFurtherCall }): Promise<Answer> {
      const sentName = nameForIrs(legalName);
      const tin = await reveal(signal);
      const [first, second] = questionsFor({ tin, entityType, legalName, sentName });
      let matched = await match(first, tin, signal);
      let { content } = matched;
      if (second && matched.verdict.outcome === "fail") {
        await onFurtherCall?.();
        const other = await match(second, tin, signal);
        content = `[${content},${other.content}]`;
        // A TIN that is issued as either type is issued.
        if (other.verdict.outcome === "pass" || matched.verdict.reason === "not_issued") matched = other;
      }
      const { verdict, contentType } = matched;
      return { ...verdict, confidence: 1, dataDate: now(), facts: {}, content, contentType };
    },
  };
}
