import type { ServerResponse } from "node:http";
import { playServer } from "../../../../test/outside/played-server.ts";

export const TEST_KEY = `svc_test_${"a".repeat(38)}`;
export const LIVE_KEY = `svc_live_${"a".repeat(38)}`;

/** A call that arrived. */
export interface Call {
  readonly method: string;
  readonly path: string;
  readonly key: string | undefined;
  readonly idempotencyKey: string | undefined;
  // Bodies have many shapes; tests assert what they expect.
  // biome-ignore lint/suspicious/noExplicitAny: see above
  readonly body: any;
}

export type Handler = (call: Call, response: ServerResponse) => void | Promise<void>;

export interface FakeApi extends AsyncDisposable {
  readonly url: string;
  readonly calls: readonly Call[];
  /** Variables with which the program calls this server. */
  readonly env: Record<string, string>;
}

/** Starts an HTTP server in place of the service. */
export async function startApi(handler: Handler): Promise<FakeApi> {
  const calls: Call[] = [];
  const { url, close } = await playServer(async ({ method, url: path, headers, body }, response) => {
    const idempotencyKey = headers["idempotency-key"] as string | undefined;
    const key = headers.authorization?.replace("Bearer ", "");
    const call = { method, path, key, idempotencyKey, body: body === "" ? undefined : JSON.parse(body) };
    calls.push(call);
    await handler(call, response);
  });
  const env = { VENDOR_VERIFICATION_BASE_URL: url, VENDOR_VERIFICATION_API_KEY: TEST_KEY };
  return { url, calls, env, [Symbol.asyncDispose]: close };
}

/** Answers with JSON. */
export function answer(
  response: ServerResponse,
  status: number,
  body: object,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { "Content-Type": "application/json", ...headers }).end(JSON.stringify(body));
}

/** Answers with an error. */
export function refuse(
  response: ServerResponse,
  status: number,
  error: string,
  more: { headers?: Record<string, string> } & Record<string, unknown> = {},
): void {
  const { headers, ...fields } = more;
  answer(response, status, { error, message: `Refused: ${error}.`, request_id: "req_1", ...fields }, headers);
}

/** Returns the verification of a call of POST /v1/verify: its result is the UEI's last letter (P, F, anything else: error). */
export function verificationOf({ body, idempotencyKey }: Call): object {
  const uei: string = body.identifiers?.uei ?? body.entity_id;
  const status = { P: "pass", F: "fail" }[uei.at(-1)!] ?? "error";
  return {
    id: `ver_${idempotencyKey!.slice(-8)}`,
    entity_id: `ent_${uei}`,
    overall_result: status,
    results: body.checks.map((check_type: string) => ({
      check_type,
      status,
      origin: "sandbox_primary",
      evidence_uri: `http://api.example/v1/evidence/evd_${uei}`,
      ...(status === "fail" && { reason: "excluded" }),
      details: { registration_status: "active", expiration_date: "2099-03-31" },
    })),
    created_at: "2026-11-21T09:30:00.000Z",
  };
}
