import { expect, test } from "@jest/globals";
import { connectMongo } from "@vvs/mongo";
import { RequestLogService } from "@vvs/proto/account/v1/request_log";
import { SessionService } from "@vvs/proto/account/v1/sessions";
import { Environment } from "@vvs/proto/common/v1/common";
import { createClient } from "@vvs/rpc";
import { eventually, silentLogger as logger, untilEnd } from "@vvs/testing";
import { withAccounts } from "../../deploy/local/seed.ts";
import { migrate } from "../../services/account/src/migrate.ts";
import { startAccountParts } from "../support/account-parts.ts";
import { createOrganization, type TestOrganization } from "../support/organization.ts";
import { sharedProduct } from "../support/product.ts";
import type { ServiceProcess } from "../support/service-process.ts";

/** More than strangers' calls that wait for a hash together. */
const AT_ONCE = 400;
const CALLS = 50;
/** More calls over the limit than a gateway keeps for the request log while account does not answer. */
const LOGGED_CALLS = 300;

/** The queue's own refusal, unlike that of a limit. */
const QUEUE_IS_FULL = "Too many people are doing this right now. Try again in a few seconds.";

const { environment: shared, logDir, prefix: sharedPrefix } = sharedProduct();
/** A database of its own, so that the flood uses up no limits of other tests. It is dropped with the product's. */
const prefix = `${sharedPrefix}parts_`;
const environment: Readonly<Record<string, string>> = {
  ...shared,
  MONGODB_DATABASE_PREFIX: prefix,
  REDIS_KEY_PREFIX: prefix,
};

const newOrganization = () => createOrganization({ product: { baseUrl: parts.baseUrl, environment } });
const statusOf = async ({ live }: TestOrganization) => (await live.get("/v1/entities")).status;

const uri = environment.MONGODB_URI!;
const client = untilEnd(await connectMongo({ uri, service: "test", logger, stopping: AbortSignal.abort() }));
await migrate({ client, prefix });
const parts = await startAccountParts({ environment, logDir });
const organization = await newOrganization();
await eventually(async () => (await statusOf(organization)) === 200);
const sessions = untilEnd(
  createClient(SessionService, {
    address: `127.0.0.1:${parts.people.ports.rpc}`,
    caller: "dashboard",
    tls: undefined,
  }),
);

/** Returns the gRPC methods that a process has served, and the names of its metrics. */
async function seenBy({
  ports,
}: ServiceProcess): Promise<{ methods: ReadonlySet<string>; metrics: ReadonlySet<string> }> {
  const text = await (await fetch(`http://127.0.0.1:${ports.admin}/metrics`)).text();
  const calls = [...text.matchAll(/^rpc_server_call_duration_count\{.*?rpc_method="([^"]+)"/gm)];
  const metrics = [...text.matchAll(/^(\w+)[{ ]/gm)];
  return { methods: new Set(calls.map(([, name]) => name!)), metrics: new Set(metrics.map(([, name]) => name!)) };
}

test("each part reports its readiness under a name of its own, so that the silence of one is seen", async () => {
  const readyAs = async ({ ports }: ServiceProcess) =>
    /^service_ready\{service="([\w-]+)"\} 1/m.exec(
      await (await fetch(`http://127.0.0.1:${ports.admin}/metrics`)).text(),
    )?.[1];
  expect([await readyAs(parts.keys), await readyAs(parts.people)]).toEqual(["account", "account-people"]);
});

/** Signs in with wrong passwords from many networks until it is told to end. */
function flood() {
  let [network, refusals, goesOn] = [0, 0, true];
  const one = async () => {
    while (goesOn) {
      const number = network++;
      const credentials = { email: `${number}@flood.example`, password: "a wrong password" };
      const clientAddress = `100.${64 + ((number >> 8) % 64)}.${number % 256}.1`;
      const error: Error = await sessions.signIn({ ...credentials, clientAddress }).catch((thrown) => thrown);
      if (error.message === QUEUE_IS_FULL) refusals++;
    }
  };
  const running = Promise.all(Array.from({ length: AT_ONCE }, one));
  return {
    /** Returns how often nobody else could even wait for a hash. */
    refusals: () => refusals,
    async end() {
      goesOn = false;
      await running;
    },
  };
}

test("a person signs in at one part, and the dashboard shows what the other one knows", async () => {
  const { email, password } = organization;
  const signedIn = await fetch(`${parts.dashboardUrl}/sign-in`, {
    method: "POST",
    redirect: "manual",
    headers: { "sec-fetch-site": "same-origin" },
    body: new URLSearchParams({ email, password }),
  });
  expect(signedIn.status).toBe(303);
  const cookie = signedIn.headers.getSetCookie().map((one) => one.split(";", 1)[0]);
  const page = async (path: string) =>
    (await fetch(`${parts.dashboardUrl}${path}`, { headers: { cookie: cookie.join("; ") } })).text();
  expect(await page("/live/api-keys")).toContain(organization.keys.live.slice(-4));
  expect(await page("/live/organization/members")).toContain(email);
});

test("while sign-ins fill the queue of hashes of people, API calls go on, and keys do no work for sign-ins", async () => {
  const attack = flood();
  const statuses: number[] = [];
  try {
    await eventually(() => attack.refusals() > 0);
    for (let call = 0; call < CALLS; call++) statuses.push(await statusOf(organization));
    const refusals = attack.refusals();
    await eventually(() => attack.refusals() > refusals);
  } finally {
    await attack.end();
  }
  expect(statuses).toEqual(Array(CALLS).fill(200));

  const [keys, people] = [await seenBy(parts.keys), await seenBy(parts.people)];
  const signIn = "vvs.account.v1.SessionService/SignIn";
  expect([...people.methods]).toContain(signIn);
  expect([...keys.methods]).not.toContain(signIn);
  const ofPeople = ["account_sign_ins_total", "account_mail_oldest_unsent_seconds"];
  const ofKeys = ["account_key_watchers"];
  expect([...people.metrics]).toEqual(expect.arrayContaining(ofPeople));
  expect([...keys.metrics]).toEqual(expect.arrayContaining(ofKeys));
  for (const name of ofPeople) expect([...keys.metrics]).not.toContain(name);
  for (const name of ofKeys) expect([...people.metrics]).not.toContain(name);
});

test("while the people part does not run at all, keys are checked, added and suspended", async () => {
  process.kill(parts.people.pid, "SIGSTOP");
  try {
    const paused = sessions.getSession({ sessionToken: "none" }, { timeoutMs: 300 });
    await expect(paused).rejects.toMatchObject({ code: "service_unavailable" });
    const added = await newOrganization();
    await eventually(async () => (await statusOf(added)) === 200);
    await withAccounts(environment, (accounts) => accounts.organizations.suspend({ actor: "operator" }, added.id));
    await eventually(async () => (await statusOf(added)) === 403);
    expect(await statusOf(organization)).toBe(200);
  } finally {
    process.kill(parts.people.pid, "SIGCONT");
  }
});

test("while the keys part hangs, calls are answered; what is missing in the request log is counted, and the rest follows", async () => {
  const limited = await createOrganization({ limitPerMinute: 20, product: { baseUrl: parts.baseUrl, environment } });
  await eventually(async () => (await limited.sandbox.get("/v1/monitors")).status === 200);
  const leftOutMetric = async () => {
    const text = await (await fetch(`http://127.0.0.1:${parts.gateway.ports.admin}/metrics`)).text();
    return Number(/^request_log_left_out_total\{.*reason="organization".*\} (\d+)/m.exec(text)?.[1] ?? 0);
  };
  const before = await leftOutMetric();
  process.kill(parts.keys.pid, "SIGSTOP");
  try {
    const answers = await Promise.all(Array.from({ length: LOGGED_CALLS }, () => limited.sandbox.get("/v1/monitors")));
    expect([...new Set(answers.map(({ status }) => status))].toSorted()).toEqual([200, 429]);
    await eventually(async () => (await leftOutMetric()) > before);
  } finally {
    process.kill(parts.keys.pid, "SIGCONT");
  }
  const address = `127.0.0.1:${parts.keys.ports.rpc}`;
  const log = createClient(RequestLogService, { address, caller: "dashboard", tls: undefined });
  const caller = { tenant: { organizationId: limited.id, environment: Environment.SANDBOX }, actor: "test" };
  const counts = async () => {
    const { requests, next, leftOut } = await log.listRequests({ caller, page: { limit: 100 } });
    const older = next ? (await log.listRequests({ caller, page: { limit: 100, after: next } })).requests : [];
    return { logged: requests.length + older.length, leftOut: Number(leftOut) };
  };
  const { leftOut } = await eventually(async () => {
    const found = await counts();
    return found.logged + found.leftOut > LOGGED_CALLS && found;
  });
  expect(leftOut).toBe((await leftOutMetric()) - before);
  log.close();
});
