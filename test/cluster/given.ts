import { run } from "../../deploy/image/run.ts";
import { kubernetesTools } from "../charts/support/helm.ts";
import type { Tally } from "../run-jest.ts";

const NONE: Tally = { passed: 0, failed: 0, skipped: 0, files: [] };
const FAILED: Tally = { ...NONE, failed: 1 };

/**
 * Runs the cluster's tests if TEST_CLUSTER is set: on the cluster that CLUSTER_UP creates and CLUSTER_DOWN removes,
 * else on that of the current kubeconfig. If there is no cluster, prints why. That is a failure if TEST_CLUSTER is
 * "required", and no failure if it is "if-possible".
 */
export async function withTestCluster(test: () => Promise<Tally>): Promise<Tally> {
  const { TEST_CLUSTER, CLUSTER_DOWN } = process.env;
  if (!TEST_CLUSTER) return leftOut("TEST_CLUSTER is not set");
  try {
    const whyNot = await whyNone();
    if (!whyNot) return await test();
    return TEST_CLUSTER === "if-possible" ? leftOut(whyNot) : failed(whyNot);
  } catch (error) {
    return failed((error as Error).message);
  } finally {
    if (CLUSTER_DOWN) await run("sh", ["-c", CLUSTER_DOWN]).catch((error: Error) => console.log(error.message));
  }
}

/** Creates the cluster if CLUSTER_UP is set. Returns why there is none to test on; undefined if there is one. */
async function whyNone(): Promise<string | undefined> {
  const { CLUSTER_UP } = process.env;
  try {
    if (CLUSTER_UP) Object.assign(process.env, await madeBy(CLUSTER_UP));
  } catch (error) {
    return (error as Error).message;
  }
  return whyNoCluster();
}

/** Returns why there is no cluster to test on; undefined if there is one. */
export async function whyNoCluster(): Promise<string | undefined> {
  const tools = await kubernetesTools();
  if (!tools) return "helm is neither on the path nor can it be fetched";
  const answer = await run(tools.kubectl, ["--request-timeout=10s", "get", "--raw=/readyz"]).catch(() => undefined);
  return answer === undefined ? "no cluster answers under the current kubeconfig" : undefined;
}

/** Returns the variables that the command prints, one NAME=value a line, such as KUBECONFIG; ignores other lines. */
async function madeBy(command: string): Promise<Record<string, string>> {
  const lines = (await run("sh", ["-c", command])).split("\n");
  return Object.fromEntries(
    lines.flatMap((line) => [...line.matchAll(/^([A-Z][A-Z_]*)=(.*)$/g)].map(([, name, value]) => [name, value])),
  );
}

function leftOut(why: string): Tally {
  console.log(`The tests on a cluster were left out: ${why}.`);
  return NONE;
}

function failed(why: string): Tally {
  console.log(`FAIL the tests on a cluster: ${why}`);
  return FAILED;
}
