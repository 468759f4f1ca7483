/** Checks of kube-score that the chart does not follow, and why. */
export const IGNORED_SCORES: Readonly<Record<string, string>> = {
  "container-image-pull-policy":
    "an image is named by its version or digest, so a node's cached image is the right one",
  "container-security-context-user-group-id": "1000 is the user that Node's official image has; it is not root",
  "deployment-has-host-podantiaffinity": "topology spread constraints separate the pods, over zones as well as hosts",
  "deployment-strategy":
    "services add a pod before they end one; two canaries at a time would cancel each other's monitors",
  "deployment-replicas": "two by default; one is for development, and kube-score does not know KEDA's autoscaler",
};

/** A CPU limit throttles a pod even while its node is idle. Memory limits are still required. */
export const NO_CPU_LIMIT = "--ignore-container-cpu-limit";
