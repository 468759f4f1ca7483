import type { IncomingMessage } from "node:http";
import { ServiceError } from "@vvs/errors";
import { createForwardedWatch } from "@vvs/http";
import express, { type NextFunction, type Request, type Response } from "express";
import { fromService, refuseInvalid } from "./http/errors.ts";
import { answer, answerError, beginExchange, type Exchange, type ExchangeOptions } from "./http/exchange.ts";
import { answerPrepared } from "./http/prepared.ts";
import { unknownParameters } from "./input/query.ts";
import { RECEIPT_KEYS_PATH } from "./openapi/operations.ts";
import { entrance, publicDocuments } from "./public-documents.ts";
import { createReadReceiptKeys } from "./receipt-keys.ts";
import type { Route } from "./routes/route.ts";
import { allowedMethods } from "./routes/table.ts";
import { type ServeOptions, serve } from "./serve.ts";

export interface AppOptions extends ServeOptions, Omit<ExchangeOptions, "context"> {
  readonly routes: readonly Route[];
  readonly version: string;
  /** Returns whether calls can be served now. Called on each GET /v1/health, so it must be cheap. */
  readonly healthy: () => boolean;
}

/** Creates the HTTP application, which finds the route of each request. Paths are exact: case matters, and none ends with a slash. */
export function createApp(options: AppOptions): express.Express {
  const app = express();
  const watchForwarded = createForwardedWatch(options);
  app.disable("x-powered-by").disable("etag").set("query parser", false);
  app.enable("strict routing").enable("case sensitive routing");

  app.use((request, response, next) => {
    response.locals.exchange = beginExchange(request, response, options);
    watchForwarded(request);
    refuseMalformed(request);
    request.url = withReadablePath(request.url);
    next();
  });

  /** Answers GET at a path that needs no API key and takes no parameters. */
  const serveOpen = (path: string, handle: (exchange: Exchange, request: Request, response: Response) => unknown) =>
    app.all(path, (request, response) => {
      const exchange: Exchange = response.locals.exchange;
      if (!isGet(request)) return refuseMethod(exchange, "GET, HEAD");
      const unknown = unknownParameters(request.url);
      if (unknown.length > 0) refuseInvalid(unknown);
      return handle(exchange, request, response);
    });

  serveOpen("/v1/health", (exchange) => {
    const healthy = options.healthy();
    const headers: Record<string, string> = healthy ? {} : { "Retry-After": "1" };
    answer(
      exchange,
      healthy ? 200 : 503,
      { status: healthy ? "ok" : "unavailable", version: options.version },
      headers,
    );
  });

  const home = entrance(options.version, options.context.publicBaseUrl);
  serveOpen("/", (_exchange, request, response) =>
    answerPrepared(request, response, request.accepts("json", "html") === "html" ? home.html : home.json),
  );
  serveOpen("/docs/", ({ response }) => response.writeHead(308, { Location: "/docs", "Content-Length": 0 }).end());
  for (const [path, document] of publicDocuments(options.version, options.context.publicBaseUrl)) {
    serveOpen(path, (_exchange, request, response) => answerPrepared(request, response, document));
  }

  const readReceiptKeys = createReadReceiptKeys(options.context.verification, () => performance.now());
  serveOpen(RECEIPT_KEYS_PATH, async (_exchange, request, response) => {
    const keys = await readReceiptKeys().catch((error: unknown) => Promise.reject(fromService(error)));
    answerPrepared(request, response, keys);
  });

  for (const [path, table] of Map.groupBy(options.routes, (route): string => route.path)) {
    app.all(path, async (request, response) => {
      const exchange: Exchange = response.locals.exchange;
      const method = isGet(request) ? "GET" : request.method;
      const route = table.find((candidate) => candidate.method === method);
      if (!route) return refuseMethod(exchange, allowedMethods(table));
      await serve(route, String(request.params.id ?? ""), exchange, options);
    });
  }

  app.use(() => {
    throw new ServiceError("not_found", {
      message:
        "This path does not exist. Paths begin with /v1, are case-sensitive and do not end with a slash. /docs lists them.",
    });
  });
  app.use((thrown: unknown, _request: Request, response: Response, _next: NextFunction) => {
    answerError(response.locals.exchange, thrown);
  });
  return app;
}

/** Refuses requests that Node's parser accepts and that could be read in two ways. Errors: invalid_request. */
function refuseMalformed({ headersDistinct, httpVersion }: IncomingMessage): void {
  const { host, authorization, "transfer-encoding": codings } = headersDistinct;
  const refuse = (message: string): never => {
    throw new ServiceError("invalid_request", { message });
  };
  if (host === undefined && httpVersion === "1.1") refuse("The request has no Host header. Send one.");
  if (host && host.length > 1) refuse("The request has more than one Host header. Send one.");
  if (authorization && authorization.length > 1)
    refuse("The request has more than one Authorization header. Send one.");
  if (codings && codings.join().trim().toLowerCase() !== "chunked") {
    refuse("The Transfer-Encoding is not supported. Send the body with a Content-Length, or chunked.");
  }
}

function isGet({ method }: Request): boolean {
  return method === "GET" || method === "HEAD";
}

function refuseMethod(exchange: Exchange, allow: string): void {
  const message = `This method is not allowed here. This path takes ${allow}.`;
  answerError(exchange, new ServiceError("method_not_allowed", { message }), { Allow: allow });
}

/** Returns the URL with a path that can be decoded. An id with a broken %-escape stays as it is, and names no object. */
function withReadablePath(url: string): string {
  const [path = "", ...query] = url.split("?");
  try {
    decodeURIComponent(path);
    return url;
  } catch {
    return [path.replaceAll("%", "%25"), ...query].join("?");
  }
}
