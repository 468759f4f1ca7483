import type { Provider } from "@vendor-verification/client";
import type { Command } from "../command.ts";
import { printItems } from "../lists.ts";
import { table } from "../output.ts";

export const providers: Command = {
  name: "providers",
  summary: "List the data providers of the key's environment and whether they answer.",
  help: "With --json one provider per line.",
  run: async ({ client, output, signal }) =>
    printItems(output, await client().listProviders({ signal }), { text: providersText }),
};

function providersText(providers: readonly Provider[]): string {
  const rows = providers.map(({ name, state, checks, quota_remaining, last_success_at = "never" }) => [
    name,
    state,
    checks.join(","),
    String(quota_remaining ?? "unknown"),
    last_success_at,
  ]);
  return table(["Provider", "State", "Checks", "Calls left today", "Last answer"], rows);
}
