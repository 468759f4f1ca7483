import { run } from "../../deploy/image/run.ts";
import { kubernetesTools } from "../charts/support/helm.ts";
import type { Tally } from "../run-jest.ts";

const NONE: Tally = { passed: 0, failed: 0, skipped: 0, files: [] };
const FAILED: Tally = { ...NONE, failed: 1 };

/**
 * Runs the cluster's tests where TEST_CLUSTER asks for them: on the cluster that CLUSTER_UP makes and CLUSTER_DOWN takes
 * away again, else on that of the current kubeconfig. Where none can be had it says so, which is a failure where one is
 * "required", and none where they are to run "if-possible".
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

/** Makes the cluster that CLUSTER_UP asks for; why there is none to test on, undefined where there is one. */
async function whyNone(): Promise<string | undefined> {
  const { CLUSTER_UP } = process.env;
  try {
    if (CLUSTER_UP) Object.assign(process.env, await madeBy(CLUSTER_UP));
  } catch (error) {
    return (error as Error).message;
  }
  return whyNoCluster();
}

/** Why there is no cluster to test on; undefined where there is one. */
export async function whyNoCluster(): Promise<string | undefined> {
  const tools = await kubernetesTools();
  if (!tools) return "helm is neither on the path nor can it be fetched";
  const answer = await run(tools.kubectl, ["--request-timeout=10s", "get", "--raw=/readyz"]).catch(() => undefined);
  return answer === undefined ? "no cluster answers under the current kubeconfig" : undefined;
}

/** The variables that the command prints, one NAME=value a line, such as KUBECONFIG; everything else is passed over. */
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
