import { drip, type PlayedServer, playServer, type ReceivedCall, sendJson } from "./played-server.ts";
import { formsOf } from "./taxbandits.ts";

/**
 * How submissions are answered. `by_digit`: pending first, then by the TIN's last digit, as in Compliancely's sandbox,
 * where 9 counts as 0.
 */
export type CompliancelyBehaviour =
  | "by_digit"
  /** The submission itself is answered with the result. */
  | "at_once"
  | "never_resolved"
  | "outage"
  | "down"
  | "drip"
  | "html"
  /** Answers about another TIN than the one submitted. */
  | "mistaken"
  /** Echoes the request: the TIN in every form, and the key. */
  | "indiscreet";

export interface PlayedCompliancely extends Pick<PlayedServer, "calls"> {
  readonly baseUrl: string;
  readonly apiKey: string;
  behave(behaviour: CompliancelyBehaviour): void;
  /** Sets how many polls find a submission still pending; 1 by default. */
  pendingFor(polls: number): void;
  submissions(): readonly ReceivedCall[];
  /** Returns the calls that polled a submission. */
  polls(): readonly ReceivedCall[];
}

/** Time of the IRS check in all answers. */
export const IRS_CHECK_DATE = "2026-02-20T18:02:33Z";
const OUTAGE = "THE IRS TIN MATCHING SERVICE IS SLOW OR CURRENTLY EXPERIENCING AN OUTAGE";

interface Submission {
  readonly id: number;
  readonly tin: string;
  readonly name: string;
  pollCount: number;
}

/** Simulates Compliancely's TIN match as documented. */
export async function playCompliancely(): Promise<PlayedCompliancely> {
  const apiKey = "played-compliancely-key";
  let behaviour: CompliancelyBehaviour = "by_digit";
  let pendingPolls = 1;
  const submissions = new Map<number, Submission>();

  const server = await playServer(async (call, response) => {
    if (call.headers.authorization !== `Token ${apiKey}`) {
      return sendJson(response, 401, { detail: "Invalid token." });
    }
    const found = call.method === "POST" ? submit(call.body) : submissions.get(idOf(call.url));
    if (!found) return sendJson(response, 404, { detail: "Not found." });
    const isPending = behaviour === "never_resolved" || (behaviour === "by_digit" && found.pollCount < pendingPolls);
    if (call.method === "GET") found.pollCount++;
    const digit = Number(found.tin.at(-1)) % 9;
    const result = resultOf(found, isPending ? -1 : digit);
    const status = call.method === "POST" ? 201 : 200;
    switch (behaviour) {
      case "outage":
        return sendJson(response, status, { ...resultOf(found, -1), irs_service_status: OUTAGE });
      case "down":
        return sendJson(response, 502, { detail: "Bad gateway" });
      case "drip":
        return drip(response, result);
      case "html":
        return void response.writeHead(200, { "content-type": "text/html" }).end("<p>Maintenance</p>");
      case "mistaken":
        return sendJson(response, status, { ...result, tin: "999999999" });
      case "indiscreet":
        return sendJson(response, status, { ...result, forms: formsOf(found.tin), number: Number(found.tin), apiKey });
      default:
        return sendJson(response, status, result);
    }
  });

  function submit(body: string): Submission {
    const { tin, name } = JSON.parse(body) as { tin: string; name: string };
    const submission = { id: 4_989_000 + submissions.size, tin, name, pollCount: 0 };
    submissions.set(submission.id, submission);
    return submission;
  }

  return {
    baseUrl: server.url,
    apiKey,
    calls: server.calls,
    behave(next) {
      behaviour = next;
    },
    pendingFor(polls) {
      pendingPolls = polls;
    },
    submissions: () => server.calls.filter(({ method }) => method === "POST"),
    polls: () => server.calls.filter(({ method }) => method === "GET"),
  };
}

function idOf(url: string): number {
  return Number(/^\/api\/v1\/submissions\/(\d+)\/$/.exec(url)?.[1]);
}

function resultOf({ id, tin, name }: Submission, code: number) {
  const status = code === -1 ? "Pending" : [0, 6, 7, 8].includes(code) ? "TIN Matched" : "Did Not Match";
  return {
    id,
    name,
    tin,
    status,
    created_by: "compliancely",
    irs_code: code,
    irs_reason: "",
    irs_service_status: "RUNNING",
    last_irs_check_date: IRS_CHECK_DATE,
    created_date: IRS_CHECK_DATE,
    updated_date: IRS_CHECK_DATE,
  };
}
