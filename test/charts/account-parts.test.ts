import { X509Certificate } from "node:crypto";
import { beforeAll, describe, expect, test } from "@jest/globals";
import { topology } from "../../deploy/local/topology.ts";
import { allows, podOf } from "./support/network.ts";
import { FULL_NAME, type Rendered, render, whyNot } from "./support/render.ts";

const PORT = topology.account!.rpcPort!;
const PUBLIC = { address: "104.16.0.1" };
const PEOPLE = "account-people";
const PARTS = ["together", "separating", "separate"] as const;
const addressOf = (name: string) => `${FULL_NAME}-${name}.vendors.svc:${PORT}`;

(whyNot ? describe.skip : describe)(`the deployments of account${whyNot ? ` (skipped: ${whyNot})` : ""}`, () => {
  let rendered: Record<(typeof PARTS)[number], Rendered>;
  beforeAll(async () => {
    const charts = PARTS.map(async (parts) => [parts, await render({ set: [`account.parts=${parts}`] })]);
    rendered = Object.fromEntries(await Promise.all(charts));
  });

  const variables = (parts: (typeof PARTS)[number], name: string) => rendered[parts].part("ConfigMap", name)?.data;
  const reaches = (chart: Rendered, from: string, to: string) =>
    allows(chart, podOf(chart, from), podOf(chart, to), PORT);

  test.each([
    ["together", undefined, undefined],
    ["separating", undefined, "people"],
    ["separate", "keys", "people"],
  ] as const)("%s: account serves %s (undefined: both), account-people %s", (parts, own, people) => {
    expect(variables(parts, "account")!.ACCOUNT_PART).toBe(own);
    expect(variables(parts, PEOPLE)?.ACCOUNT_PART).toBe(people);
    expect(rendered[parts].part("Deployment", PEOPLE) === undefined).toBe(people === undefined);
  });

  test.each(PARTS)("%s: only the dashboard learns where people are served, and nobody else reaches them", (parts) => {
    const chart = rendered[parts];
    const services = Object.keys(topology);
    for (const name of services) {
      const { ACCOUNT_ADDRESS, ACCOUNT_PEOPLE_ADDRESS } = variables(parts, name)!;
      const calls = topology[name]!.calls.includes("account");
      expect({ name, ACCOUNT_ADDRESS }).toEqual({ name, ACCOUNT_ADDRESS: calls ? addressOf("account") : undefined });
      const asks = name === "dashboard" && parts !== "together";
      expect({ name, ACCOUNT_PEOPLE_ADDRESS }).toEqual({
        name,
        ACCOUNT_PEOPLE_ADDRESS: asks ? addressOf(PEOPLE) : undefined,
      });
      expect({ name, reaches: reaches(chart, name, "account") }).toEqual({ name, reaches: calls });
      if (parts === "together") continue;
      expect({ name, reaches: reaches(chart, name, PEOPLE) }).toEqual({ name, reaches: asks });
      expect({ name, reached: reaches(chart, PEOPLE, name) }).toEqual({ name, reached: false });
    }
  });

  test.each(PARTS)("%s: the silence of account-people pages exactly if it is a deployment", async (parts) => {
    const { objects } = await render({
      set: [`account.parts=${parts}`, "monitoring.prometheusRule.enabled=true"],
    });
    const rule = objects.find(({ kind }) => kind === "PrometheusRule")!;
    expect(JSON.stringify(rule.spec).includes(PEOPLE)).toBe(parts !== "together");
  });

  test("no step changes the pods of other services than account and dashboard", () => {
    for (const name of Object.keys(topology)) {
      const pods = PARTS.map((parts) => rendered[parts].part("Deployment", name)!.spec.template);
      const changes = pods.some((pod) => JSON.stringify(pod) !== JSON.stringify(pods[0]));
      expect({ name, changes }).toEqual({ name, changes: ["account", "dashboard"].includes(name) });
    }
    // So dashboards of the step before find everything while pods are replaced.
    const [, separating, separate] = PARTS.map((parts) => variables(parts, "dashboard"));
    expect(separate).toEqual(separating);
    expect(variables("separating", "account")).toEqual(variables("together", "account"));
  });

  test("only the part that sends emails and asks identity providers reaches public addresses", () => {
    const internet = (parts: (typeof PARTS)[number], name: string) =>
      allows(rendered[parts], podOf(rendered[parts], name), PUBLIC, 443);
    expect(PARTS.map((parts) => internet(parts, "account"))).toEqual([true, true, false]);
    expect(internet("separating", PEOPLE)).toBe(true);
    expect(internet("separate", PEOPLE)).toBe(true);
  });

  test("both run the account service, with only the secrets of their part and a certificate of their own", () => {
    const { part } = rendered.separate;
    const secretsOf = (name: string) => {
      const { volumes } = part("Deployment", name)!.spec.template.spec;
      const { secret } = volumes.find((one: { name: string }) => one.name === "secrets");
      return secret.items.map(({ key }: { key: string }) => key).toSorted();
    };
    expect(secretsOf("account")).toEqual(["API_KEY_PEPPERS", "MONGODB_URI", "WEBHOOK_SECRET_KEYS"]);
    expect(secretsOf(PEOPLE)).toEqual(["MONGODB_URI", "WEBHOOK_SECRET_KEYS"]);
    for (const name of ["account", PEOPLE]) {
      const { spec } = part("Deployment", name)!;
      expect(spec.template.spec.containers[0].args).toEqual(["account"]);
      for (const kind of ["Service", "PodDisruptionBudget"]) {
        const { selector } = part(kind, name)!.spec;
        expect(selector.matchLabels ?? selector).toEqual(spec.selector.matchLabels);
      }
      const { data } = part("Secret", `${name}-rpc-tls`)!;
      const certificate = new X509Certificate(Buffer.from(data["tls.crt"], "base64").toString());
      expect(certificate.checkHost(addressOf(name).replace(/:\d+$/, ""))).toBeDefined();
      expect(variables("separate", name)!.DASHBOARD_URL).toBe("https://dashboard.example.com");
    }
  });

  test("account-people has the values of account unless it has its own", async () => {
    const account = {
      env: { SIGN_UP_OPEN: true, LOG_LEVEL: "debug" },
      secretVariables: ["SMTP_URL"],
      autoscaling: { enabled: true, maxReplicas: 5 },
    };
    const people = { env: { LOG_LEVEL: "warn" }, autoscaling: { maxReplicas: 3 }, replicas: 4 };
    const { part } = await render({
      values: {
        account: { parts: "separate" },
        services: { account, "account-people": people },
        networkPolicy: { extraEgress: { account: [{ to: [{ ipBlock: { cidr: "10.9.0.1/32" } }] }] } },
      },
    });
    expect(part("ConfigMap", PEOPLE)!.data).toMatchObject({ SIGN_UP_OPEN: "true", LOG_LEVEL: "warn" });
    expect(part("ConfigMap", "account")!.data.LOG_LEVEL).toBe("debug");
    const limits = ["account", PEOPLE].map((name) => part("HorizontalPodAutoscaler", name)!.spec.maxReplicas);
    expect(limits).toEqual([5, 3]);
    expect(JSON.stringify(part("Deployment", PEOPLE)!.spec.template)).toContain("SMTP_URL_FILE");
    expect(JSON.stringify(part("NetworkPolicy", PEOPLE)!.spec)).toContain("10.9.0.1/32");
  });
});
