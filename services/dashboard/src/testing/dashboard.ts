import { afterEach, beforeEach } from "@jest/globals";
import { ServiceError } from "@vvs/errors";
import type { Admit } from "@vvs/fair-queue";
import { serveHttp } from "@vvs/http";
import type { Logger } from "@vvs/logging";
import { createClient } from "@vvs/rpc";
import { atEnd } from "@vvs/testing";
import { createApp } from "../app.ts";
import { createClients } from "../page/clients.ts";
import { startFakeServices } from "./fake-services.ts";
import { EMAIL, PASSWORD } from "./fake-sessions.ts";
import type { FakeState } from "./fake-state.ts";
import { routesOf } from "./routes.ts";

/** A response with its body as text. */
export interface Page {
  readonly status: number;
  readonly headers: Headers;
  readonly location: string | null;
  readonly cookies: readonly string[];
  readonly text: string;
}

/** A simulated browser: it keeps cookies, follows no redirects, and sends forms from the dashboard's own pages. */
export interface Visitor {
  get(path: string): Promise<Page>;
  post(path: string, form?: Record<string, string | string[]>, headers?: Record<string, string>): Promise<Page>;
  request(path: string, init: RequestInit): Promise<Page>;
  /** Signs in as the only user. */
  signIn(): Promise<Page>;
  /** Returns the token of the forms on a page. */
  formToken(path: string): Promise<string>;
  /** Returns the names of the cookies that the browser keeps. */
  cookies(): string[];
  /** Returns a copy with the current cookies, for requests that are sent before later changes. */
  clone(): Visitor;
}

export interface TestDashboard {
  readonly state: FakeState;
  readonly routes: ReturnType<typeof routesOf>;
  readonly logs: readonly Record<string, unknown>[];
  /** Returns the requests of a method that were recorded, as JSON. */
  callsOf(method: string): ReturnType<typeof JSON.parse>[];
  visitor(): Visitor;
  /** Lets a method answer with an error. */
  fail(method: string, ...error: ConstructorParameters<typeof ServiceError>): void;
  /** Stops a service. */
  stop(service: "account" | "verification"): Promise<void>;
  close(): Promise<void>;
}

export const ORIGIN = "http://localhost:8081";

/** Starts the real dashboard on a free port, with simulated services. */
export async function startDashboard(
  options: { trustedProxyHops?: number; localMailbox?: boolean; admit?: Admit } = {},
): Promise<TestDashboard> {
  const logs: Record<string, unknown>[] = [];
  const logger = recordingLogger(logs);
  const services = await startFakeServices(recordingLogger([]));
  const { account, dispatcher, verification, entity, monitor } = services;
  const servers = { keys: account, people: account, dispatcher, verification, entity, monitor };
  const clients = createClients((service, server) =>
    createClient(service, { address: `127.0.0.1:${servers[server].port}`, caller: "dashboard", tls: undefined }),
  );
  const app = createApp({
    ...clients,
    admit: options.admit ?? ((_call, work) => work()),
    url: new URL(ORIGIN),
    apiBaseUrl: new URL("https://api.acme.example"),
    trustedProxyHops: options.trustedProxyHops ?? 0,
    localMailbox: options.localMailbox ?? false,
    logger,
    now: () => new Date(),
  });
  const server = await serveHttp({
    listener: app,
    host: "127.0.0.1",
    port: 0,
    keepAliveSeconds: 5,
    maxConnections: 100,
    stopping: new AbortController().signal,
  });
  return {
    state: services.state,
    routes: routesOf(app),
    logs,
    callsOf: (method) =>
      services.state.calls.flatMap((call) =>
        call.startsWith(`${method} `) ? [JSON.parse(call.slice(method.length))] : [],
      ),
    visitor: () => createVisitor(`http://127.0.0.1:${server.port}`, new Map()),
    fail: (method, ...error) => void services.state.failures.set(method, new ServiceError(...error)),
    stop: (service) => services[service].close(0),
    close: atEnd(async () => {
      await server.close();
      for (const each of Object.values(clients)) each.close();
      const { state: _state, ...servers } = services;
      await Promise.all(Object.values(servers).map((each) => each.close(0)));
    }),
  };
}

/**
 * Starts a dashboard before each test of a file, and closes it afterwards. Its visitor has signed in, unless `signsIn` is false,
 * and no call is recorded yet.
 */
export function dashboardPerTest({ signsIn = true } = {}) {
  let dashboard: TestDashboard;
  let visitor: Visitor;
  beforeEach(async () => {
    dashboard = await startDashboard();
    visitor = dashboard.visitor();
    if (signsIn) await visitor.signIn();
    dashboard.state.calls.length = 0;
  });
  afterEach(() => dashboard.close());
  return { dashboard: current(() => dashboard), visitor: current(() => visitor) };
}

/** Returns an object with the properties of the one that `read` returns now. */
const current = <T extends object>(read: () => T): T =>
  new Proxy({} as T, { get: (_target, name) => Reflect.get(read(), name) });

function createVisitor(baseUrl: string, jar: Map<string, string>): Visitor {
  const request = async (path: string, init: RequestInit): Promise<Page> => {
    const headers = new Headers(init.headers);
    headers.set("cookie", [...jar].map(([name, value]) => `${name}=${value}`).join("; "));
    headers.set("connection", "close");
    const response = await fetch(`${baseUrl}${path}`, { ...init, headers, redirect: "manual" });
    const cookies = response.headers.getSetCookie();
    for (const cookie of cookies) keep(jar, cookie);
    const location = response.headers.get("location");
    return { status: response.status, headers: response.headers, location, cookies, text: await response.text() };
  };
  const visitor: Visitor = {
    request,
    get: (path) => request(path, {}),
    post: (path, form = {}, headers = { origin: ORIGIN }) => {
      const body = new URLSearchParams();
      for (const [name, value] of Object.entries(form)) for (const item of [value].flat()) body.append(name, item);
      return request(path, { method: "POST", body, headers });
    },
    signIn: () => visitor.post("/sign-in", { email: EMAIL, password: PASSWORD }),
    formToken: async (path) => hiddenField(await visitor.get(path), "form_token"),
    cookies: () => [...jar.keys()],
    clone: () => createVisitor(baseUrl, new Map(jar)),
  };
  return visitor;
}

/** Returns the value of the first hidden field with this name on a page. */
export function hiddenField({ text }: Page, name: string): string {
  return new RegExp(`name="${name}" value="([\\w-]+)"`).exec(text)![1]!;
}

function keep(jar: Map<string, string>, cookie: string): void {
  const [, name, value] = /^([^=]+)=([^;]*)/.exec(cookie)!;
  if (/expires=Thu, 01 Jan 1970/i.test(cookie)) jar.delete(name!);
  else jar.set(name!, value!);
}

function recordingLogger(lines: Record<string, unknown>[]): Logger {
  const record = (level: string) => (fields: object, msg: string) => void lines.push({ level, ...fields, msg });
  return { info: record("info"), warn: record("warn"), error: record("error"), debug: record("debug") } as never;
}
