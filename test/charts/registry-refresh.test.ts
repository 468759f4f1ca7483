import { describe, expect, test } from "@jest/globals";
import { allows, podOf } from "./support/network.ts";
import { violations } from "./support/pod-security.ts";
import { FULL_NAME, podsOf, render, whyNot } from "./support/render.ts";

const enabled = (values: object = {}) => render({ values: { registryRefresh: { enabled: true, ...values } } });

(whyNot ? describe.skip : describe)(`CronJobs of registry files${whyNot ? ` (skipped: ${whyNot})` : ""}`, () => {
  test("exist only where they are enabled", async () => {
    expect((await render()).ofKind("CronJob")).toEqual([]);
    const names = (await enabled()).ofKind("CronJob").map(({ metadata }) => metadata.name);
    expect(names.toSorted()).toEqual([`${FULL_NAME}-registry-exclusions`, `${FULL_NAME}-registry-extract`]);
  });

  test.each([
    ["exclusions", "23 13 * * *", ["exclusions"]],
    ["extract", "41 14 * * 1", ["registry", "exclusions"]],
  ])(
    "that of %s runs at %s, has its own space and tries again only where that can help",
    async (job, schedule, kinds) => {
      const rendered = await enabled();
      const { spec } = rendered.part("CronJob", `registry-${job}`)!;
      expect(spec).toMatchObject({ schedule, timeZone: "Etc/UTC", concurrencyPolicy: "Forbid" });
      const rules = spec.jobTemplate.spec.podFailurePolicy.rules;
      expect(rules[0]).toMatchObject({ action: "FailJob", onExitCodes: { values: [1, 64] } });
      const pod = podsOf(rendered).find(({ name }) => name.endsWith(job))!;
      expect(violations(pod.spec)).toEqual([]);
      const [container] = pod.spec.containers;
      expect(container.args).toEqual(["registry", "refresh", ...kinds, "--to", "/files"]);
      expect(container.volumeMounts).toContainEqual({ name: "files", mountPath: "/files" });
      expect(pod.spec.volumes).toContainEqual({ name: "files", emptyDir: { sizeLimit: "2Gi" } });
      expect(container.resources.requests["ephemeral-storage"]).toBe("2Gi");
    },
  );

  test("have entity's user of MongoDB and its Secret with SAM.gov's key, as files, and no other key", async () => {
    const values = { registryRefresh: { enabled: true }, services: { entity: { existingSecret: "entity-alone" } } };
    for (const { name, spec } of podsOf(await render({ values })).filter((pod) => pod.name.includes("-registry-"))) {
      const { secret } = spec.volumes.find((volume: { name: string }) => volume.name === "secrets");
      expect({ name, secret: secret.secretName }).toEqual({ name, secret: "entity-alone" });
      const keys = secret.items.map(({ key }: { key: string }) => key);
      expect(keys).toEqual(["MONGODB_URI", "SAM_GOV_API_KEY"]);
      const env = spec.containers[0].env.filter((one: { name: string }) => one.name.endsWith("_FILE"));
      expect(env.map((one: { name: string }) => one.name)).toEqual(keys.map((key: string) => `${key}_FILE`));
    }
  });

  test("reach MongoDB and public addresses by HTTPS, and nothing else", async () => {
    const rendered = await enabled();
    const pod = podOf(rendered, "registry-refresh");
    expect(allows(rendered, pod, { address: "10.20.0.4" }, 27017)).toBe(true);
    expect(allows(rendered, pod, { address: "104.16.0.1" }, 443)).toBe(true);
    expect(allows(rendered, pod, { address: "104.16.0.1" }, 80)).toBe(false);
    for (const address of ["10.0.0.1", "169.254.169.254"]) expect(allows(rendered, pod, { address }, 443)).toBe(false);
    for (const port of [9092, 6379]) expect(allows(rendered, pod, { address: "10.20.0.4" }, port)).toBe(false);
    expect(allows(rendered, pod, podOf(rendered, "entity"), 50052)).toBe(false);
    const dns = { pod: { "k8s-app": "kube-dns" }, namespace: "kube-system" };
    expect(allows(rendered, pod, dns, 53, "UDP")).toBe(true);
  });

  test("reach the MongoDB of a trial only where they are enabled", async () => {
    const files = ["values-dev.yaml"];
    const [on, off] = [await render({ files, set: ["registryRefresh.enabled=true"] }), await render({ files })];
    const pod = podOf(on, "registry-refresh");
    expect(allows(on, pod, podOf(on, "mongodb"), 27017)).toBe(true);
    expect(allows(off, pod, podOf(off, "mongodb"), 27017)).toBe(false);
  });
});
