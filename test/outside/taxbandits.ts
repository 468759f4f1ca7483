import { createHmac, randomUUID } from "node:crypto";
import { drip, type PlayedServer, playServer, type ReceivedCall, sendJson } from "./played-server.ts";

/** How the match endpoint behaves. `by_digit`: the TIN's last digit is the IRS code, as in TaxBandits' sandbox. */
export type TaxBanditsBehaviour =
  | "by_digit"
  | "on_hold"
  | "bad_request"
  | "down"
  | "drip"
  | "html"
  /** Echoes the request: the TIN in every form, and the token. */
  | "indiscreet";

export interface PlayedTaxBandits extends Pick<PlayedServer, "calls"> {
  readonly authUrl: string;
  readonly baseUrl: string;
  readonly credentials: { readonly clientId: string; readonly clientSecret: string; readonly userToken: string };
  behave(behaviour: TaxBanditsBehaviour): void;
  /** Sets the IRS code by the question. */
  answer(codeOf: (asked: { TINType: string }) => number): void;
  /** Sets how the authentication server behaves: it issues tokens with that lifetime, or is down. */
  giveTokens(life: { expiresInSeconds: number } | "down"): void;
  /** Refuses all tokens issued so far. */
  expireTokens(): void;
  /** Returns the number of calls to the authentication server. */
  authCalls(): number;
  /** Returns the calls to the match endpoint. */
  matchCalls(): readonly ReceivedCall[];
}

interface Asked {
  readonly RefId: string;
  readonly TIN: string;
  readonly TINType: string;
}

/** Answers that its simulation page documents for TINs that end with 0 to 8. */
const SIMULATED: readonly (readonly [code: string, status: string, sentence: string])[] = [
  ["TIN-001", "SUCCESS", "TIN and Name combination match the IRS records"],
  ["TIN-002", "FAILED", "TIN missing or TIN not a 9-digit numeric"],
  ["TIN-002", "FAILED", "TIN entered is not currently issued"],
  ["TIN-002", "FAILED", "TIN and Name combination do not match the IRS records"],
  ["TIN-002", "FAILED", "Invalid TIN Matching request"],
  ["TIN-002", "FAILED", "Duplicate TIN Matching request"],
  ["TIN-001", "SUCCESS", "TIN and Name combination match the IRS SSN records"],
  ["TIN-001", "SUCCESS", "TIN and Name combination matches IRS EIN records."],
  ["TIN-001", "SUCCESS", "TIN and Name combination match IRS SSN and EIN records"],
];

/** Simulates TaxBandits' authentication server and Instant TIN Match as documented. */
export async function playTaxBandits(): Promise<PlayedTaxBandits> {
  const credentials = { clientId: "client-4711", clientSecret: "played-client-secret", userToken: "played-user-token" };
  let behaviour: TaxBanditsBehaviour = "by_digit";
  let codeOf = ({ TIN }: Asked) => Number(TIN.at(-1));
  let tokens: { expiresInSeconds: number } | "down" = { expiresInSeconds: 3_600 };
  const valid = new Set<string>();

  const server = await playServer(async (call, response) => {
    if (call.method === "GET" && call.url === "/v2/tbsauth") {
      if (tokens === "down") return sendJson(response, 503, { StatusCode: 503, StatusName: "ServiceUnavailable" });
      if (!isSignedBy(credentials, String(call.headers.authentication ?? ""))) {
        return sendJson(response, 401, { StatusCode: 401, StatusName: "Unauthorized", AccessToken: null });
      }
      const token = `played-token-${randomUUID()}`;
      valid.add(token);
      return sendJson(response, 200, {
        StatusCode: 200,
        StatusName: "Ok",
        StatusMessage: "Successful API call",
        AccessToken: token,
        TokenType: "Bearer",
        ExpiresIn: tokens.expiresInSeconds,
        Errors: null,
      });
    }
    if (call.method !== "POST" || call.url !== "/v1.7.3/InstantTINMatch/Request") return sendJson(response, 404, {});
    const token = String(call.headers.authorization ?? "").replace(/^Bearer /, "");
    if (!valid.has(token)) return sendJson(response, 401, { StatusCode: 401, StatusName: "Unauthorized", Errors: [] });
    const asked = JSON.parse(call.body) as Asked;
    const simulated = SIMULATED[codeOf(asked)] ?? SIMULATED[0]!;
    const result = matched(asked.RefId, simulated);
    switch (behaviour) {
      case "on_hold":
        return sendJson(response, 200, matched(asked.RefId, ["TIN-003", "ON HOLD", "IRS has intermittent issues"]));
      case "bad_request":
        return sendJson(response, 400, { StatusCode: 400, StatusName: "BadRequest", Errors: [{ Id: "T-1" }] });
      case "down":
        return sendJson(response, 503, { StatusCode: 503, StatusName: "ServiceUnavailable" });
      case "drip":
        return drip(response, result);
      case "html":
        return void response.writeHead(200, { "content-type": "text/html" }).end("<p>Maintenance</p>");
      case "indiscreet":
        return sendJson(response, 200, {
          ...result,
          asked,
          forms: formsOf(asked.TIN),
          number: Number(asked.TIN),
          token,
        });
      default:
        return sendJson(response, 200, result);
    }
  });

  return {
    authUrl: `${server.url}/v2/tbsauth`,
    baseUrl: `${server.url}/v1.7.3`,
    credentials,
    calls: server.calls,
    behave(next) {
      behaviour = next;
    },
    answer(next) {
      codeOf = next;
    },
    giveTokens(next) {
      tokens = next;
    },
    expireTokens: () => valid.clear(),
    authCalls: () => server.calls.filter(({ method }) => method === "GET").length,
    matchCalls: () => server.calls.filter(({ method }) => method === "POST"),
  };
}

/** Returns a TIN in the forms in which people write it. */
export function formsOf(tin: string): string[] {
  return [tin, `${tin.slice(0, 2)}-${tin.slice(2)}`, `${tin.slice(0, 3)}-${tin.slice(3, 5)}-${tin.slice(5)}`];
}

function matched(refId: string, [TINStatusCode, TINStatus, TINStatusMsg]: (typeof SIMULATED)[number]) {
  return {
    StatusCode: 200,
    StatusName: "Ok",
    StatusMessage: "Successful API call",
    RecordId: randomUUID(),
    RefId: refId,
    TINStatusCode,
    TINStatus,
    TINStatusMsg,
    Errors: null,
  };
}

function isSignedBy({ clientId, clientSecret, userToken }: PlayedTaxBandits["credentials"], jws: string): boolean {
  const [header = "", payload = "", signature = ""] = jws.split(".");
  const decode = (part: string) => JSON.parse(Buffer.from(part, "base64url").toString("utf8") || "{}");
  const { iss, sub, aud, iat } = decode(payload);
  return (
    decode(header).alg === "HS256" &&
    [iss, sub].every((one) => one === clientId) &&
    aud === userToken &&
    Number.isInteger(iat) &&
    createHmac("sha256", clientSecret).update(`${header}.${payload}`).digest("base64url") === signature
  );
}
