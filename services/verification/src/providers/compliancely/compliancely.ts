import { setTimeout as wait } from "node:timers/promises";
import { z } from "zod";
import {
  type ProviderHttp,
  type ProviderResponse,
  parseJsonAnswer,
  readShape,
  requireAnswered,
  requireOk,
} from "../http/provider-http.ts";
import { type Answer, type Provider, ProviderError } from "../provider.ts";
import { irsVerdict, nameForIrs, type TinVerdict } from "../tin-matching/irs-codes.ts";
import { maskSecrets, maskTinIn } from "../tin-matching/mask-answers.ts";

const FIRST_PAUSE_MS = 250;
const MAX_PAUSE_MS = 2_000;
const PENDING = -1;

const submission = z.object({
  id: z.union([z.number().int(), z.string().regex(/^[\w-]{1,64}$/)]),
  tin: z.string().nullish(),
  irs_code: z.number().int(),
  irs_service_status: z.string().nullish(),
  last_irs_check_date: z.string().nullish(),
});
/** The answer where the account has no checks left. */
const creditMessage = z.object({ code: z.literal("credit_message") });

/** The state of a submission. */
export type SubmissionState =
  | { readonly kind: "pending"; readonly id: string }
  | { readonly kind: "answered"; readonly verdict: TinVerdict; readonly checkedAt: Date | undefined };

/**
 * Parses a submission. `tin` is the TIN that was sent. Errors: ProviderError `irs_outage` where the IRS's service is not
 * reported as running, `irs_code_…` for codes that say nothing about the vendor, `out_of_credit`, and `wrong_shape`, also
 * for the TIN of another vendor.
 */
export function parseCompliancely(body: unknown, tin: string): SubmissionState {
  if (creditMessage.safeParse(body).success) throw new ProviderError("out_of_credit");
  const { id, tin: sentBack, irs_code, irs_service_status, last_irs_check_date } = readShape(submission, body);
  const echoed = sentBack?.replaceAll(/\D/g, "") ?? "";
  if (echoed.length === tin.length && echoed !== tin) throw new ProviderError("wrong_shape");
  if (irs_service_status && irs_service_status.trim().toUpperCase() !== "RUNNING") {
    throw new ProviderError("irs_outage");
  }
  if (irs_code === PENDING) return { kind: "pending", id: String(id) };
  const checkedAt = new Date(last_irs_check_date ?? "");
  const isDate = !Number.isNaN(checkedAt.getTime());
  return { kind: "answered", verdict: irsVerdict(irs_code), checkedAt: isDate ? checkedAt : undefined };
}

/**
 * Creates the provider that asks Compliancely. A submission is polled with growing pauses while it is pending; one that is
 * still pending when the attempt's time is over throws `pending`. The evidence is the answer as received. Its data is
 * dated by the day the IRS was asked, which may be earlier than the call.
 */
export function createCompliancely(options: {
  http: ProviderHttp;
  baseUrl: string;
  apiKey: string;
  now: () => Date;
}): Provider {
  const { http, apiKey, now } = options;
  const url = `${options.baseUrl}/api/v1/submissions/`;
  const headers = { accept: "application/json", authorization: `Token ${apiKey}` };

  async function answerTo(body: string, tin: string, signal: AbortSignal) {
    const json = { ...headers, "content-type": "application/json" };
    let response = await http.call({ method: "POST", url, headers: json, body, signal });
    let state = stateOf(requireAnswered(response), tin);
    for (let pauseMs = FIRST_PAUSE_MS; state.kind === "pending"; pauseMs = Math.min(pauseMs * 2, MAX_PAUSE_MS)) {
      const { id } = state;
      response = await whilePending(signal, async () => {
        await wait(pauseMs, undefined, { signal });
        return http.call({ method: "GET", url: `${url}${id}/`, headers, signal });
      });
      state = stateOf(requireOk(response), tin);
    }
    return { response, ...state };
  }

  return {
    name: "compliancely",
    check: "tin_match",
    async ask(question, { signal }): Promise<Answer> {
      const name = nameForIrs(question.legalName);
      const tin = await question.tin(signal);
      const { response, verdict, checkedAt } = await answerTo(JSON.stringify({ tin, name }), tin, signal);
      const at = now();
      return {
        ...verdict,
        confidence: 1,
        dataDate: checkedAt && checkedAt < at ? checkedAt : at,
        facts: {},
        content: maskTinIn(maskSecrets(response.text, [apiKey]), tin),
        contentType: response.contentType,
      };
    },
  };
}

function stateOf(response: ProviderResponse, tin: string): SubmissionState {
  return parseCompliancely(parseJsonAnswer(response), tin);
}

/** Runs one step of polling. Errors: ProviderError `pending` where the attempt's time is over by then. */
async function whilePending<T>(signal: AbortSignal, step: () => Promise<T>): Promise<T> {
  try {
    return await step();
  } catch (cause) {
    if (signal.aborted) throw new ProviderError("pending", { cause });
    throw cause;
  }
}
