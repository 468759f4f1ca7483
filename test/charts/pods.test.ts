import { beforeAll, describe, expect, test } from "@jest/globals";
import { topology } from "../../deploy/local/topology.ts";
import { violations } from "./support/pod-security.ts";
import { FULL_NAME, podsOf, type Rendered, render, whyNot } from "./support/render.ts";

const services = Object.keys(topology);

/** Returns the pod of a service, of the migration or of helm test. */
function podNamed(rendered: Rendered, part: string) {
  const pod = podsOf(rendered).find(({ labels }) => labels["app.kubernetes.io/component"] === part);
  if (!pod) throw new Error(`there is no pod of ${part}`);
  return pod;
}

/** Returns the volume of the Secret's keys. */
const secretsOf = (volumes: readonly { name: string; secret?: { items: { key: string }[] } }[]) =>
  volumes.find(({ name }) => name === "secrets")?.secret;

const variablesOf = ({ env }: { env: { name: string; value?: string }[] }): Record<string, string | undefined> =>
  Object.fromEntries(env.map(({ name, value }) => [name, value]));

/** Renders the chart with a CA and a client certificate for each store. */
async function renderedWithCertificates() {
  const keysOf = (store: string) => ({ CA: `${store}-ca`, CERT: `${store}-cert`, KEY: `${store}-key` });
  const tls = (store: string) => {
    const { CA, CERT, KEY } = keysOf(store);
    return { tls: { caSecretKey: CA, certSecretKey: CERT, keySecretKey: KEY } };
  };
  const values = { mongodb: tls("mongodb"), kafka: tls("kafka"), redis: tls("redis") };
  return { rendered: await render({ values }), keysOf };
}

(whyNot ? describe.skip : describe)(`pods${whyNot ? ` (skipped: ${whyNot})` : ""}`, () => {
  let dev: Rendered;
  let production: Rendered;
  beforeAll(async () => {
    [dev, production] = await Promise.all([render({ files: ["values-dev.yaml"] }), render()]);
  });

  test("every pod passes Pod Security's restricted profile, has a read-only root, resource requests and a memory limit", () => {
    for (const rendered of [dev, production]) {
      expect(podsOf(rendered).length).toBeGreaterThanOrEqual(services.length + 2);
      for (const { name, spec } of podsOf(rendered)) {
        expect({ name, violations: violations(spec) }).toEqual({ name, violations: [] });
        for (const container of [...(spec.initContainers ?? []), ...spec.containers]) {
          expect(container.securityContext.readOnlyRootFilesystem).toBe(true);
          expect(Object.keys(container.resources.requests).toSorted()).toEqual(["cpu", "ephemeral-storage", "memory"]);
          expect(container.resources.limits.memory).toBeDefined();
        }
        expect(spec.automountServiceAccountToken).toBe(false);
      }
    }
  });

  test("each service has a service account, a disruption budget, probes and, if it is called, a Service", () => {
    for (const name of services) {
      const { rpcPort, httpPort } = topology[name]!;
      const { spec } = production.part("Deployment", name)!;
      expect(spec.template.spec.serviceAccountName).toBe(`${FULL_NAME}-${name}`);
      expect(production.part("ServiceAccount", name)).toBeDefined();
      expect(production.part("PodDisruptionBudget", name)!.spec.selector.matchLabels).toEqual(
        spec.selector.matchLabels,
      );
      const service = production.part("Service", name);
      expect(service === undefined).toBe(rpcPort === undefined && httpPort === undefined);
      if (rpcPort)
        expect(service!.spec).toMatchObject({ clusterIP: "None", ports: [{ port: rpcPort, targetPort: "grpc" }] });
      const [container] = spec.template.spec.containers;
      expect(container.args).toEqual([name]);
      for (const probe of ["startupProbe", "livenessProbe", "readinessProbe"]) {
        expect(container[probe].httpGet.port).toBe("admin");
      }
    }
  });

  test("a pod has only the secrets of its service, as files", () => {
    for (const name of services) {
      const { secrets, stores } = topology[name]!;
      const own = new Set<string>(secrets);
      if (stores.includes("mongodb")) own.add("MONGODB_URI");
      if (stores.includes("redis")) own.add("REDIS_URL");
      const { spec } = production.part("Deployment", name)!.spec.template;
      const volume = spec.volumes.find((one: { name: string }) => one.name === "secrets");
      expect(new Set(volume?.secret.items.map(({ key }: { key: string }) => key) ?? [])).toEqual(own);
      const [{ env, envFrom }] = spec.containers;
      const fromFiles = env.filter((one: { name: string }) => one.name.endsWith("_FILE"));
      expect(new Set(fromFiles.map((one: { name: string }) => one.name.slice(0, -"_FILE".length)))).toEqual(own);
      expect(envFrom).toEqual([{ configMapRef: { name: `${FULL_NAME}-${name}` } }]);
      expect(env.some((one: { valueFrom?: object }) => one.valueFrom && "secretKeyRef" in one.valueFrom)).toBe(false);
    }
  });

  test("a service has the addresses of those that it calls, with names from their certificates", () => {
    for (const name of services) {
      const { data } = production.part("ConfigMap", name)!;
      const addresses = Object.keys(data).filter((variable) => variable.endsWith("_ADDRESS"));
      const wanted = topology[name]!.calls.map((callee) => topology[callee]!.addressVariable!);
      expect(addresses.toSorted()).toEqual(wanted.toSorted());
      for (const callee of topology[name]!.calls) {
        const { addressVariable, rpcPort } = topology[callee]!;
        expect(data[addressVariable!]).toBe(`${FULL_NAME}-${callee}.vendors.svc:${rpcPort}`);
      }
    }
  });

  test("minAvailable replaces the default maxUnavailable of a PodDisruptionBudget, because the cluster refuses both", async () => {
    const { part } = await render({ set: ["services.gateway.podDisruptionBudget.minAvailable=0"] });
    const specOf = (name: string) => part("PodDisruptionBudget", name)!.spec;
    expect(specOf("gateway")).toMatchObject({ minAvailable: 0 });
    expect(specOf("gateway")).not.toHaveProperty("maxUnavailable");
    expect(specOf("entity")).toMatchObject({ maxUnavailable: 1 });
  });

  test("a terminating pod has more time than its service needs to finish", async () => {
    const slow = await render({ set: ["services.verification.finishSeconds=90", "defaults.preStopSeconds=7"] });
    for (const rendered of [production, slow])
      for (const name of services) {
        const { spec } = rendered.part("Deployment", name)!.spec.template;
        const { DRAIN_SECONDS, FINISH_SECONDS } = rendered.part("ConfigMap", name)!.data;
        const preStop = spec.containers[0].lifecycle.preStop.sleep.seconds;
        expect(spec.terminationGracePeriodSeconds).toBeGreaterThan(
          preStop + Number(DRAIN_SECONDS) + Number(FINISH_SECONDS),
        );
      }
    expect(slow.part("ConfigMap", "verification")!.data.FINISH_SECONDS).toBe("90");
  });

  test("a changed configuration replaces only the pods of its service", async () => {
    const changed = await render({ set: ["services.monitor.env.SCHEDULE_POLL_MS=500"] });
    const checksum = (rendered: Rendered, name: string) =>
      rendered.part("Deployment", name)!.spec.template.metadata.annotations["checksum/config"];
    for (const name of services) {
      expect(checksum(changed, name) === checksum(production, name)).toBe(name !== "monitor");
    }
    expect(changed.part("ConfigMap", "monitor")!.data.SCHEDULE_POLL_MS).toBe("500");
  });

  test("a service's own value overrides the default, also 0, false and an empty text", async () => {
    const { part } = await render({
      values: {
        defaults: { autoscaling: { enabled: true, maxReplicas: 5 }, existingSecret: "shared", env: { A: "a", B: "b" } },
        services: {
          "webhook-dispatcher": { replicas: 0, autoscaling: { enabled: false } },
          monitor: { existingSecret: "", env: { B: "" } },
        },
      },
    });
    expect(part("HorizontalPodAutoscaler", "webhook-dispatcher")).toBeUndefined();
    expect(part("Deployment", "webhook-dispatcher")!.spec.replicas).toBe(0);
    const secretOf = (name: string) =>
      part("Deployment", name)!.spec.template.spec.volumes.find((one: { name: string }) => one.name === "secrets")
        .secret.secretName;
    expect([secretOf("monitor"), secretOf("entity")]).toEqual(["vendor-verification", "shared"]);
    expect(part("ConfigMap", "monitor")!.data).toMatchObject({ A: "a", B: "" });
    expect(part("HorizontalPodAutoscaler", "monitor")!.spec.maxReplicas).toBe(5);
  });

  test("no common Secret is needed where each part has its own", async () => {
    const { part } = await render({
      set: ["secrets.existingSecret="],
      values: { defaults: { existingSecret: "own" }, migration: { existingSecret: "migrator" } },
    });
    expect(part("Deployment", "entity")!.spec.template.spec.volumes).toContainEqual(
      expect.objectContaining({ secret: expect.objectContaining({ secretName: "own" }) }),
    );
  });

  test("an autoscaler, if there is one, sets the number of replicas", async () => {
    const scaled = await render({
      set: ["defaults.autoscaling.enabled=true", "defaults.keda.enabled=true", "kafka.topics.partitions=6"],
    });
    for (const name of services) {
      const isConsumer = topology[name]!.consumes.length > 0;
      expect(scaled.part("Deployment", name)!.spec.replicas).toBeUndefined();
      expect(scaled.part("HorizontalPodAutoscaler", name) === undefined).toBe(isConsumer);
      expect(scaled.part("ScaledObject", name) === undefined).toBe(!isConsumer);
      if (isConsumer) expect(scaled.part("ScaledObject", name)!.spec.maxReplicaCount).toBeLessThanOrEqual(6);
    }
    expect(production.part("Deployment", "monitor")!.spec.replicas).toBe(2);
    for (const name of ["gateway", "entity", "verification"]) {
      expect(production.part("Deployment", name)!.spec.replicas).toBeUndefined();
      expect(production.part("HorizontalPodAutoscaler", name)!.spec.metrics).toEqual([
        { type: "Resource", resource: { name: "cpu", target: { type: "AverageValue", averageValue: "700m" } } },
      ]);
    }
  });

  test("an autoscaler can go by a percentage of the request, as before, and by further metrics", async () => {
    const metric = {
      type: "Pods",
      pods: { metric: { name: "x" }, target: { type: "AverageValue", averageValue: "1" } },
    };
    const { part } = await render({
      values: { services: { gateway: { autoscaling: { targetCPUUtilizationPercentage: 60, metrics: [metric] } } } },
    });
    expect(part("HorizontalPodAutoscaler", "gateway")!.spec.metrics).toEqual([
      { type: "Resource", resource: { name: "cpu", target: { type: "Utilization", averageUtilization: 60 } } },
      metric,
    ]);
  });

  test("what every pod may have reaches those of services, of the migration and of helm test", async () => {
    const own = {
      nodeSelector: { pool: "vendors" },
      tolerations: [{ key: "dedicated", operator: "Exists" }],
      affinity: { nodeAffinity: {} },
      priorityClassName: "high",
      podLabels: { team: "vendors" },
      podAnnotations: { note: "all" },
      serviceAccount: { name: "shared" },
      env: { HTTPS_PROXY: "http://proxy:3128", LARGE: 10_000_000 },
      extraEnv: [{ name: "NODE", valueFrom: { fieldRef: { fieldPath: "spec.nodeName" } } }],
      extraVolumes: [{ name: "more", emptyDir: {} }],
      extraVolumeMounts: [{ name: "more", mountPath: "/more" }],
      extraContainers: [{ name: "beside", image: "beside" }],
      extraInitContainers: [{ name: "before", image: "before" }],
    };
    const rendered = await render({ values: { defaults: own } });
    expect(rendered.objects.filter(({ kind }) => kind === "ServiceAccount")).toEqual([]);
    for (const name of [...services, "migration", "smoke"]) {
      const { labels, annotations, spec } = podNamed(rendered, name);
      expect({ name, labels }).toMatchObject({ labels: own.podLabels });
      expect({ name, annotations }).toMatchObject({ annotations: own.podAnnotations });
      const { nodeSelector, tolerations, affinity, priorityClassName } = own;
      expect(spec).toMatchObject({
        nodeSelector,
        tolerations,
        affinity,
        priorityClassName,
        serviceAccountName: "shared",
      });
      expect(spec.volumes).toContainEqual(own.extraVolumes[0]);
      expect(spec.initContainers).toEqual(own.extraInitContainers);
      const [container, beside] = spec.containers;
      expect(beside).toEqual(own.extraContainers[0]);
      expect(container.volumeMounts).toContainEqual(own.extraVolumeMounts[0]);
      expect(container.env).toContainEqual(own.extraEnv[0]);
      const variables = rendered.part("ConfigMap", name)?.data ?? variablesOf(container);
      expect({ name, variables }).toMatchObject({ variables: { HTTPS_PROXY: own.env.HTTPS_PROXY, LARGE: "10000000" } });
    }
  });

  test("the migration and helm test have their own values, and those of services do not reach them", async () => {
    const rendered = await render({
      values: {
        defaults: { nodeSelector: { pool: "a" }, existingSecret: "shared" },
        services: { gateway: { nodeSelector: { pool: "b" } } },
        migration: {
          nodeSelector: { pool: "jobs" },
          existingSecret: "migrator",
          resources: { limits: { memory: "1Gi" } },
        },
        smoke: { nodeSelector: { pool: "tests" } },
      },
    });
    const selector = (name: string) => podNamed(rendered, name).spec.nodeSelector.pool;
    expect(["gateway", "entity", "migration", "smoke"].map(selector)).toEqual(["b", "a", "jobs", "tests"]);
    const { volumes, containers } = podNamed(rendered, "migration").spec;
    expect(secretsOf(volumes)).toMatchObject({ secretName: "migrator" });
    expect(containers[0].resources).toMatchObject({ limits: { memory: "1Gi" }, requests: { memory: "128Mi" } });
    expect(secretsOf(podNamed(rendered, "smoke").spec.volumes)).toBeUndefined();
  });

  test("every pod that uses a store has its certificates as files, and no other pod has", async () => {
    const { rendered, keysOf } = await renderedWithCertificates();
    const clients = Object.fromEntries(services.map((name) => [name, topology[name]!.stores as readonly string[]]));
    const all: Record<string, readonly string[]> = { ...clients, migration: ["mongodb", "kafka"], smoke: [] };
    for (const [name, stores] of Object.entries(all)) {
      const { volumes, containers } = podNamed(rendered, name).spec;
      const mounted: string[] = secretsOf(volumes)?.items.map(({ key }: { key: string }) => key) ?? [];
      const variables = rendered.part("ConfigMap", name)?.data ?? variablesOf(containers[0]);
      for (const store of ["mongodb", "kafka", "redis"] as const) {
        const uses = stores.includes(store);
        for (const [part, key] of Object.entries(keysOf(store))) {
          expect({ name, key, mounted: mounted.includes(key) }).toEqual({ name, key, mounted: uses });
          const variable = `${store.toUpperCase()}_TLS_${part}_FILE`;
          expect({ name, [variable]: variables[variable] }).toEqual({
            name,
            [variable]: uses ? `/etc/vvs/secrets/${key}` : undefined,
          });
        }
      }
    }
  });

  test("Sentinels, pool sizes and tokens for Kafka reach the pods that need them", async () => {
    const rendered = await render({
      set: [
        "mongodb.maxPoolSize=20",
        "services.entity.env.MONGODB_MAX_POOL_SIZE=30",
        "redis.sentinels={s-0:26379,s-1:26379}",
      ],
      values: { kafka: { sasl: { mechanism: "oauthbearer", tokenPath: "/token/value" } } },
    });
    const of = (name: string) => rendered.part("ConfigMap", name)!.data;
    expect([of("monitor"), of("entity")].map((data) => data.MONGODB_MAX_POOL_SIZE)).toEqual(["20", "30"]);
    expect(of("gateway").REDIS_SENTINELS).toBe("s-0:26379,s-1:26379");
    const migration = podNamed(rendered, "migration").spec;
    for (const data of [of("change-detector"), variablesOf(migration.containers[0])]) {
      expect(data).toMatchObject({ KAFKA_SASL_MECHANISM: "oauthbearer", KAFKA_SASL_TOKEN_PATH: "/token/value" });
    }
    expect(JSON.stringify(secretsOf(migration.volumes))).not.toContain("KAFKA_SASL_PASSWORD");
  });

  test("probes, the way in which pods are replaced and their spread are values", async () => {
    const { part } = await render({
      values: {
        defaults: { probes: { readiness: { failureThreshold: 9 } }, spread: { zones: "DoNotSchedule" } },
        services: { monitor: { strategy: { type: "Recreate", rollingUpdate: null } } },
      },
    });
    const { strategy, template } = part("Deployment", "entity")!.spec;
    expect(strategy).toEqual({ type: "RollingUpdate", rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } });
    expect(part("Deployment", "monitor")!.spec.strategy.type).toBe("Recreate");
    const { readinessProbe, livenessProbe } = template.spec.containers[0];
    expect(readinessProbe).toMatchObject({ httpGet: { path: "/readyz" }, failureThreshold: 9, periodSeconds: 2 });
    expect(livenessProbe).toMatchObject({ httpGet: { path: "/livez" }, failureThreshold: 6 });
    const spread = template.spec.topologySpreadConstraints as { topologyKey: string; whenUnsatisfiable: string }[];
    const when = Object.fromEntries(spread.map((one) => [one.topologyKey, one.whenUnsatisfiable]));
    expect(when).toEqual({
      "topology.kubernetes.io/zone": "DoNotSchedule",
      "kubernetes.io/hostname": "ScheduleAnyway",
    });
  });

  test("entity has room for a million names and the next index of them, and asks for it", () => {
    const { requests, limits } = podNamed(production, "entity").spec.containers[0].resources;
    expect([requests.memory, limits.memory]).toEqual(["1Gi", "2Gi"]);
  });

  test("autoscaling reads the lag of every group and topic that a service consumes", async () => {
    const { part } = await render({ set: ["defaults.keda.enabled=true", "kafka.topicPrefix=eu."] });
    const readBy = (service: string) =>
      part("ScaledObject", service)!
        .spec.triggers.filter(({ type }: { type: string }) => type === "kafka")
        .map(({ metadata }: { metadata: Record<string, string> }) => [metadata.consumerGroup, metadata.topic]);
    expect(readBy("verification")).toEqual([
      ["eu.verification.live", "eu.live.verification.requested"],
      ["eu.verification.tin_match.live", "eu.live.verification.requested.tin_match"],
      ["eu.verification.monitors.live", "eu.live.monitor.state_changed"],
      ["eu.verification.sandbox", "eu.sandbox.verification.requested"],
      ["eu.verification.tin_match.sandbox", "eu.sandbox.verification.requested.tin_match"],
      ["eu.verification.monitors.sandbox", "eu.sandbox.monitor.state_changed"],
    ]);
    expect(readBy("monitor")).toEqual([
      ["eu.monitor.live", "eu.live.verification.completed"],
      ["eu.monitor.live", "eu.live.monitor.change_detected"],
      ["eu.monitor.live", "eu.live.registry.changed"],
      ["eu.monitor.sandbox", "eu.sandbox.verification.completed"],
      ["eu.monitor.sandbox", "eu.sandbox.monitor.change_detected"],
      ["eu.monitor.sandbox", "eu.sandbox.registry.changed"],
    ]);
  });

  test.each([["enabled=true"], ["caSecretKey=KAFKA_CA"], ["certSecretKey=KAFKA_CERT"]])(
    "autoscaling reads the lag by TLS where the services use TLS: with kafka.tls.%s",
    async (tls) => {
      const kafkaTriggers = async (set: readonly string[]) => {
        const { part } = await render({ set: ["defaults.keda.enabled=true", ...set] });
        const { triggers } = part("ScaledObject", "monitor")!.spec;
        return triggers.filter(({ type }: { type: string }) => type === "kafka");
      };
      for (const { metadata } of await kafkaTriggers([`kafka.tls.${tls}`])) expect(metadata.tls).toBe("enable");
      for (const { metadata } of await kafkaTriggers([])) expect(metadata).not.toHaveProperty("tls");
    },
  );

  test("an image without a digest is refused, unless tags are allowed", async () => {
    await expect(render({ set: ["image.allowTag=false", "image.tag=1.2.3"] })).rejects.toThrow("Set image.digest");
    const trial = await render({ set: ["image.tag=1.2.3"] });
    for (const { spec } of podsOf(trial)) {
      for (const { image } of spec.containers) expect(image).toBe("vendor-verification:1.2.3");
    }
  });

  test("an image is named by its digest if one is configured", async () => {
    const digest = `sha256:${"a".repeat(64)}`;
    const pinned = await render({ set: [`image.digest=${digest}`, "image.repository=registry.example.com/vv"] });
    for (const { spec } of podsOf(pinned)) {
      for (const { image } of spec.containers) expect(image).toBe(`registry.example.com/vv@${digest}`);
    }
  });
});
