import { beforeAll, describe, expect, test } from "@jest/globals";
import { isPublicAddress } from "@vvs/egress";
import { consumerGroups } from "@vvs/kafka";
import { topology } from "../../deploy/local/topology.ts";
import { allows, podOf, strangerPod } from "./support/network.ts";
import { picture } from "./support/picture.ts";
import { type KubernetesObject, objectsOf, type Rendered, render, whyNot } from "./support/render.ts";

const { calls, consumes, owners } = picture();
const services = Object.keys(topology);
const STORE_PORTS = { mongodb: 27017, kafka: 9092, redis: 6379 } as const;
const PUBLIC = ["104.16.0.1", "2606:4700::1111"];

test("the topology of the deployments matches docs/architecture.md", () => {
  const listed = Object.entries(topology).flatMap(([from, { calls }]) => calls.map((to) => `${from}>${to}`));
  expect(new Set(listed)).toEqual(calls);
  const consumed = Object.entries(topology).flatMap(([name, { consumes }]) =>
    consumes.map((topic) => `${name}<${topic}`),
  );
  expect(new Set(consumed)).toEqual(consumes);
  for (const store of ["mongodb", "kafka", "redis"] as const) {
    const listing = services.filter((name) => topology[name]!.stores.includes(store));
    expect({ store, owners: new Set(listing) }).toEqual({ store, owners: owners[store] });
  }
});

test("the lag of every consumer group in services.json is observed", () => {
  const listed = Object.entries(topology).flatMap(([name, { consumes, groups }]) =>
    consumes.map((topic) => `${groups[topic] ?? name}<${topic}`),
  );
  const observed = Object.entries(consumerGroups).flatMap(([group, topics]) =>
    topics.map((topic) => `${group}<${topic}`),
  );
  expect(new Set(observed)).toEqual(new Set(listed));
});

(whyNot ? describe.skip : describe)(`network policies${whyNot ? ` (skipped: ${whyNot})` : ""}`, () => {
  let dev: Rendered;
  let production: Rendered;
  beforeAll(async () => {
    [dev, production] = await Promise.all([render({ files: ["values-dev.yaml"] }), render()]);
  });

  test("each call in docs/architecture.md is allowed, and no other pair of services can connect", () => {
    for (const from of services)
      for (const to of services) {
        const { rpcPort, httpPort } = topology[to]!;
        if (rpcPort !== undefined) {
          const allowed = allows(production, podOf(production, from), podOf(production, to), rpcPort);
          expect({ from, to, allowed }).toEqual({ from, to, allowed: calls.has(`${from}>${to}`) });
        }
        for (const port of [httpPort ?? 8080, 9090, 9229, 22]) {
          const allowed = allows(production, podOf(production, from), podOf(production, to), port);
          expect({ from, to, port, allowed }).toEqual({ from, to, port, allowed: false });
        }
      }
  });

  test.each(["mongodb", "kafka", "redis"] as const)("only its owners reach %s", (store) => {
    for (const from of services) {
      const allowed = owners[store].has(from);
      const inside = allows(dev, podOf(dev, from), podOf(dev, store), STORE_PORTS[store]);
      expect({ from, inside }).toEqual({ from, inside: allowed });
      const outside = allows(production, podOf(production, from), { address: "10.20.0.4" }, STORE_PORTS[store]);
      expect({ from, outside }).toEqual({ from, outside: allowed });
    }
    expect(allows(dev, strangerPod(), podOf(dev, store), STORE_PORTS[store])).toBe(false);
    expect(allows(dev, podOf(dev, "smoke"), podOf(dev, store), STORE_PORTS[store])).toBe(false);
    expect(allows(dev, podOf(dev, "migration"), podOf(dev, store), STORE_PORTS[store])).toBe(store !== "redis");
  });

  test("stores with a configured network are reached only there", async () => {
    const narrow = await render({
      values: { networkPolicy: { mongodb: { peers: [{ ipBlock: { cidr: "10.20.0.0/24" } }] } } },
    });
    const entity = podOf(narrow, "entity");
    expect(allows(narrow, entity, { address: "10.20.0.4" }, 27017)).toBe(true);
    expect(allows(narrow, entity, { address: "10.21.0.4" }, 27017)).toBe(false);
  });

  test.each([
    ["Redis with TLS in Memorystore", "gateway", 6378],
    ["Redis with TLS in Azure", "gateway", 6380],
    ["a Sentinel", "gateway", 26379],
    ["Kafka with SCRAM in MSK", "monitor", 9096],
  ])("%s, at a private address, is reached without a value for its port", (_what, from, port) => {
    expect(allows(production, podOf(production, from), { address: "10.20.0.4" }, port)).toBe(true);
  });

  test("only services that call providers or identity providers, deliver webhooks or send emails reach public addresses, and no private ones", () => {
    for (const name of services) {
      const allowed = PUBLIC.map((address) => allows(production, podOf(production, name), { address }, 443));
      const wanted = topology[name]!.internet;
      expect({ name, allowed }).toEqual({ name, allowed: PUBLIC.map(() => wanted) });
    }
    const dispatcher = podOf(production, "webhook-dispatcher");
    const addresses = [
      ...PUBLIC,
      ...[
        "10.0.0.1",
        "172.16.5.5",
        "192.168.1.1",
        "127.0.0.1",
        "169.254.169.254",
        "100.64.0.1",
        "0.0.0.0",
        "224.0.0.1",
      ],
      ...[
        "192.0.2.1",
        "198.18.0.1",
        "203.0.113.9",
        "255.255.255.255",
        "172.32.0.1",
        "9.255.255.255",
        "223.255.255.255",
        "168.63.129.16",
        "168.63.129.17",
      ],
      ...[
        "::1",
        "fe80::1",
        "fd00::1",
        "fc00::1",
        "ff02::1",
        "64:ff9b::a00:1",
        "2001:db8::1",
        "2002:a00:1::",
        "3fff::1",
      ],
      ...["2001::1", "2001:4860:4860::8888", "2a00:1450:4001::1"],
    ];
    for (const address of addresses) {
      const allowed = allows(production, dispatcher, { address }, 443);
      expect({ address, allowed }).toEqual({ address, allowed: isPublicAddress(address) });
    }
  });

  test("the dispatcher can't reach services that it does not call, nor the cluster's own", () => {
    const dispatcher = podOf(production, "webhook-dispatcher");
    expect(allows(production, dispatcher, { address: "10.96.0.1" }, 443)).toBe(false);
    expect(allows(production, dispatcher, podOf(production, "gateway"), 8080)).toBe(false);
    expect(allows(production, dispatcher, strangerPod(), 443)).toBe(false);
  });

  test("clients reach the gateway and the dashboard, and nothing behind them", () => {
    for (const name of services) {
      const { httpPort, rpcPort } = topology[name]!;
      if (httpPort) expect(allows(production, strangerPod(), podOf(production, name), httpPort)).toBe(true);
      if (rpcPort) expect(allows(production, strangerPod(), podOf(production, name), rpcPort)).toBe(false);
    }
  });

  test("if clients are configured, no other pod outside the release reaches the gateway", async () => {
    const peer = { namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": "elsewhere" } } };
    const configured = await render({
      values: { networkPolicy: { clients: [{ ...peer, podSelector: { matchLabels: { app: "ingress" } } }] } },
    });
    const gateway = podOf(configured, "gateway");
    expect(allows(configured, strangerPod({ app: "ingress" }), gateway, 8080)).toBe(true);
    expect(allows(configured, strangerPod(), gateway, 8080)).toBe(false);
    expect(allows(configured, podOf(configured, "smoke"), gateway, 8080)).toBe(true);
  });

  test("only the configured pods read metrics", async () => {
    const configured = await render({
      values: {
        networkPolicy: { monitoring: [{ namespaceSelector: {}, podSelector: { matchLabels: { app: "prometheus" } } }] },
      },
    });
    for (const name of services) {
      expect(allows(configured, strangerPod({ app: "prometheus" }), podOf(configured, name), 9090)).toBe(true);
      expect(allows(configured, strangerPod(), podOf(configured, name), 9090)).toBe(false);
    }
  });

  test("every pod can query CoreDNS, NodeLocal DNSCache and Cloud DNS, and no other pod or address", () => {
    const system = (app: string) => ({ pod: { "k8s-app": app }, namespace: "kube-system" });
    const dns = [
      system("kube-dns"),
      system("node-local-dns"),
      { address: "169.254.20.10" },
      { address: "169.254.169.254" },
    ];
    for (const name of [...services, "migration", "smoke"]) {
      const pod = podOf(production, name);
      for (const server of dns) {
        for (const protocol of ["UDP", "TCP"]) {
          expect({ name, server, allowed: allows(production, pod, server, 53, protocol) }).toMatchObject({
            allowed: true,
          });
        }
        expect({ name, server, allowed: allows(production, pod, server, 80) }).toMatchObject({ allowed: false });
      }
      expect(allows(production, pod, strangerPod({ "k8s-app": "kube-dns" }), 53, "UDP")).toBe(false);
      if (!topology[name]?.internet) expect(allows(production, pod, { address: "1.1.1.1" }, 53, "UDP")).toBe(false);
    }
  });

  test("a migration that is a hook uses the new peers while only the installed policies, or those of a closed namespace, exist", async () => {
    const reaching = (network: string) => {
      const at = { peers: [{ ipBlock: { cidr: `${network}.0/24` } }] };
      return render({ values: { networkPolicy: { mongodb: at, kafka: at, dns: at } } });
    };
    const [wrong, corrected] = await Promise.all([reaching("10.20.0"), reaching("10.30.0")]);
    const isHook = ({ metadata }: KubernetesObject) => metadata.annotations?.["helm.sh/hook"] !== undefined;
    const closed = { podSelector: {}, policyTypes: ["Ingress", "Egress"] };
    const ofNamespace = { kind: "NetworkPolicy", apiVersion: "", metadata: { name: "closed" }, spec: closed };
    for (const existing of [wrong.objects.filter((object) => !isHook(object)), [ofNamespace]]) {
      const during = objectsOf([...existing, ...corrected.objects.filter(isHook)]);
      const reached = (address: string) =>
        [27017, 9092, 53].map((port) => allows(during, podOf(corrected, "migration"), { address }, port));
      expect(reached("10.30.0.4")).toEqual([true, true, true]);
      expect(reached("10.40.0.4")).toEqual([false, false, false]);
    }
  });

  test.each([
    ["eks", "169.254.170.23", 80],
    ["gke", "169.254.169.254", 80],
    ["gke", "169.254.169.252", 988],
  ])("only a pod with the cloud identity %s reaches %s:%i", async (cloud, address, port) => {
    const values = { services: { verification: { cloudIdentity: cloud } }, migration: { cloudIdentity: cloud } };
    const configured = await render({ values });
    for (const name of [...services, "migration", "smoke"]) {
      const allowed = allows(configured, podOf(configured, name), { address }, port);
      expect({ name, allowed }).toEqual({ name, allowed: ["verification", "migration"].includes(name) });
      expect(allows(production, podOf(production, name), { address }, port)).toBe(false);
    }
  });

  test("further egress reaches each pod that it names, also of the migration and of helm test", async () => {
    const rules = (address: string) => [{ to: [{ ipBlock: { cidr: `${address}/32` } }], ports: [{ port: 443 }] }];
    const named = ["gateway", "migration", "smoke"];
    const extraEgress = Object.fromEntries(named.map((name) => [name, rules("10.99.0.1")]));
    const configured = await render({ values: { networkPolicy: { extraEgress } } });
    for (const name of [...services, "migration", "smoke"]) {
      const allowed = allows(configured, podOf(configured, name), { address: "10.99.0.1" }, 443);
      expect({ name, allowed }).toEqual({ name, allowed: named.includes(name) });
    }
  });

  test("no rule is open to all addresses by default, and stores with public addresses need peers of their own", async () => {
    for (const policy of production.ofKind("NetworkPolicy")) {
      for (const rule of policy.spec.egress ?? []) expect(rule.to?.length).toBeGreaterThan(0);
    }
    const detector = podOf(production, "change-detector");
    expect(allows(production, detector, { address: "52.0.0.1" }, 27017)).toBe(false);
    expect(allows(production, detector, strangerPod(), 27017)).toBe(true);
    const open = await render({ set: ["networkPolicy.mongodb.peers=null"] });
    expect(allows(open, podOf(open, "change-detector"), { address: "52.0.0.1" }, 27017)).toBe(true);
  });

  test("services can send telemetry only if an endpoint is configured", async () => {
    const configured = await render({ set: ["telemetry.otlp.endpoint=http://collector.observability:4318"] });
    for (const name of services) {
      expect(allows(configured, podOf(configured, name), strangerPod(), 4318)).toBe(true);
      expect(allows(production, podOf(production, name), strangerPod(), 4318)).toBe(false);
    }
  });
});
