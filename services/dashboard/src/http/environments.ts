import type { Environment } from "@vvs/tenant";

/** An environment as pages show it: its path, name and explanation. */
export interface EnvironmentView {
  readonly environment: Environment;
  readonly path: "/live" | "/test";
  readonly name: "Live" | "Test";
  readonly explanation: string;
}

export const live: EnvironmentView = {
  environment: "live",
  path: "/live",
  name: "Live",
  explanation: "Real vendors and real checks.",
};

export const test: EnvironmentView = {
  environment: "sandbox",
  path: "/test",
  name: "Test",
  explanation: "Sandbox data only. Nothing here is real.",
};

export const environmentViews: readonly EnvironmentView[] = [live, test];
