import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { createAuthority } from "@vvs/egress/testing/certificates";
import { eventually } from "@vvs/testing";
import { generateSecrets } from "../../deploy/local/secrets.ts";
import { topology } from "../../deploy/local/topology.ts";
import { createOrganization } from "../support/organization.ts";
import type { SharedProduct } from "../support/product.ts";
import { clusterOf } from "./cluster.ts";
import { runEndToEnd } from "./end-to-end.ts";
import { whyNoCluster } from "./given.ts";
import { BASE, builder, images, makeImages, removeImages } from "./images.ts";
import { machineHost, nameThisMachine, openDoor } from "./machine.ts";
import { externalObjects, named, productionValues, RELEASE, releaseArguments, type Site } from "./production.ts";
import { playSecureSamGov } from "./registry.ts";
import { startStores } from "./stores.ts";
import { VISITOR_PORT, visitorHost, visitorObjects } from "./visitor-objects.ts";

const MEGABYTE = 1_000_000;
const OF_RELEASE = ["--selector", `app.kubernetes.io/instance=${RELEASE}`];
const whyNot = (await whyNoCluster()) ?? (builder ? undefined : "neither Docker nor buildah can be used");
const cluster = clusterOf(process.env.CLUSTER_NAMESPACE ?? "vendor-verification-test");
const storesCluster = clusterOf(`${cluster.namespace}-stores`);
const services = Object.keys(topology);
let values: object;
let product: SharedProduct;

interface Report {
  answered: number;
  failures: object[];
  resent: object[];
  received: [string, number][];
  history: { id: string }[];
}

/** Runs a step and prints how long it took. */
async function timed<T>(step: string, work: () => Promise<T>): Promise<T> {
  const startedAt = performance.now();
  const result = await work();
  process.stderr.write(`${step}: ${Math.round((performance.now() - startedAt) / 1_000)} s\n`);
  return result;
}

/** Returns what the visitor has seen, with its monitor's history if asked. */
async function report(path: "" | "history" = ""): Promise<Report> {
  const ask = `fetch("http://127.0.0.1:${VISITOR_PORT}/${path}").then((answer) => answer.text()).then(console.log)`;
  return JSON.parse(await cluster.kubectl(["exec", "visitor", "--", "node", "--eval", ask]));
}

/** Waits until the visitor has had 50 more answers and one more event. Expects that none failed. */
async function undisturbed(before: Report): Promise<void> {
  const after = await eventually(
    async () => {
      const now = await report();
      return now.answered > before.answered + 50 && now.received.length > before.received.length ? now : undefined;
    },
    { timeoutMs: 120_000, everyMs: 500 },
  );
  expect(after.failures.slice(before.failures.length)).toEqual([]);
}

interface Pod {
  readonly metadata: { readonly name: string };
  readonly status: { readonly podIP: string };
}

const podsOf = async (part: string) =>
  (await cluster.get<{ items: Pod[] }>(["pods", "--selector", `app.kubernetes.io/component=${part}`])).items;

/** Waits until each service has all its replicas. */
async function allReady(): Promise<void> {
  for (const name of services)
    await cluster.kubectl(["rollout", "status", `deployment/${named(name)}`, "--timeout=180s"]);
}

/** Kills one pod of each service at the same time, and waits until their replacements are ready. */
async function killPods(names: readonly string[]): Promise<void> {
  const first = async (name: string) => (await podsOf(name))[0]!.metadata.name;
  const pods = await Promise.all(names.map(first));
  await cluster.kubectl(["delete", "pod", ...pods, "--wait=true", "--grace-period=0", "--force"]);
  await allReady();
}

/** Runs an operator's command in the pod of account, as the chart's README says. */
async function admin(...command: string[]) {
  const shell = ["exec", `deploy/${named("account")}`, "--", "/app/deploy/image/vvs", "admin"];
  return JSON.parse(await cluster.kubectl([...shell, ...command, "--json"]));
}

/** Creates a Job from a CronJob and returns what it printed. */
async function runCronJob(job: string, cronJob: string): Promise<string> {
  await cluster.kubectl(["create", "job", job, `--from=cronjob/${named(cronJob)}`]);
  await cluster.kubectl(["wait", "--for=condition=Complete", `job/${job}`, "--timeout=120s"]);
  return cluster.kubectl(["logs", `job/${job}`]);
}

/** Names all objects of the release, of every kind. */
async function objectsLeft(): Promise<string[]> {
  const kinds = await cluster.kubectl(["api-resources", "--namespaced", "--verbs=list,delete", "--output", "name"]);
  const left = await cluster.kubectl(["get", kinds.trim().replaceAll("\n", ","), ...OF_RELEASE, "--output", "name"]);
  return left.split("\n").filter((name) => name !== "");
}

(whyNot ? describe.skip : describe)(`on a cluster${whyNot ? ` (skipped: ${whyNot})` : ""}`, () => {
  beforeAll(async () => {
    const [gatewayDoor, mongodbDoor] = [await openDoor(), await openDoor()];
    await timed("images", () => Promise.all([makeImages(), cluster.remove(), storesCluster.remove()]));
    await Promise.all([cluster.create(), storesCluster.create()]);
    const authority = createAuthority();
    const stores = await timed("stores", () => startStores(storesCluster, images, authority));
    mongodbDoor.leadTo(stores.podIp, 27017);
    const machine = await nameThisMachine(storesCluster, { ip: stores.podIp, port: 27017 });
    const host = machineHost(storesCluster);
    const keyRings = generateSecrets();
    const site: Site = {
      ...{ images, stores, authority, keyRings, machine, samGov: await playSecureSamGov(host, authority) },
      publicBaseUrl: `http://localhost:${gatewayDoor.port}`,
      subscribers: [visitorHost(cluster.namespace), host],
    };
    values = productionValues(site);
    await cluster.apply(...externalObjects(site));
    await timed("install", () => cluster.helm(["install", ...releaseArguments()], { input: JSON.stringify(values) }));
    const gateway = await cluster.get<{ spec: { clusterIP: string } }>(["service", named("gateway")]);
    gatewayDoor.leadTo(gateway.spec.clusterIP, 80);
    const mongodbUri = new URL(stores.mongodbUri("account"));
    product = {
      baseUrl: site.publicBaseUrl,
      dashboardUrl: site.publicBaseUrl,
      environment: {
        ...keyRings,
        MONGODB_URI: `mongodb://${mongodbUri.username}:${mongodbUri.password}@127.0.0.1:${mongodbDoor.port}/?directConnection=true`,
        MONGODB_TLS_CA: authority.ca,
        MONGODB_TLS_CERT: stores.mongodbCertificate.cert,
        MONGODB_TLS_KEY: stores.mongodbCertificate.key,
        MONGODB_DATABASE_PREFIX: "vvs_",
        DASHBOARD_URL: site.publicBaseUrl,
      },
      prefix: "vvs_",
      logDir: "",
      spansFile: "",
    };
  }, 900_000);

  afterAll(async () => {
    // CLUSTER_KEEP keeps everything for inspection.
    if (process.env.CLUSTER_KEEP) return;
    await timed("removal", () => Promise.all([cluster.remove(), storesCluster.remove(), removeImages()]));
  }, 400_000);

  test("the image adds less than 250 MB to its base", async () => {
    const added = (await builder!.size(images.product)) - (await builder!.size(BASE));
    expect(added).toBeGreaterThan(0);
    expect(added).toBeLessThan(250 * MEGABYTE);
  });

  test("helm test passes", async () => {
    await cluster.helm(["test", RELEASE, "--timeout", "3m"]);
  });

  test("the CronJobs load SAM.gov's files, and verifications answer from them", async () => {
    const loaded = await runCronJob("first-load", "registry-extract");
    expect(loaded).toMatch(/^registry SAM_PUBLIC\S+ \([\d-]+\): rows 8, /m);
    expect(loaded).toMatch(/^exclusions SAM_Exclusions\S+ \([\d-]+\): rows \d+, /m);
    expect(await runCronJob("second-load", "registry-exclusions")).toMatch(/^exclusions: up to date/m);
    const { live } = await createOrganization({ product });
    const found = await live.post("/v1/entities/lookup", { identifiers: { uei: "ZZNRTHWND001" } });
    expect(found).toMatchObject({ status: 200, body: { legal_name: "NORTHWIND BRIDGEWORKS, INC." } });
    const ask = async (identifiers: object) =>
      (await live.post("/v1/verify", { identifiers, checks: ["sam_registration"], mode: "realtime" })).body.results[0];
    expect(await ask({ uei: "ZZNRTHWND001" })).toMatchObject({ status: "pass", origin: "sam_gov_extract" });
    expect(await ask({ uei: "ZZGRANITE101" })).toMatchObject({ status: "fail", reason: "excluded" });
  });

  test("the end-to-end tests pass on the cluster", () => runEndToEnd(product, machineHost(storesCluster)));

  test("limits are counted in Redis, and no service was refused a right by its stores", async () => {
    for (const { status } of await podsOf("gateway")) {
      const metrics = await (await fetch(`http://${status.podIP}:9090/metrics`)).text();
      expect(metrics).toMatch(/^ratelimit_degraded(\{.*\})? 0$/m);
    }
    const logs = await cluster.kubectl(["logs", ...OF_RELEASE, "--tail=-1", "--max-log-requests=40", "--prefix"]);
    expect(logs).toContain('"level":"info"');
    expect(logs.split("\n").filter((line) => /not authorized|NOPERM|AUTHORIZATION_FAILED/i.test(line))).toEqual([]);
  });

  test("a client verifies, and a change reaches its subscriber", async () => {
    const organization = await admin(
      ...["organization", "create", "--name", "Visitor", "--plan", "enterprise", "--limit", "1000000"],
    );
    const given = ["--organization", organization.id, "--environment", "sandbox"];
    const key = await admin("key", "create", ...given, "--name", "visitor");
    const visitor = { namespace: cluster.namespace, apiUrl: `http://${named("gateway")}`, apiKey: key.value };
    await cluster.apply(...visitorObjects({ ...visitor, image: images.product }));
    await cluster.kubectl(["wait", "--for=condition=Ready", "pod/visitor", "--timeout=120s"]);
    await undisturbed(await report());
  });

  test("an upgrade that replaces every pod and adds the canary fails no request and loses no event", async () => {
    const before = await report();
    const organization = await admin("organization", "create", "--name", "Canary", "--plan", "starter");
    const given = ["--organization", organization.id, "--environment", "sandbox"];
    const key = await admin("key", "create", ...given, "--name", "canary");
    const { secret } = await admin("secret", "show", ...given);
    const stringData = { CANARY_API_KEY: key.value, CANARY_WEBHOOK_SECRETS: secret };
    await cluster.apply({ apiVersion: "v1", kind: "Secret", metadata: { name: "canary" }, stringData });
    const canary = ["--set", "canary.enabled=true", "--set", "canary.existingSecret=canary"];
    const upgrade = ["upgrade", ...releaseArguments("--set", "defaults.logLevel=debug", ...canary)];
    await cluster.helm(upgrade, { input: JSON.stringify(values) });
    await undisturbed(before);
  });

  test("the canary's changes are delivered to it, at a private address", async () => {
    const metricOf = async (name: string) => {
      const [pod] = await podsOf("canary");
      const text = await (await fetch(`http://${pod!.status.podIP}:9090/metrics`)).text();
      const line = text.split("\n").find((one) => one.startsWith(name));
      return line && Number(line.split(" ")[1]);
    };
    await eventually(async () => Number(await metricOf('canary_deliveries_total{result="valid"')) > 1, {
      timeoutMs: 60_000,
      everyMs: 500,
    });
    expect(await metricOf("canary_last_delivery_age_seconds")).toBeLessThan(60);
  });

  test("a drain ends no more than one pod of a service before there is room for another, and fails no request", async () => {
    const before = await report();
    const nodes = (await cluster.kubectl(["get", "nodes", "--output", "name"])).trim().split("\n");
    const drained = (await Promise.all(services.map(podsOf))).flat().map(({ metadata }) => metadata.name);
    let output = "";
    const only = ["--pod-selector", `app.kubernetes.io/instance=${RELEASE}`, "--delete-emptydir-data"];
    const draining = cluster.kubectl(["drain", ...nodes, ...only, "--timeout=300s"], {
      onOutput: (text) => {
        output += text;
      },
    });
    draining.catch(() => undefined);
    const oneEach = async () => {
      const { items } = await cluster.get<{ items: { status: { readyReplicas?: number } }[] }>([
        "deployments",
        ...services.map(named),
      ]);
      return items.every(({ status }) => status.readyReplicas === 1);
    };
    try {
      // All nodes are closed, so the replacements wait, and each disruption budget keeps the other pod.
      for (const name of services)
        await eventually(() => new RegExp(`evict.*${named(name)}-.*disruption budget`).test(output), {
          timeoutMs: 120_000,
        });
      await eventually(oneEach, { timeoutMs: 60_000, everyMs: 500 });
    } finally {
      await cluster.kubectl(["uncordon", ...nodes]);
    }
    await draining;
    await allReady();
    const now = (await Promise.all(services.map(podsOf))).flat().map(({ metadata }) => metadata.name);
    expect(now.filter((pod) => drained.includes(pod))).toEqual([]);
    await undisturbed(before);
  });

  // Without verification: its call may be done, so it can't be repeated on another pod. The client gets a 503.
  test.each([[["account", "entity", "monitor"]], [["gateway"]]])(
    "killing a pod of each of %j fails no request that may be repeated, and loses no event",
    async (names) => {
      const before = await report();
      await killPods(names);
      await undisturbed(before);
    },
  );

  test("a rollback fails no request, loses no event and removes the canary", async () => {
    const before = await report();
    await cluster.helm(["rollback", RELEASE, "1", "--wait", "--wait-for-jobs", "--timeout", "8m"]);
    await undisturbed(before);
    await eventually(async () => (await podsOf("canary")).length === 0, { everyMs: 500 });
  });

  test("the subscriber has received every event of the history, and no other", async () => {
    const seen = await eventually(async () => {
      const { received, history } = await report("history");
      const came = new Set(received.map(([id]) => id));
      return history.every(({ id }) => came.has(id)) ? { received, history } : undefined;
    });
    const known = new Set(seen.history.map(({ id }) => id));
    // Events that arrived after the history was read can't be in it.
    const unknown = seen.received.slice(0, seen.history.length).filter(([id]) => !known.has(id));
    expect(unknown).toEqual([]);
    expect(seen.history.length).toBeGreaterThan(5);
  });

  test("an uninstall leaves only the ended migration and test", async () => {
    await cluster.kubectl(["delete", "pod", "visitor", "--grace-period=1"]);
    await cluster.helm(["uninstall", RELEASE, "--wait", "--timeout", "5m"]);
    // Their pods may be gone: a drain removes ended pods too.
    const ended = new RegExp(`^(job\\.batch|pod)/${named("(migration|smoke)")}(-\\w+)?$`);
    const unexpected = async () => (await objectsLeft()).filter((name) => !ended.test(name));
    await eventually(async () => (await unexpected()).length === 0, { timeoutMs: 60_000, everyMs: 500 }).catch(
      () => undefined,
    );
    expect(await unexpected()).toEqual([]);
  });
});
