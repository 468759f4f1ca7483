import type { Logger } from "@vvs/logging";
import type { Environment } from "@vvs/tenant";
import type { Db } from "mongodb";
import type { Dispatcher } from "undici";
import { createAcceptor } from "./accept.ts";
import { createAttempter } from "./attempt.ts";
import { watchBacklog } from "./backlog.ts";
import { runClaims } from "./claims.ts";
import { createEndpointBook } from "./endpoint-book.ts";
import { createEndpointStore } from "./endpoint-store.ts";
import { createEngine } from "./engine.ts";
import { createLanes } from "./lanes.ts";
import { createDeliveryMetrics } from "./metrics.ts";
import { createPool, type PoolLimits } from "./pools.ts";
import { createPoster } from "./post.ts";
import type { Entry } from "./queue.ts";
import { createRecorder } from "./recorder.ts";
import type { SigningSecrets } from "./signature.ts";
import { createSigning } from "./signing.ts";
import { createDeliveryStore } from "./store.ts";
import { runWatch } from "./watch.ts";

/** A claim outlives the longest attempt by this; after it another replica may make the attempt, 25 s later at most. */
const LEASE_MARGIN_MS = 7_000;

export interface DeliveringOptions {
  readonly environment: Environment;
  readonly db: Db;
  readonly dispatcher: Dispatcher;
  /** The secrets that sign for an organization now. */
  readonly askSecrets: (organizationId: string) => Promise<SigningSecrets>;
  /** How webhooks introduce us. */
  readonly userAgent: string;
  readonly timeoutMs: number;
  /** Attempts that are expected to be over soon, and those that are slow or may be. */
  readonly pools: { readonly fast: PoolLimits; readonly slow: PoolLimits };
  readonly limitPerUrl: number;
  /** Aborted when nothing more is to be claimed: both environments then end at the same time. */
  readonly stopping: AbortSignal;
  readonly logger: Logger;
  readonly now: () => Date;
}

/** Delivers the events of one environment. */
export interface Delivering {
  /** Takes webhook.requested records over. */
  readonly accept: ReturnType<typeof createAcceptor>;
  /** Records may have gone to other replicas meanwhile. */
  rebalanced(): void;
  /** Resolves when the attempts under way have ended and are recorded, once `stopping` is aborted. */
  ended(): Promise<void>;
}

export function startDelivering(options: DeliveringOptions): Delivering {
  const { environment, db, timeoutMs, stopping, logger, now } = options;
  const leaseMs = timeoutMs + LEASE_MARGIN_MS;
  const metrics = createDeliveryMetrics(environment, now);
  const store = createDeliveryStore({ db });
  const lanes = createLanes<Entry>();
  const poster = createPoster({ dispatcher: options.dispatcher, timeoutMs });
  const recorder = createRecorder({ store, logger, now });
  const signing = createSigning({ ask: options.askSecrets, onBack: () => engine.pump(), logger });
  const book = createEndpointBook({
    store: createEndpointStore({ db }),
    onCircuit: (endpoint) => {
      engine.onCircuit(endpoint);
      claims.nudge();
    },
    logger,
    now,
  });
  const engine = createEngine({
    attempt: createAttempter({ ...options, poster, metrics }),
    pools: { fast: createPool(options.pools.fast), slow: createPool(options.pools.slow) },
    limitPerUrl: options.limitPerUrl,
    onHeld: (identity) => claims.noteHeld(identity),
    onLaneEnded: (monitorId) => watch.laneEnded(monitorId),
    book,
    signing,
    recorder,
    store,
    lanes,
    timeoutMs,
    logger,
    now,
  });
  const isHeldUp = () => signing.isAway();
  const claims = runClaims({
    store,
    book,
    engine,
    metrics,
    onLaneEnded: (monitorId) => watch.laneEnded(monitorId),
    isHeldUp,
    leaseMs,
    stopping,
    logger,
    now,
  });
  const watch = runWatch({ store, lanes, book, claims, stopping, logger, now });
  const backlog = watchBacklog({ db, stopping, now });
  metrics.watch({ inFlight: engine.inFlight, queued: engine.queued, backlog: backlog.latest });

  return {
    accept: createAcceptor({
      store,
      book,
      engine,
      lanes,
      onHeld: (identity) => claims.noteHeld(identity),
      onLaneEnded: (monitorId) => watch.laneEnded(monitorId),
      metrics,
      leaseMs,
      logger,
      now,
    }),
    rebalanced: lanes.noteAllElsewhere,
    async ended() {
      await claims.ended();
      await watch.ended();
      await engine.stop();
      poster.close();
      signing.close();
      book.close();
      await book.sync();
      metrics.close();
    },
  };
}
