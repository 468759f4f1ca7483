import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { parse } from "yaml";
import { run } from "../../../deploy/image/run.ts";
import type { Download } from "../../../deploy/local/servers/downloads.ts";

/** Definitions of other projects' kinds, in exact versions of Go modules. Go checks them against its public checksum database. */
const MODULES: Readonly<Record<string, readonly string[]>> = {
  "github.com/cert-manager/cert-manager@v1.21.2": [
    "deploy/crds/cert-manager.io_certificates.yaml",
    "deploy/crds/cert-manager.io_issuers.yaml",
  ],
  "github.com/external-secrets/external-secrets@v1.3.2": ["config/crds/bases/external-secrets.io_externalsecrets.yaml"],
  "github.com/kedacore/keda/v2@v2.21.0": ["config/crd/bases/keda.sh_scaledobjects.yaml"],
  "github.com/prometheus-operator/prometheus-operator@v0.85.0": [
    "example/prometheus-operator-crd/monitoring.coreos.com_prometheusrules.yaml",
    "example/prometheus-operator-crd/monitoring.coreos.com_servicemonitors.yaml",
  ],
  "sigs.k8s.io/gateway-api@v1.5.1": ["config/crd/standard/gateway.networking.k8s.io_httproutes.yaml"],
};

interface Schema {
  readonly [field: string]: unknown;
  readonly type?: string;
  readonly nullable?: boolean;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema | boolean;
  readonly items?: Schema;
}

interface Definition {
  readonly spec: {
    readonly group: string;
    readonly names: { readonly kind: string };
    readonly versions: readonly { readonly name: string; readonly schema: { readonly openAPIV3Schema: Schema } }[];
  };
}

const integer: Schema = { type: "integer" };
const text: Schema = { type: "string" };
const object = (properties: Readonly<Record<string, Schema>>): Schema => ({ type: "object", properties });
const definition = (group: string, kind: string, spec: Schema): Definition => ({
  spec: { group, names: { kind }, versions: [{ name: "v1", schema: { openAPIV3Schema: object({ spec }) } }] },
});

/**
 * Google's kinds, which are in no module: the fields that ci/ uses, as in its documentation of November 2026,
 * https://cloud.google.com/kubernetes-engine/docs/how-to/ingress-configuration and
 * https://github.com/GoogleCloudPlatform/prometheus-engine/blob/main/doc/api.md.
 */
const GOOGLE = [
  definition(
    "cloud.google.com",
    "BackendConfig",
    object({
      timeoutSec: integer,
      connectionDraining: object({ drainingTimeoutSec: integer }),
      healthCheck: object({
        type: { ...text, enum: ["HTTP", "HTTPS", "HTTP2"] },
        requestPath: text,
        port: integer,
        checkIntervalSec: integer,
        timeoutSec: integer,
      }),
    }),
  ),
  definition("networking.gke.io", "ManagedCertificate", object({ domains: { type: "array", items: text } })),
  definition(
    "monitoring.googleapis.com",
    "PodMonitoring",
    object({
      selector: object({ matchLabels: { type: "object", additionalProperties: text } }),
      endpoints: { type: "array", items: object({ port: text, path: text, interval: text }) },
    }),
  ),
];

/** Where kubeconform finds the schema of a kind. */
export const SCHEMA_PATH = "{{.Group}}/{{.ResourceKind}}_{{.ResourceAPIVersion}}.json";

/** A folder of strict JSON schemas, one for each kind and version. */
export const customResources: Download = {
  // This file decides what is in it.
  folder: `custom-resources-${createHash("sha256")
    .update(readFileSync(import.meta.filename))
    .digest("hex")
    .slice(0, 12)}`,
  title: "definitions of custom resources",
  sizeMb: 35,
  needs: [],
  async fetch(folder) {
    const modules = join(folder, "modules");
    const env = { ...process.env, GOPATH: modules, GOMODCACHE: join(modules, "cache"), GOFLAGS: "-modcacherw" };
    for (const each of GOOGLE) await writeDefinition(folder, each);
    for (const [module, files] of Object.entries(MODULES)) {
      const { Dir } = JSON.parse(await run("go", ["mod", "download", "-json", module], { cwd: folder, env })) as {
        Dir: string;
      };
      for (const file of files)
        await writeDefinition(folder, parse(await readFile(join(Dir, file), "utf8")) as Definition);
    }
    await rm(modules, { recursive: true });
  },
};

async function writeDefinition(folder: string, { spec }: Definition): Promise<void> {
  for (const { name, schema } of spec.versions) {
    const path = join(folder, spec.group, `${spec.names.kind.toLowerCase()}_${name}.json`);
    await mkdir(dirname(path), { recursive: true });
    const { properties = {}, ...rest } = schema.openAPIV3Schema;
    const common = { apiVersion: { type: "string" }, kind: { type: "string" }, metadata: { type: "object" } };
    await writeFile(path, JSON.stringify(strict({ ...rest, properties: { ...properties, ...common } })));
  }
}

/** Returns a schema that refuses fields which a definition does not name, as `kubectl apply` does. Rules in CEL are left out. */
function strict(schema: Schema): Schema {
  const { nullable, ...rest } = schema;
  const result: Record<string, unknown> = { ...rest };
  if (nullable && schema.type) result.type = [schema.type, "null"];
  if (schema.items) result.items = strict(schema.items);
  if (typeof schema.additionalProperties === "object")
    result.additionalProperties = strict(schema.additionalProperties);
  if (schema.properties) {
    result.properties = Object.fromEntries(
      Object.entries(schema.properties).map(([name, each]) => [name, strict(each)]),
    );
    if (!schema["x-kubernetes-preserve-unknown-fields"]) result.additionalProperties ??= false;
  }
  return result;
}
