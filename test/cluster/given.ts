import { run } from "../../deploy/image/run.ts";
import { kubernetesTools } from "../charts/support/helm.ts";
import type { Tally } from "../run-jest.ts";

const NONE: Tally = { passed: 0, failed: 0, skipped: 0 };
const FAILED: Tally = { ...NONE, failed: 1 };

/**
 * Runs the cluster's tests where TEST_CLUSTER asks for them: on the cluster that CLUSTER_UP makes and CLUSTER_DOWN takes
 * away again, else on that of the current kubeconfig. Says so where there is none; one that was to be made and was not is
 * a failure.
 */
export async function withTestCluster(test: () => Promise<Tally>): Promise<Tally> {
  const { TEST_CLUSTER, CLUSTER_UP, CLUSTER_DOWN } = process.env;
  if (!TEST_CLUSTER) return leftOut("TEST_CLUSTER is not set");
  try {
    if (CLUSTER_UP) Object.assign(process.env, await madeBy(CLUSTER_UP));
    const whyNot = await whyNoCluster();
    if (!whyNot) return await test();
    return CLUSTER_UP ? failed(`CLUSTER_UP was run, and ${whyNot}`) : leftOut(whyNot);
  } catch (error) {
    return failed((error as Error).message);
  } finally {
    if (CLUSTER_DOWN) await run("sh", ["-c", CLUSTER_DOWN]).catch((error: Error) => console.log(error.message));
  }
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
