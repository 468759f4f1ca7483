import { readdirSync } from "node:fs";
import { join } from "node:path";
import { parseAllDocuments } from "yaml";
import { run } from "../../../deploy/image/run.ts";
import { projectRoot } from "../../../deploy/local/services.ts";
import { kubernetesTools } from "./helm.ts";

export const chart = join(projectRoot, "charts/vendor-verification");
const RELEASE = "vv";
export const NAMESPACE = "vendors";
/** Prefix of the names of the release's objects. */
export const FULL_NAME = "vv-vendor-verification";

const tools = await kubernetesTools();

/** Why the chart's tests can't run here; undefined if they can. */
export const whyNot = tools ? undefined : "helm is neither on the path nor can it be fetched";

/** A Kubernetes object, with the fields that tests use. */
export interface KubernetesObject {
  readonly kind: string;
  readonly apiVersion: string;
  readonly metadata: {
    readonly name: string;
    readonly labels?: Record<string, string>;
    readonly annotations?: Record<string, string>;
  };
  // biome-ignore lint/suspicious/noExplicitAny: each kind has its own shape, which the expectations check.
  readonly [field: string]: any;
}

/** Values for `helm template`, in addition to those without a default. */
export interface RenderOptions {
  /** Values files in the chart's folder. */
  readonly files?: readonly string[];
  /** Values as `a.b=value`, for helm's --set. */
  readonly set?: readonly string[];
  /** Values as an object, if --set can't express them. */
  readonly values?: object;
}

const REQUIRED = [
  "publicBaseUrl=https://api.example.com",
  "dashboardUrl=https://dashboard.example.com",
  "secrets.existingSecret=vendor-verification",
  "image.allowTag=true",
  "kafka.brokers={kafka-0.example.com:9092,kafka-1.example.com:9092}",
];

/** Renders the chart to YAML. Errors: helm refuses the values. */
export async function renderText({ files = [], set = [], values }: RenderOptions = {}): Promise<string> {
  const args = ["template", RELEASE, chart, "--namespace", NAMESPACE, "--skip-schema-validation=false"];
  for (const file of files) args.push("--values", join(chart, file));
  for (const assignment of files.length > 0 ? set : [...REQUIRED, ...set]) args.push("--set", assignment);
  if (values) args.push("--values", "-");
  return run(tools!.helm, args, { input: values ? JSON.stringify(values) : "" });
}

const charts = new Map<string, Promise<Rendered>>();

/** Renders the chart to objects, which tests only read: the same values are rendered once. Errors: as for renderText. */
export function render(options: RenderOptions = {}): Promise<Rendered> {
  const values = JSON.stringify(options);
  const chart = charts.get(values) ?? renderText(options).then(parsed);
  charts.set(values, chart);
  return chart;
}

function parsed(text: string): Rendered {
  const objects = parseAllDocuments(text).map((document) => document.toJS() as KubernetesObject | null);
  return objectsOf(objects.filter((object) => object !== null));
}

const inCi = (prefix: string) =>
  readdirSync(join(chart, "ci"))
    .filter((file) => file.startsWith(prefix))
    .map((file) => `ci/${file}`);

/** Values files of each platform, with those of each way to install the chart on it. */
export const PLATFORM_FILES: readonly (readonly string[])[] = inCi("platform-").flatMap((platform) =>
  inCi("tool-").map((tool) => [platform, tool]),
);

/** Values files of each installation that is tested: production, development, everything turned on, and platforms. */
export const VALUES_FILES: readonly (readonly string[])[] = [
  [],
  ["values-dev.yaml"],
  ["ci/everything-values.yaml"],
  ...PLATFORM_FILES,
];

/** Runs helm lint. Errors: it reports more than advice. */
export async function lint(files: readonly string[]): Promise<void> {
  const args = ["lint", "--strict", "--quiet", chart];
  for (const file of files) args.push("--values", join(chart, file));
  if (files.length === 0) for (const assignment of REQUIRED) args.push("--set", assignment);
  await run(tools!.helm, args);
}

export type Rendered = ReturnType<typeof objectsOf>;

/** Returns objects with ways to find one of them. */
export function objectsOf(objects: readonly KubernetesObject[]) {
  return {
    objects,
    ofKind: (kind: string) => objects.filter((object) => object.kind === kind),
    /** Returns the object named after a part of the product, such as a service. */
    part: (kind: string, part: string) =>
      objects.find((object) => object.kind === kind && object.metadata.name === `${FULL_NAME}-${part}`),
  };
}

/** Returns every pod of the chart, including those of Deployments, StatefulSets, Jobs and CronJobs. */
export function podsOf(rendered: Rendered): {
  name: string;
  labels: Record<string, string>;
  annotations: Record<string, string> | undefined;
  spec: KubernetesObject;
}[] {
  return rendered.objects.flatMap(({ kind, metadata, spec }) => {
    const { name } = metadata;
    if (kind === "Pod") return [{ name, labels: metadata.labels ?? {}, annotations: metadata.annotations, spec }];
    if (kind === "CronJob") {
      const { template } = spec.jobTemplate.spec;
      const { labels, annotations } = template.metadata;
      return [{ name, labels, annotations, spec: template.spec }];
    }
    if (!["Deployment", "StatefulSet", "Job"].includes(kind)) return [];
    const { labels, annotations } = spec.template.metadata;
    return [{ name, labels, annotations, spec: spec.template.spec }];
  });
}
