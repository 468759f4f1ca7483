import { createForwardedWatch, observeRequest } from "@vvs/http";
import { newId } from "@vvs/ids";
import express, { type ErrorRequestHandler, type Express } from "express";
import { addEntryRoutes } from "./entry/routes.ts";
import { createUnsubscribe } from "./entry/unsubscribe.ts";
import { createAssets } from "./http/assets.ts";
import { compressAnswers } from "./http/compression.ts";
import { refuseForeignForms } from "./http/csrf.ts";
import { environmentViews, live } from "./http/environments.ts";
import { RECEIPTS_PATH, readForm } from "./http/form.ts";
import { type Html, html } from "./http/html.ts";
import { HOME } from "./http/next-path.ts";
import { ProblemError, problemOf } from "./http/problem.ts";
import { securityHeaders } from "./http/security-headers.ts";
import { createBeginSession, createSignedIn, observed, type ReadAlert } from "./http/session.ts";
import { createHomeHandler } from "./overview/home.ts";
import type { AppOptions } from "./page/app-options.ts";
import type { PageContext } from "./page/page-context.ts";
import { createReadEndpoints, createReadPanel, createReadVendors, orUnavailable } from "./page/panels.ts";
import { createSamGovCallsHandler, SAM_GOV_CALLS_PATH } from "./providers/sam-gov-calls.ts";
import { createReceiptHandlers } from "./receipts/receipt-page.ts";
import { pageRoutes } from "./routes.ts";
import { createLayout, type Layout } from "./ui/layout.ts";
import { endpointsAlert } from "./webhooks/endpoints-page.ts";

/** Creates the dashboard with all its routes. */
export function createApp(options: AppOptions): Express {
  const assets = createAssets();
  const layout = createLayout({ assetPath: assets.pathOf });
  const panels = { ...options, readPanel: createReadPanel(options) };
  const readEndpoints = createReadEndpoints(panels);
  const context: PageContext = {
    ...panels,
    layout,
    beginSession: createBeginSession(options.sessions),
    readVendors: createReadVendors(panels),
    readEndpoints,
  };
  const readAlert: ReadAlert = async (visit) =>
    endpointsAlert(visit, await readEndpoints(visit, { limit: 1, flaggedOnly: true }));
  const signedIn = createSignedIn({ ...options, readAlert });

  const app = express();
  observeRequests(app, options);
  app.use(securityHeaders({ isHttps: options.url.protocol === "https:" }));
  app.use(compressAnswers());
  app.use(assets.router);
  const { path, ask, unsubscribe } = createUnsubscribe(context);
  app.get(path, ask);
  // Before what refuses the forms of others: email programs send it.
  app.post(path, unsubscribe);
  app.use(refuseForeignForms(options.url.origin));
  app.use(readForm);

  app.get(HOME, signedIn(live, "read", createHomeHandler(context)));
  addEntryRoutes(app, context);
  const receipts = createReceiptHandlers(context);
  app.get(RECEIPTS_PATH, receipts.show);
  app.post(RECEIPTS_PATH, receipts.check);
  const routes = pageRoutes(context);
  for (const view of environmentViews) {
    app.get(view.path, (_request, response) => response.redirect(303, `${view.path}/overview`));
    for (const [method, path, permission, handle, back] of routes) {
      const shown = method === "get" ? orUnavailable(handle, layout) : handle;
      app[method](view.path + path, signedIn(view, permission, shown));
      if (back === undefined) continue;
      app.get(view.path + path, ({ params }, response) => {
        const filled = back.replace(/:(\w+)/g, (_all, name: string) => encodeURIComponent(String(params[name])));
        response.redirect(303, view.path + filled);
      });
    }
  }
  // The quota is one for all organizations, and only live checks use it.
  const samGovCalls = orUnavailable(createSamGovCallsHandler(context), layout);
  app.get(SAM_GOV_CALLS_PATH, signedIn(live, "operate", samGovCalls));
  app.use((_request, _response, next) => next(new ProblemError("page_not_found")));
  app.use(problemPages(layout));
  return app;
}

/** Gives every request an id and a line in the log. */
function observeRequests(app: Express, options: AppOptions): void {
  const { logger, url, trustedProxyHops } = options;
  const watchForwarded = createForwardedWatch(options);
  app.disable("x-powered-by");
  app.disable("etag");
  app.set("trust proxy", trustedProxyHops);
  app.use((request, response, next) => {
    const [clientAddress, serverAddress] = [request.ip ?? "", url.hostname];
    const requestId = newId("req");
    watchForwarded(request);
    response.locals.observed = observeRequest(request, response, { logger, requestId, clientAddress, serverAddress });
    next();
  });
}

/** Answers errors with a page that says what happened and what to do. */
function problemPages(layout: Layout): ErrorRequestHandler {
  return (error, request, response, next) => {
    const problem = problemOf(error);
    const { requestId, fields } = observed(response);
    if (problem.status >= 500) fields.err = error;
    if (response.headersSent) return next(error);
    if (problem.retryAfterSeconds) response.set("retry-after", String(problem.retryAfterSeconds));
    const { title, status } = problem;
    const content = html`<p class="eyebrow">Error ${status}</p>
<p>${problem.text}</p>
${problem.isMissing && request.method === "GET" && otherEnvironment(request.path)}
<p><a class="button" href="/">Go to the dashboard</a></p>
<p class="hint">If you contact support, include the request ID <code>${requestId}</code>.</p>`;
    layout.sendCard(response, { title, status, content });
  };
}

/** Renders the way to the same page of the other environment, where what is missing may be. */
function otherEnvironment(path: string): Html | undefined {
  const here = environmentViews.find((view) => path.startsWith(`${view.path}/`));
  const other = environmentViews.find((view) => view !== here);
  if (!here || !other) return undefined;
  return html`<p>An ID belongs to one environment, and this is the ${here.name} environment. <a href="${other.path}${path.slice(here.path.length)}">Look for it in ${other.name}</a>.</p>`;
}
