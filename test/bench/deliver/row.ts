import { join } from "node:path";
import { type DeliveryStack, startDeliveryStack } from "../../support/delivery-stack.ts";
import { startHelper } from "../../support/helper-process.ts";
import type { Row, RowBench } from "../benchmark.ts";
import { ENDPOINTS } from "./population.ts";
import { type Subscribers, startSubscribers } from "./subscribers.ts";

/** One measurement, with its own dispatcher and subscribers. */
export type DeliverRow<Size extends string = string> = Row<Size, DeliverBench>;

export interface DeliverBench extends Pick<RowBench, "log" | "onClose"> {
  readonly stack: Pick<DeliveryStack, "publish" | "pending" | "deliveries" | "kill" | "start" | "pid">;
  readonly subscribers: Subscribers;
  /** URL at which spans can be counted. */
  readonly sinkUrl: string;
}

/** Returns the row with what it needs: a dispatcher, subscribers, and a sink for spans. */
export function withStack({ measure, ...row }: DeliverRow): Row {
  return {
    ...row,
    async measure({ servers, prefix, folder, log, onClose }, sizes) {
      const sink = await startHelper({ name: "otlp-sink", script: join(import.meta.dirname, "../otlp-sink.ts") });
      onClose(() => sink.stop());
      const subscribers = await startSubscribers(ENDPOINTS);
      onClose(() => subscribers.stop());
      const profileDir = process.env.BENCH_PROFILE_DIR;
      const stack = await startDeliveryStack({
        servers,
        prefix,
        folder,
        environment: { OTEL_EXPORTER_OTLP_ENDPOINT: sink.line, OTEL_TRACES_SAMPLER: "always_on" },
        nodeOptions: profileDir ? ["--cpu-prof", `--cpu-prof-dir=${profileDir}`] : [],
      });
      onClose(() => stack.stop());
      return await measure({ stack, subscribers, sinkUrl: sink.line, log, onClose }, sizes);
    },
  };
}
