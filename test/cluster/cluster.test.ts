import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { eventually } from "@vvs/testing";
import { findBuilder } from "../../deploy/image/builder.ts";
import { run } from "../../deploy/image/run.ts";
import { projectRoot } from "../../deploy/local/services.ts";
import { topology } from "../../deploy/local/topology.ts";
import { FULL_NAME } from "../charts/support/render.ts";
import { clusterOf, importImage, installArguments, VISITOR_PORT, visitorObjects } from "./cluster.ts";
import { type FrontDoor, openFrontDoor, runEndToEnd } from "./end-to-end.ts";
import { whyNoCluster } from "./given.ts";
import { buildStoreImage } from "./store-image.ts";

const MEGABYTE = 1_000_000;
const RELEASE = "vv";
const BASE = process.env.NODE_IMAGE ?? "docker.io/library/node:26-bookworm-slim";
const builder = await findBuilder();
const whyNot = (await whyNoCluster()) ?? (builder ? undefined : "neither Docker nor buildah can be used");
const cluster = clusterOf(process.env.CLUSTER_NAMESPACE ?? "vendor-verification-test");
// Always the same tag, so that a run replaces what an earlier one left in the cluster.
const images = {
  product: "localhost/vendor-verification:cluster-test",
  // A cluster that pulls images takes the official ones.
  stores: process.env.CLUSTER_PULLS_IMAGES ? undefined : "localhost/vendor-verification-stores:cluster-test",
};
let door: FrontDoor;
const install = () => installArguments({ release: RELEASE, images, publicBaseUrl: door.url });

interface Report {
  answered: number;
  failures: object[];
  resent: object[];
  received: [string, number][];
  history: { id: string }[];
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

/** Removes the namespace, also one that an earlier run could not clean up. */
async function removeNamespace(): Promise<void> {
  await cluster.kubectl(["delete", "namespace", cluster.namespace, "--ignore-not-found", "--timeout=5m"]);
}

/** Ends one pod of a service, and waits until its replacement is ready. */
async function endPod(name: string, how: readonly string[]): Promise<void> {
  const selector = `app.kubernetes.io/component=${name}`;
  const { items } = await cluster.get<{ items: { metadata: { name: string } }[] }>(["pods", "--selector", selector]);
  await cluster.kubectl(["delete", "pod", items[0]!.metadata.name, "--wait=true", ...how]);
  await cluster.kubectl(["rollout", "status", `deployment/${FULL_NAME}-${name}`, "--timeout=180s"]);
}

(whyNot ? describe.skip : describe)(`on a cluster${whyNot ? ` (skipped: ${whyNot})` : ""}`, () => {
  beforeAll(async () => {
    const folder = mkdtempSync(join(tmpdir(), "vvs-cluster-"));
    try {
      const product = join(folder, "product.tar");
      await run(
        process.execPath,
        ["deploy/image/command.ts", "--tag", images.product, "--base", BASE, "--save", product],
        {
          cwd: projectRoot,
        },
      );
      await importImage(product);
      if (images.stores) {
        const stores = join(folder, "stores.tar");
        await buildStoreImage(builder!, BASE, images.stores);
        await builder!.save(images.stores, stores);
        await importImage(stores);
      }
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
    door = await openFrontDoor();
    await removeNamespace();
    const labels = { "pod-security.kubernetes.io/enforce": "restricted" };
    await cluster.apply({ apiVersion: "v1", kind: "Namespace", metadata: { name: cluster.namespace, labels } });
    await cluster.helm(["install", ...install()]);
  }, 900_000);

  afterAll(async () => {
    door?.close();
    // CLUSTER_KEEP keeps everything for inspection.
    if (process.env.CLUSTER_KEEP) return;
    await removeNamespace();
    for (const image of [images.product, images.stores ?? []].flat())
      await builder!.remove(image).catch(() => undefined);
  }, 400_000);

  test("the image adds less than 250 MB to its base", async () => {
    const added = (await builder!.size(images.product)) - (await builder!.size(BASE));
    expect(added).toBeGreaterThan(0);
    expect(added).toBeLessThan(250 * MEGABYTE);
  });

  test("helm test passes", async () => {
    await cluster.helm(["test", RELEASE, "--timeout", "3m"]);
  });

  test("the end-to-end tests pass on the cluster", () => runEndToEnd(cluster, door));

  test("a client verifies, and a change reaches its subscriber", async () => {
    const admin = async (...command: string[]) => {
      const shell = ["exec", `deploy/${FULL_NAME}-account`, "--", "/app/deploy/image/vvs", "admin"];
      return JSON.parse(await cluster.kubectl([...shell, ...command, "--json"]));
    };
    const plan = ["--plan", "enterprise", "--limit", "1000000"];
    const organization = await admin("organization", "create", "--name", "Visitor", ...plan);
    const named = ["--organization", organization.id, "--environment", "sandbox", "--name", "visitor"];
    const key = await admin("key", "create", ...named);
    const environment = { API_URL: `http://${FULL_NAME}-gateway`, API_KEY: key.value };
    await cluster.apply(...visitorObjects(images.product, environment));
    await cluster.kubectl(["wait", "--for=condition=Ready", "pod/visitor", "--timeout=120s"]);
    await undisturbed(await report());
  });

  test("an upgrade that replaces every pod fails no request and loses no event", async () => {
    const before = await report();
    await cluster.helm(["upgrade", ...install(), "--set", "defaults.logLevel=warn"]);
    await undisturbed(before);
  });

  test.each(Object.keys(topology))("ending a pod of %s fails no request and loses no event", async (name) => {
    const before = await report();
    await endPod(name, []);
    await undisturbed(before);
  });

  // Without verification: its call may be done, so it can't be repeated on another pod. The client gets a 503.
  test.each(["account", "entity", "monitor", "gateway"])(
    "killing a pod of %s fails no request that may be repeated, and loses no event",
    async (name) => {
      const before = await report();
      await endPod(name, ["--grace-period=0", "--force"]);
      await undisturbed(before);
    },
  );

  test("a rollback fails no request and loses no event", async () => {
    const before = await report();
    await cluster.helm(["rollback", RELEASE, "1", "--wait", "--wait-for-jobs", "--timeout", "8m"]);
    await undisturbed(before);
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

  test("an uninstall leaves only the key rings", async () => {
    await cluster.kubectl(["delete", "pod", "visitor", "--grace-period=1"]);
    await cluster.helm(["uninstall", RELEASE, "--wait", "--timeout", "5m"]);
    const kinds =
      "deployments,statefulsets,services,secrets,networkpolicies,horizontalpodautoscalers,poddisruptionbudgets";
    const left = await cluster.kubectl([
      "get",
      kinds,
      "--selector",
      `app.kubernetes.io/instance=${RELEASE}`,
      "--output",
      "name",
    ]);
    expect(left.trim()).toBe(`secret/${FULL_NAME}-secrets`);
  });
});
