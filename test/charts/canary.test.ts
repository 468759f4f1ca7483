import { describe, expect, test } from "@jest/globals";
import { allows, podOf, strangerPod } from "./support/network.ts";
import { FULL_NAME, podsOf, render, whyNot } from "./support/render.ts";

const HOST = `${FULL_NAME}-canary.vendors.svc`;
const enabled = () => render({ set: ["canary.enabled=true", "monitoring.prometheusRule.enabled=true"] });
const alertsOf = ({ objects }: Awaited<ReturnType<typeof render>>): string[] =>
  objects
    .find(({ kind }) => kind === "PrometheusRule")!
    .spec.groups.flatMap(({ rules }: { rules: { alert?: string }[] }) => rules.map(({ alert }) => alert));

(whyNot ? describe.skip : describe)(`canary${whyNot ? ` (skipped: ${whyNot})` : ""}`, () => {
  test("exists with its alert only where it is enabled", async () => {
    const off = await render({ set: ["monitoring.prometheusRule.enabled=true"] });
    expect(off.part("Deployment", "canary")).toBeUndefined();
    expect(alertsOf(off)).not.toContain("CanarySilent");
    expect(alertsOf(await enabled())).toContain("CanarySilent");
  });

  test("receives webhooks under the name that the operator admits for its organization", async () => {
    const on = await enabled();
    const [container] = on.part("Deployment", "canary")!.spec.template.spec.containers;
    expect(container.args).toEqual(["canary"]);
    expect(container.env).toContainEqual({ name: "CANARY_WEBHOOK_URL", value: `http://${HOST}/` });
    expect(on.part("Service", "canary")!.spec.ports).toMatchObject([{ port: 80, targetPort: "http" }]);
    expect(podsOf(on).find(({ name }) => name.endsWith("-canary"))!.labels).toMatchObject({
      "vendor-verification/metrics": "true",
    });
  });

  test("is reached only by the dispatcher and Prometheus, and reaches only the gateway", async () => {
    const on = await enabled();
    const canary = podOf(on, "canary");
    for (const name of ["webhook-dispatcher", "gateway", "entity", "dashboard", "verification"]) {
      const reaches = allows(on, podOf(on, name), canary, 8082);
      expect({ name, reaches }).toEqual({ name, reaches: name === "webhook-dispatcher" });
    }
    expect(allows(on, strangerPod(), canary, 8082)).toBe(false);
    expect(allows(on, strangerPod(), canary, 9090)).toBe(true);
    expect(allows(on, canary, podOf(on, "gateway"), 8080)).toBe(true);
    expect(allows(on, canary, podOf(on, "gateway"), 9090)).toBe(false);
    expect(allows(on, canary, podOf(on, "account"), 50051)).toBe(false);
    for (const port of [443, 27017, 9092]) expect(allows(on, canary, { address: "104.16.0.1" }, port)).toBe(false);
  });

  test("reaches the gateway also if only configured clients may", async () => {
    const clients = [{ namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": "elsewhere" } } }];
    const on = await render({ values: { canary: { enabled: true }, networkPolicy: { clients } } });
    expect(allows(on, podOf(on, "canary"), podOf(on, "gateway"), 8080)).toBe(true);
  });
});
