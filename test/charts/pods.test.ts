import { beforeAll, describe, expect, test } from "@jest/globals";
import { topology } from "../../deploy/local/topology.ts";
import { violations } from "./support/pod-security.ts";
import { FULL_NAME, podsOf, type Rendered, render, whyNot } from "./support/render.ts";

const services = Object.keys(topology);

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
    expect(production.part("Deployment", "entity")!.spec.replicas).toBe(2);
    expect(production.part("Deployment", "gateway")!.spec.replicas).toBeUndefined();
    expect(production.part("HorizontalPodAutoscaler", "gateway")).toBeDefined();
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
      ["eu.verification.sandbox", "eu.sandbox.verification.requested"],
      ["eu.verification.tin_match.sandbox", "eu.sandbox.verification.requested.tin_match"],
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

  test("an image is named by its digest if one is configured", async () => {
    const digest = `sha256:${"a".repeat(64)}`;
    const pinned = await render({ set: [`image.digest=${digest}`, "image.repository=registry.example.com/vv"] });
    for (const { spec } of podsOf(pinned)) {
      for (const { image } of spec.containers) expect(image).toBe(`registry.example.com/vv@${digest}`);
    }
  });
});
