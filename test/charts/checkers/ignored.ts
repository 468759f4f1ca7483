/** Kinds of other projects, of which Kubernetes has no schemas; the chart's other tests look into them. */
export const FOREIGN_KINDS = [
  "Certificate",
  "ExternalSecret",
  "HTTPRoute",
  "PrometheusRule",
  "ScaledObject",
  "ServiceMonitor",
] as const;

/** What kube-score asks for and the chart does not give, and why it is right not to. */
export const IGNORED_SCORES: Readonly<Record<string, string>> = {
  "container-image-pull-policy": "an image is named by its version or digest, so what a node has is what is meant",
  "container-security-context-user-group-id": "1000 is the user that Node's official image has; it is not root",
  "deployment-has-host-podantiaffinity": "topology spread constraints part the pods, over zones as well as hosts",
  "deployment-replicas": "two by default; one is for trying out, and kube-score does not know KEDA's autoscaler",
};

/** A limit of CPU throttles a pod while its node idles; memory's limit stays asked for. */
export const NO_CPU_LIMIT = "--ignore-container-cpu-limit";
