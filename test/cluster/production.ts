import type { Authority } from "@vvs/egress/testing/certificates";
import type { LocalSecrets } from "../../deploy/local/secrets.ts";
import { topology } from "../../deploy/local/topology.ts";
import { chart, FULL_NAME } from "../charts/support/render.ts";
import type { Images } from "./images.ts";
import type { Stores } from "./stores.ts";

export const RELEASE = "vv";
/** The Secret of gateway and dashboard. Each other part has its own, with its user of MongoDB. */
const SECRET = "vendor-verification";
const secretOf = (part: string) => `${SECRET}-${part}`;
const owners = Object.entries(topology).filter(([, { stores }]) => stores.includes("mongodb"));

/** What an installation is made for. */
export interface Site {
  readonly images: Images;
  readonly stores: Stores;
  readonly authority: Authority;
  readonly keyRings: LocalSecrets;
  readonly samGov: { readonly baseUrl: string; readonly apiKey: string };
  readonly publicBaseUrl: string;
  /** Address of the machine that runs the tests, and hosts at which webhooks are received. */
  readonly machine: string;
  readonly subscribers: readonly string[];
}

/** Returns the objects that a company creates beside the chart: its Secrets, and the CA that SAM.gov has here. */
export function externalObjects({ stores, authority, keyRings, samGov }: Site): object[] {
  const secret = (name: string, content: Record<string, string>) => ({
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name },
    stringData: { STORES_CA: authority.ca, ...content },
  });
  const mongodbOf = (user: string) => ({
    MONGODB_URI: stores.mongodbUri(user),
    MONGODB_CERT: stores.mongodbCertificate.cert,
    MONGODB_KEY: stores.mongodbCertificate.key,
  });
  const { API_KEY_PEPPERS, IDEMPOTENCY_KEYS } = keyRings;
  return [
    secret(SECRET, { REDIS_URL: stores.redisUrl, API_KEY_PEPPERS, IDEMPOTENCY_KEYS }),
    secret(secretOf("migration"), {
      ...mongodbOf("migration"),
      KAFKA_SASL_PASSWORD: stores.kafkaPassword("migration"),
    }),
    ...owners.map(([name, service]) =>
      secret(secretOf(name), {
        ...mongodbOf(name),
        ...Object.fromEntries([...service.secrets, ...service.optionalSecrets].map((key) => [key, keyRings[key]])),
        ...(service.stores.includes("kafka") && { KAFKA_SASL_PASSWORD: stores.kafkaPassword("services") }),
        ...(name === "entity" && { SAM_GOV_API_KEY: samGov.apiKey }),
      }),
    ),
    { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "authorities" }, data: { "ca.pem": authority.ca } },
  ];
}

/**
 * Returns values as a company writes them: its own stores with TLS, a user and a Secret for each service, an Ingress, network
 * policies, two replicas, registry files by CronJob. Only what a small node forces is smaller: requested CPU and memory.
 */
export function productionValues(site: Site): object {
  const { images, stores, samGov } = site;
  const at = images.product.lastIndexOf(":");
  const inStores = { namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": stores.namespace } } };
  const outside = [{ to: [{ ipBlock: { cidr: `${site.machine}/32` } }] }];
  const small = { resources: { requests: { cpu: "20m", memory: "96Mi" } }, autoscaling: { maxReplicas: 2 } };
  const each = Object.fromEntries(
    owners.map(([name, { optionalSecrets }]) => [
      name,
      { existingSecret: secretOf(name), secretVariables: optionalSecrets },
    ]),
  );
  return {
    publicBaseUrl: site.publicBaseUrl,
    dashboardUrl: "https://dashboard.example.com",
    trustedProxyHops: 1,
    image: { repository: images.product.slice(0, at), tag: images.product.slice(at + 1), allowTag: true },
    mongodb: {
      tls: { caSecretKey: "STORES_CA", certSecretKey: "MONGODB_CERT", keySecretKey: "MONGODB_KEY" },
    },
    kafka: {
      ...stores.kafka,
      tls: { enabled: true, caSecretKey: "STORES_CA" },
      sasl: { mechanism: "scram-sha-512", username: "services" },
      topics: { replicationFactor: 1, minInsyncReplicas: 1 },
    },
    redis: { tls: { caSecretKey: "STORES_CA" } },
    secrets: { existingSecret: SECRET },
    defaults: small,
    services: {
      ...each,
      entity: { ...each.entity, ...small },
      verification: { ...each.verification, ...small },
      gateway: small,
      // The sandbox's monitors run each two seconds, so that changes come soon.
      monitor: { ...each.monitor, env: { SANDBOX_HOURLY_MS: 2_000, SANDBOX_MONTHLY_MS: 2_000 } },
      "webhook-dispatcher": {
        ...each["webhook-dispatcher"],
        // The tests' subscribers are in the cluster, and organizations come and go.
        env: { WEBHOOK_ALLOW_PRIVATE_TARGETS: true },
      },
    },
    migration: { existingSecret: secretOf("migration"), env: { KAFKA_SASL_USERNAME: "migration" } },
    registryRefresh: {
      enabled: true,
      env: { SAM_GOV_BASE_URL: samGov.baseUrl, NODE_EXTRA_CA_CERTS: "/etc/authorities/ca.pem" },
      extraVolumes: [{ name: "authorities", configMap: { name: "authorities" } }],
      extraVolumeMounts: [{ name: "authorities", mountPath: "/etc/authorities", readOnly: true }],
    },
    networkPolicy: {
      mongodb: { peers: [inStores] },
      kafka: { peers: [inStores], ports: [9096] },
      redis: { peers: [inStores], ports: [6380] },
      extraEgress: {
        "registry-refresh": outside,
        "webhook-dispatcher": [...outside, { to: [{ podSelector: { matchLabels: { app: "visitor" } } }] }],
      },
    },
    ingress: { enabled: true, className: "nginx", gatewayTlsSecret: "api-tls", dashboardTlsSecret: "dashboard-tls" },
    monitoring: { dashboards: { enabled: true } },
  };
}

/** Returns helm's arguments after `install` or `upgrade`; the values come from its input. */
export function releaseArguments(...more: string[]): string[] {
  return [RELEASE, chart, "--values", "-", ...more, "--wait", "--wait-for-jobs", "--timeout", "8m"];
}

/** Returns the name of an object of the release. */
export const named = (part: string) => `${FULL_NAME}-${part}`;
