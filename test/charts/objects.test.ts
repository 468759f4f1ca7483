import { X509Certificate } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "@jest/globals";
import { keyRing } from "@vvs/config";
import { projectRoot } from "../../deploy/local/services.ts";
import { topology } from "../../deploy/local/topology.ts";
import { allRules } from "../alerts/rules.ts";
import { chart, FULL_NAME, lint, PLATFORM_FILES, render, VALUES_FILES, whyNot } from "./support/render.ts";
import { readmeWithValues } from "./support/values-table.ts";

const callersAndCalled = Object.entries(topology)
  .filter(([, { rpcPort, calls }]) => rpcPort !== undefined || calls.length > 0)
  .map(([name]) => name);
const decoded = (text: string) => Buffer.from(text, "base64").toString();

(whyNot ? describe.skip : describe)(`objects${whyNot ? ` (skipped: ${whyNot})` : ""}`, () => {
  test.each(VALUES_FILES.map((files) => [files]))(
    "helm accepts %j, and objects have unique names and the release's labels",
    async (files) => {
      await lint(files);
      const { objects } = await render({ files });
      expect(objects.length).toBeGreaterThan(50);
      const names = objects.map(({ kind, metadata }) => `${kind}/${metadata.name}`);
      expect(new Set(names).size).toBe(names.length);
      for (const { metadata } of objects) {
        expect(metadata.name.length).toBeLessThanOrEqual(63);
        expect(metadata.annotations ?? {}).not.toHaveProperty("");
        expect(metadata.labels).toMatchObject({
          "app.kubernetes.io/instance": "vv",
          "app.kubernetes.io/part-of": "vendor-verification",
        });
      }
    },
  );

  test.each([
    ["publicBaseUrl", ["publicBaseUrl="]],
    ["dashboardUrl", ["dashboardUrl=dashboard.example.com"]],
    ["existingSecret", ["secrets.existingSecret="]],
    ["brokers", ["kafka.brokers=null"]],
    ["gatewey", ["services.gatewey.replicas=3"]],
    ["parts", ["account.parts=apart"]],
    ["replicas", ["services.gateway.replicas=many"]],
    ["source", ["rpcTls.source=none"]],
    ["mechanism", ["kafka.sasl.mechanism=gssapi"]],
    ["tokenPath", ["kafka.sasl.mechanism=oauthbearer"]],
    ["tokenPath", ["kafka.sasl.mechanism=oauthbearer", "kafka.sasl.tokenPath=/t", "kafka.sasl.tokenCommand=t"]],
    ["nodeSelektor", ["migration.nodeSelektor.pool=jobs"]],
    ["replicas", ["smoke.replicas=1"]],
    ["cloudIdentity", ["services.verification.cloudIdentity=azure"]],
    ["remoteKey", ["secrets.existingSecret=", "secrets.externalSecret.enabled=true"]],
    ["issuerRef", ["rpcTls.source=certManager"]],
    ["generate", ["secrets.existingSecret=", "secrets.generate=true"]],
    ["migration.mode", ["devStores.enabled=true"]],
    ["trustedProxyHops", ["ingress.enabled=true"]],
    ["trustedProxyHops", ["ingress.enabled=true", "trustedProxyHops=0"]],
    ["trustedProxyHops", ["httpRoute.enabled=true", "httpRoute.parentRefs[0].name=public"]],
    ["trustedProxyHops", ["ingress.enabled=true", "services.gateway.env.TRUSTED_PROXY_HOPS=1"]],
  ])("values that can't work are refused with a message that names %s", async (word, set) => {
    await expect(render({ set })).rejects.toThrow(word);
  });

  test("certificates made by helm contain their service's name as a caller and all names it is called by", async () => {
    const { part } = await render();
    const authority = new X509Certificate(decoded(part("Secret", "rpc-authority")!.data["tls.crt"]));
    for (const name of callersAndCalled) {
      const { data } = part("Secret", `${name}-rpc-tls`)!;
      const certificate = new X509Certificate(decoded(data["tls.crt"]));
      expect(decoded(data["ca.crt"])).toBe(decoded(part("Secret", "rpc-authority")!.data["tls.crt"]));
      expect(certificate.verify(authority.publicKey)).toBe(true);
      for (const host of [name, `${FULL_NAME}-${name}`, `${FULL_NAME}-${name}.vendors.svc`]) {
        expect(certificate.checkHost(host)).toBe(host);
      }
    }
  });

  test("cert-manager gets requests for the same certificates", async () => {
    const { ofKind, part } = await render({ files: ["ci/everything-values.yaml"] });
    expect(
      ofKind("Certificate")
        .map(({ spec }) => spec.commonName)
        .toSorted(),
    ).toEqual([...callersAndCalled, "account-people"].toSorted());
    for (const { spec } of ofKind("Certificate")) {
      expect(spec).toMatchObject({
        secretName: `${FULL_NAME}-${spec.commonName}-rpc-tls`,
        usages: expect.arrayContaining(["client auth", "server auth"]),
      });
      expect(spec.dnsNames[0]).toBe(spec.commonName);
      expect(spec.dnsNames).toContain(`${FULL_NAME}-${spec.commonName}.vendors.svc`);
    }
    expect(part("Secret", "rpc-authority")).toBeUndefined();
  });

  test("key rings generated for development are valid and outlive the release", async () => {
    const { part } = await render({ files: ["values-dev.yaml"] });
    const { data, metadata } = part("Secret", "secrets")!;
    expect(metadata.annotations).toMatchObject({ "helm.sh/resource-policy": "keep" });
    const rings = Object.values(topology).flatMap(({ secrets, optionalSecrets }) => [...secrets, ...optionalSecrets]);
    for (const name of rings) expect(keyRing().parse(decoded(data[name]))).toHaveLength(1);
  });

  const migrationOf = async (set: readonly string[]) => {
    const jobs = (await render({ set })).ofKind("Job");
    return jobs.find(({ metadata }) => metadata.name.startsWith(`${FULL_NAME}-migration`))!;
  };

  test("the migration runs before everything else, with a service account and a network policy that come before it and go with it", async () => {
    const { part } = await render();
    expect(part("Job", "migration")!.metadata.annotations).toMatchObject({
      "helm.sh/hook": "pre-install,pre-upgrade",
      "helm.sh/hook-weight": "0",
      "helm.sh/hook-delete-policy": "before-hook-creation",
    });
    const plain = await render({ set: ["migration.mode=job"] });
    for (const kind of ["ServiceAccount", "NetworkPolicy"]) {
      expect(part(kind, "migration")!.metadata.annotations).toMatchObject({
        "helm.sh/hook": "pre-install,pre-upgrade",
        "helm.sh/hook-weight": "-10",
        "helm.sh/hook-delete-policy": "before-hook-creation,hook-succeeded",
      });
      expect(plain.part(kind, "migration")!.metadata.annotations).toBeUndefined();
    }
  });

  test.each(["hook", "job"])(
    "the log of a failed migration can be read, because its ended pods stay: %s",
    async (mode) => {
      // The Job controller deletes running pods of a failed Job, and with OnFailure a failed pod counts as running.
      const { spec } = await migrationOf([`migration.mode=${mode}`]);
      expect(spec.template.spec.restartPolicy).toBe("Never");
      expect(spec.ttlSecondsAfterFinished).toBeUndefined();
    },
  );

  test("the External Secrets Operator keeps the Secret current in each mode, and makes it before a migration that is a hook", async () => {
    const external = [
      "secrets.existingSecret=",
      "secrets.externalSecret.enabled=true",
      "secrets.externalSecret.remoteKey=v",
    ];
    const made = async (mode: string) =>
      (await render({ set: [...external, `migration.mode=${mode}`] })).ofKind("ExternalSecret");
    const [kept, before, ...others] = await made("hook");
    expect(others).toEqual([]);
    expect(await made("job")).toEqual([kept]);
    expect(kept!.metadata.annotations).toBeUndefined();
    expect(before!.spec).toEqual(kept!.spec);
    expect(kept!.spec.target).toMatchObject({ name: `${FULL_NAME}-secrets`, creationPolicy: "Orphan" });
    // helm can't adopt a hook as an object of the release, so it has another name and is gone when the mode changes.
    expect(before!.metadata.name).not.toBe(kept!.metadata.name);
    expect(before!.metadata.annotations).toMatchObject({
      "helm.sh/hook": "pre-install,pre-upgrade",
      "helm.sh/hook-weight": "-10",
      "helm.sh/hook-delete-policy": "before-hook-creation,hook-succeeded",
    });
  });

  test("a migration that is a plain Job has a new name exactly when its unchangeable content changes, at any revision", async () => {
    const plain = ["migration.mode=job"];
    const first = await migrationOf(plain);
    expect(first.metadata.annotations).toBeUndefined();
    expect(first.metadata.name).toMatch(/-migration-[0-9a-f]{8}$/);
    expect(first.spec.template.spec.containers[0].args).toEqual(["migrate"]);
    expect(await migrationOf([...plain, "services.gateway.replicas=3", "defaults.logLevel=warn"])).toEqual(first);
    const changes = ["image.tag=two", "kafka.topics.partitions=24", "mongodb.databasePrefix=eu_", "migration.env.A=b"];
    const changed = await Promise.all(changes.map((change) => migrationOf([...plain, change])));
    const names = [first, ...changed].map(({ metadata }) => metadata.name);
    expect(new Set(names).size).toBe(names.length);
  });

  test("the hosts of the two public addresses route to the gateway and the dashboard", async () => {
    const { part } = await render({ files: ["ci/everything-values.yaml"] });
    for (const [name, host] of [
      ["gateway", "api.example.com"],
      ["dashboard", "dashboard.example.com"],
    ] as const) {
      const [rule] = part("Ingress", name)!.spec.rules;
      expect(rule).toMatchObject({
        host,
        http: { paths: [{ backend: { service: { name: `${FULL_NAME}-${name}` } } }] },
      });
      expect(part("HTTPRoute", name)!.spec).toMatchObject({
        hostnames: [host],
        rules: [{ backendRefs: [{ name: `${FULL_NAME}-${name}`, port: 80 }] }],
      });
    }
  });

  test("each Service, Ingress and route has its own annotations beside the common ones", async () => {
    const own = (text: string) => ({ annotations: { "example.com/own": text } });
    const outside = {
      enabled: true,
      annotations: { "example.com/all": "all" },
      gateway: own("api"),
      dashboard: own("ui"),
    };
    const { part } = await render({
      values: {
        trustedProxyHops: 1,
        ingress: outside,
        httpRoute: { ...outside, parentRefs: [{ name: "public" }] },
        services: { gateway: { service: { ...own("service"), type: "NodePort" } }, entity: { service: own("entity") } },
      },
    });
    for (const kind of ["Ingress", "HTTPRoute"]) {
      const of = (name: string) => part(kind, name)!.metadata.annotations;
      expect(of("gateway")).toEqual({ "example.com/all": "all", "example.com/own": "api" });
      expect(of("dashboard")).toEqual({ "example.com/all": "all", "example.com/own": "ui" });
    }
    expect(part("Service", "gateway")).toMatchObject({ metadata: own("service"), spec: { type: "NodePort" } });
    expect(part("Service", "entity")).toMatchObject({ metadata: own("entity"), spec: { clusterIP: "None" } });
    expect(part("Service", "dashboard")!.metadata.annotations).toBeUndefined();
  });

  test("further objects are templates, and belong to the release", async () => {
    const data = { gateway: '{{ include "vv.fullname" . }}-gateway' };
    const object = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "own", labels: { a: "b" } }, data };
    const { objects } = await render({ values: { extraObjects: [object] } });
    expect(objects.find(({ metadata }) => metadata.name === "own")).toMatchObject({
      metadata: { labels: { a: "b", "app.kubernetes.io/instance": "vv" } },
      data: { gateway: `${FULL_NAME}-gateway` },
    });
  });

  test.each(PLATFORM_FILES.map((files) => [files]))("%j needs no rights outside its namespace", async (files) => {
    const { objects } = await render({ files });
    const kinds = new Set(objects.map(({ kind }) => kind));
    for (const kind of kinds)
      expect(kind).not.toMatch(
        /^(Cluster|Namespace$|CustomResource|Role|.*WebhookConfiguration|PriorityClass|PersistentVolume$|StorageClass)/,
      );
    for (const { metadata } of objects) expect(metadata).not.toHaveProperty("namespace");
  });

  test("the README names each kind of the chart, for the Role of whoever installs it", async () => {
    const readme = readFileSync(join(chart, "README.md"), "utf8");
    const [rights] = /^### Rights\n[\s\S]*?(?=^##)/m.exec(readme)!;
    const rendered = await Promise.all(VALUES_FILES.map((files) => render({ files, values: { extraObjects: [] } })));
    for (const kind of new Set(rendered.flatMap(({ objects }) => objects.map((object) => object.kind))))
      expect(rights).toMatch(new RegExp(`\\b${kind}\\b`));
  });

  test.each([
    ["an object of the cluster", "lookup"],
    ["the number of the revision, which Argo CD does not know", ".Release.Revision"],
  ])("nothing that is rendered without the cluster depends on %s", (_what, text) => {
    const folder = join(chart, "templates");
    const files = readdirSync(folder, { recursive: true }).map(String);
    const depend = files.filter(
      (file) => /\.(yaml|tpl)$/.test(file) && readFileSync(join(folder, file), "utf8").includes(text),
    );
    // The certificates and key rings that helm itself makes.
    expect(depend.toSorted()).toEqual(text === "lookup" ? ["rpc-tls.yaml", "secret.yaml"] : []);
  });

  test.each([
    ["trustedProxyHops=2", "2", "2"],
    ["services.gateway.env.TRUSTED_PROXY_HOPS=3", "3", "1"],
  ])(
    "behind an Ingress with %s the gateway trusts %s proxies and the dashboard %s",
    async (set, gateway, dashboard) => {
      const { part } = await render({ set: ["ingress.enabled=true", "trustedProxyHops=1", set] });
      const hops = (name: string) => part("ConfigMap", name)!.data.TRUSTED_PROXY_HOPS;
      expect([hops("gateway"), hops("dashboard"), hops("entity")]).toEqual([gateway, dashboard, undefined]);
    },
  );

  test("the alerts are those of deploy/alerts, each with the address of its runbook", async () => {
    const { part, objects } = await render({ files: ["ci/everything-values.yaml"] });
    const rule = objects.find(({ kind }) => kind === "PrometheusRule")!;
    const alerts = rule.spec.groups
      .flatMap(({ rules }: { rules: { alert?: string }[] }) => rules)
      .filter(({ alert }: { alert?: string }) => alert);
    expect(alerts.map(({ alert }: { alert: string }) => alert).toSorted()).toEqual(
      allRules()
        .map(({ alert }) => alert)
        .toSorted(),
    );
    for (const { alert, annotations } of alerts) {
      expect(annotations.runbook_url).toBe(`https://example.com/vendor-verification/docs/runbooks/${alert}.md`);
      expect(existsSync(join(projectRoot, "docs/runbooks", `${alert}.md`))).toBe(true);
    }
    expect(part("Service", "metrics")!.metadata.name).toBe(`${FULL_NAME}-metrics`);
    expect(part("Service", "metrics")!.spec.selector).toMatchObject({ "vendor-verification/metrics": "true" });
  });

  test.each([
    [{}, { job: `${FULL_NAME}-metrics`, namespace: "vendors" }],
    [
      { cluster: "eu", job: "vendors" },
      { cluster: "eu", job: "vendors" },
    ],
  ])("with matchLabels %j the rules take only the series with %j, and add these labels", async (matchLabels, own) => {
    const { objects } = await render({
      files: ["ci/everything-values.yaml"],
      values: { monitoring: { prometheusRule: { matchLabels } } },
    });
    const matchers = Object.entries(own).map(([label, value]) => `${label}="${value}"`);
    const groups: { rules: { expr: string; labels: object }[] }[] = objects.find(
      ({ kind }) => kind === "PrometheusRule",
    )!.spec.groups;
    for (const { expr, labels } of groups.flatMap(({ rules }) => rules)) {
      expect(labels).toMatchObject(own);
      expect(expr).not.toContain("namespace=~");
      for (const [, selector] of expr.matchAll(/\{([^}]*)\}/g)) expect(selector).toContain(matchers.join(", "));
    }
  });

  test("each dashboard is valid JSON in a ConfigMap that Grafana's sidecar finds", async () => {
    const { ofKind } = await render({ files: ["ci/everything-values.yaml"] });
    const dashboards = ofKind("ConfigMap").filter(({ metadata }) => metadata.labels?.grafana_dashboard === "1");
    expect(dashboards.length).toBe(readdirSync(join(chart, "dashboards")).length);
    for (const { data } of dashboards) {
      for (const text of Object.values(data as Record<string, string>))
        expect(JSON.parse(text)).toMatchObject({ title: expect.any(String) });
    }
  });
});

test("the README's table of values matches values.yaml (npm run chart-readme)", () => {
  const { is, wanted } = readmeWithValues();
  expect(is).toBe(wanted);
  // An alias of YAML appears as what it stands for.
  expect(wanted).not.toContain('"source":');
});

test("the chart and the project have the same version", () => {
  const { version } = JSON.parse(readFileSync(join(projectRoot, "package.json"), "utf8"));
  expect(readFileSync(join(chart, "Chart.yaml"), "utf8")).toContain(`appVersion: ${version}\n`);
});
