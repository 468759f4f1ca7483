import { createHash, generateKeyPairSync, randomUUID, sign } from "node:crypto";
import { type PlayedServer, playServer, sendJson } from "./played-server.ts";

/** What the provider returns about a user, and how it misbehaves. */
export interface OpenIdAnswers {
  /** Claims of the ID token besides the standard ones; an undefined one is left out. */
  claims: Record<string, unknown>;
  /** Answer of `/userinfo`; undefined: there is no such endpoint. */
  userInfo?: Record<string, unknown> | undefined;
  /** Signs with a key that is not among the published ones. */
  foreignKey?: boolean;
  /** The token endpoint's status instead of 200. */
  tokenStatus?: number;
  /** Wrong parameters of the redirect back; an empty one is left out. */
  back?: Record<string, string>;
}

export interface PlayedOpenIdProvider extends PlayedServer {
  readonly issuer: string;
  answers: OpenIdAnswers;
  /** Returns the query with which the provider sends a browser back to the redirect address. */
  queryBack(authorizationUrl: string): string;
}

export const CLIENT = { id: "vendor-verification", secret: "provider-secret" };

/** Starts an OpenID Connect provider that signs everybody in immediately and correctly, unless `answers` differs. */
export async function playOpenIdProvider(): Promise<PlayedOpenIdProvider> {
  const key = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const foreign = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const codes = new Map<string, { challenge: string; nonce: string; redirectUri: string }>();
  let answers: OpenIdAnswers = { claims: {} };

  const server = await playServer((call, response) => {
    const { pathname } = new URL(call.url, issuer());
    if (pathname === "/.well-known/openid-configuration") return sendJson(response, 200, discovery());
    if (pathname === "/jwks") {
      return sendJson(response, 200, {
        keys: [{ ...key.publicKey.export({ format: "jwk" }), kid: "k1", alg: "RS256" }],
      });
    }
    if (pathname === "/userinfo" && answers.userInfo) return sendJson(response, 200, answers.userInfo);
    if (pathname === "/token") return token(call.headers.authorization, new URLSearchParams(call.body), response);
    // The page that a browser is sent to; it redirects back immediately.
    if (pathname === "/authorize") {
      const url = new URL(call.url, issuer());
      const back = new URL(url.searchParams.get("redirect_uri")!);
      back.search = queryBack(url.href);
      return void response.writeHead(302, { location: back.href }).end();
    }
    response.writeHead(404).end();
  });

  const issuer = () => server.url;
  const discovery = () => ({
    issuer: issuer(),
    authorization_endpoint: `${issuer()}/authorize`,
    token_endpoint: `${issuer()}/token`,
    jwks_uri: `${issuer()}/jwks`,
    userinfo_endpoint: `${issuer()}/userinfo`,
    response_types_supported: ["code"],
    id_token_signing_alg_values_supported: ["RS256"],
    authorization_response_iss_parameter_supported: true,
  });

  function token(authorization: string | undefined, form: URLSearchParams, response: Parameters<typeof sendJson>[0]) {
    if (answers.tokenStatus) return sendJson(response, answers.tokenStatus, { error: "server_error" });
    const issued = codes.get(form.get("code") ?? "");
    codes.delete(form.get("code") ?? "");
    const challenge = createHash("sha256")
      .update(form.get("code_verifier") ?? "")
      .digest("base64url");
    const client = Buffer.from(authorization?.replace(/^Basic /, "") ?? "", "base64").toString();
    if (client.split(":").map(decodeURIComponent).join(":") !== `${CLIENT.id}:${CLIENT.secret}`)
      return sendJson(response, 401, { error: "invalid_client" });
    if (issued?.challenge !== challenge || issued.redirectUri !== form.get("redirect_uri")) {
      return sendJson(response, 400, { error: "invalid_grant" });
    }
    const at = Math.floor(Date.now() / 1000);
    const claims = { iss: issuer(), aud: CLIENT.id, sub: "ada", iat: at, exp: at + 300, nonce: issued.nonce };
    const idToken = signed({ ...claims, ...answers.claims }, (answers.foreignKey ? foreign : key).privateKey);
    sendJson(response, 200, { access_token: randomUUID(), token_type: "Bearer", expires_in: 300, id_token: idToken });
  }

  function queryBack(authorizationUrl: string): string {
    const parameters = new URL(authorizationUrl).searchParams;
    const code = randomUUID();
    codes.set(code, {
      challenge: parameters.get("code_challenge")!,
      nonce: parameters.get("nonce")!,
      redirectUri: parameters.get("redirect_uri")!,
    });
    const back = { code, state: parameters.get("state")!, iss: issuer(), ...answers.back };
    return new URLSearchParams(Object.entries(back).filter(([, value]) => value !== "")).toString();
  }

  return {
    ...server,
    issuer: issuer(),
    queryBack,
    get answers() {
      return answers;
    },
    set answers(next) {
      answers = next;
    },
  };
}

function signed(claims: object, key: Parameters<typeof sign>[2]): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const text = `${part({ alg: "RS256", kid: "k1", typ: "JWT" })}.${part(claims)}`;
  return `${text}.${sign("sha256", Buffer.from(text), key).toString("base64url")}`;
}
