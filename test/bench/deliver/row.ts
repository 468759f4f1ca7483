import type { DeliveryStack } from "../../support/delivery-stack.ts";
import type { Bound } from "../benchmark.ts";
import type { Subscribers } from "./subscribers.ts";

/** One measurement, with its own dispatcher and subscribers. */
export interface Row {
  /** Also the argument that selects the row. */
  readonly name: string;
  readonly targets: Readonly<Record<string, Bound>>;
  measure(bench: RowBench): Promise<Readonly<Record<string, number>>>;
}

export interface RowBench {
  readonly stack: Pick<DeliveryStack, "publish" | "pending" | "deliveries" | "kill" | "start" | "pid">;
  readonly subscribers: Subscribers;
  /** URL at which spans can be counted. */
  readonly sinkUrl: string;
  readonly log: (line: string) => void;
  /** Registers a close. Closes run in reverse order when the row is done or has failed. */
  readonly onClose: (close: () => Promise<unknown>) => void;
}
