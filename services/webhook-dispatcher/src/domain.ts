import type { Logger } from "@vvs/logging";
import type { Environment } from "@vvs/tenant";
import type { Db } from "mongodb";
import { type Audit, createDeliveryActions } from "./actions/delivery-actions.ts";
import { createDeliveryListing } from "./actions/listing.ts";
import { createReplays } from "./actions/replay.ts";
import { createReplayJobs, runReplays } from "./actions/replay-jobs.ts";
import { createAttempter } from "./attempt/attempt.ts";
import type { Connections } from "./attempt/connections.ts";
import { createPoster } from "./attempt/post.ts";
import { createSigningSecretCache, type DeliveryTerms } from "./attempt/signing-secrets.ts";
import { watchBacklog } from "./backlog.ts";
import type { PoolLimits } from "./config.ts";
import { createAcceptor } from "./delivery/accept.ts";
import { runDuePoller } from "./delivery/due-poller.ts";
import { createDueSignals } from "./delivery/due-signals.ts";
import { createEngine } from "./delivery/engine.ts";
import { createMonitorOrder } from "./delivery/monitor-order.ts";
import { createMonitorUrls } from "./delivery/monitor-urls.ts";
import { runOrphanSweeper } from "./delivery/orphan-sweeper.ts";
import type { Entry } from "./delivery/queue.ts";
import { createRecorder } from "./delivery/recorder.ts";
import type { OverLimit } from "./delivery/sandbox-limit.ts";
import { createSlots } from "./delivery/slots.ts";
import { createDeliveryStore } from "./delivery/store.ts";
import { createUnblocker } from "./delivery/unblocker.ts";
import { createEndpointCache } from "./endpoints/endpoint-cache.ts";
import { createEndpointStore } from "./endpoints/endpoint-store.ts";
import { createEndpointsView } from "./endpoints/endpoints-view.ts";
import { createDeliveryMetrics, observeDeliveries } from "./metrics.ts";

/** A lease outlives the longest attempt by this, in milliseconds; after a crash others take over when it has ended. */
const LEASE_MARGIN_MS = 7_000;

export type DeliveryApi = ReturnType<typeof createDeliveryApi>;

/** What users read and do in one environment, and the loop that carries out their replays. */
export function createDeliveryApi(options: {
  environment: Environment;
  db: Db;
  audit: Audit;
  allowPrivateTargets: boolean;
  stopping: AbortSignal;
  logger: Logger;
  now: () => Date;
}) {
  const listing = createDeliveryListing(options);
  const replays = createReplays(options);
  const jobs = createReplayJobs(options);
  const runner = runReplays({ ...options, jobs, replays });
  const endpoints = createEndpointsView(options);
  const actions = createDeliveryActions({ ...options, listing, replays, endpoints, jobs, onReplay: runner.nudge });
  return { listing, actions, endpoints, runner };
}

export interface DeliveryOptions {
  readonly environment: Environment;
  readonly db: Db;
  /** Makes the connections to subscribers. */
  readonly connections: Pick<Connections, "to">;
  /** Returns the secrets that sign for an organization now. */
  readonly askSecrets: (organizationId: string) => Promise<DeliveryTerms>;
  /** User-Agent of webhooks. */
  readonly userAgent: string;
  /** Longest duration of an attempt, in milliseconds. */
  readonly timeoutMs: number;
  /** Slots for attempts that are expected to end soon, for those that are or may be slow, and of both for one host. */
  readonly pools: { readonly fast: PoolLimits; readonly slow: PoolLimits; readonly perHost: PoolLimits };
  /** Maximum number of attempts in flight to one URL. */
  readonly limitPerUrl: number;
  /** Selects events that are stored but not sent. */
  readonly overLimit: OverLimit;
  /** Nothing more is claimed after it was aborted, so that both environments end at the same time. */
  readonly stopping: AbortSignal;
  readonly logger: Logger;
  readonly now: () => Date;
}

export type RunningDelivery = ReturnType<typeof startDelivery>;

/**
 * Starts to deliver the events of one environment. Each part knows only the parts above it; they meet in what they
 * share: the store, the monitors' order, and the signals to the due poller.
 */
export function startDelivery(options: DeliveryOptions) {
  const { environment, db, connections, timeoutMs, stopping, logger, now } = options;
  const random = Math.random;
  const leaseMs = timeoutMs + LEASE_MARGIN_MS;
  const metrics = createDeliveryMetrics(environment);
  const store = createDeliveryStore({ db });
  const urls = createMonitorUrls({ db });
  const order = createMonitorOrder<Entry>();
  const signals = createDueSignals();
  const unblocker = createUnblocker({ store, order, signals, now });
  const endpoints = createEndpointCache({ store: createEndpointStore({ db }), logger, now });
  const secrets = createSigningSecretCache({ ask: options.askSecrets, logger });
  const poster = createPoster({ connections, timeoutMs });
  const attempt = createAttempter({ poster, metrics, userAgent: options.userAgent, logger, now, random });
  const recorder = createRecorder({ store, logger, now });
  const slots = createSlots({ pools: options.pools, endpoints });
  const shared = {
    store,
    urls,
    order,
    signals,
    unblocker,
    endpoints,
    secrets,
    metrics,
    leaseMs,
    stopping,
    logger,
    now,
  };
  const engine = createEngine({ ...shared, attempt, recorder, slots, limitPerUrl: options.limitPerUrl, timeoutMs });
  const poller = runDuePoller({ ...shared, engine, slots });
  const sweeper = runOrphanSweeper(shared);
  const backlog = watchBacklog({ db, stopping, now });
  const { inFlight } = slots;
  const endGauges = observeDeliveries({ environment, inFlight, queued: engine.queued, backlog, now });

  return {
    /** Accepts webhook.requested records. */
    accept: createAcceptor({ ...shared, environment, engine, overLimit: options.overLimit }),
    /** Notes that other replicas may have accepted records meanwhile. */
    rebalanced: order.noteAllStored,
    /** Resolves when all attempts are recorded, after `stopping` was aborted. */
    async ended(): Promise<void> {
      await poller.ended();
      await sweeper.ended();
      await engine.stop();
      poster.close();
      secrets.close();
      endpoints.close();
      await endpoints.sync();
      endGauges();
    },
  };
}
