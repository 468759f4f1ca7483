import type { DeliveryStack } from "../../support/delivery-stack.ts";
import type { Bound } from "../benchmark.ts";
import type { Subscribers } from "./subscribers.ts";

/** One of the things that are measured, with a dispatcher and subscribers of its own. */
export interface Row {
  /** As an argument. */
  readonly name: string;
  readonly targets: Readonly<Record<string, Bound>>;
  measure(bench: RowBench): Promise<Readonly<Record<string, number>>>;
}

export interface RowBench {
  readonly stack: Pick<DeliveryStack, "publish" | "pending" | "deliveries" | "kill" | "start" | "pid">;
  readonly subscribers: Subscribers;
  /** Where spans can be counted. */
  readonly sinkUrl: string;
  readonly log: (line: string) => void;
  /** Called, latest first, when the row is done or has failed. */
  readonly onClose: (close: () => Promise<unknown>) => void;
}
