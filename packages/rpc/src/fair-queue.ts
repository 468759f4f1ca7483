/** Weight of the newest call in the average duration. */
const NEWEST_WEIGHT = 0.1;
/** An organization with at least this many waiting calls sends a burst. Fewer can wait by chance. */
const BURST = 2;
/** This many waiting calls of an organization have their turn in time: pauses between them are as short as that needs. */
const SERVED_IN_TIME = 16;
/** The part of the longest wait after which a call may be refused. */
export const CERTAIN_WAIT = 0.75;
/** A pause is no longer than this, in milliseconds. */
const LONGEST_PAUSE_MS = 250;

/** Maximum numbers of calls in one queue. */
export interface QueueLimits {
  /** Calls that run at the same time. */
  readonly running: number;
  /** Calls of one organization that run at the same time while it is the only one that calls this process. */
  readonly runningPerOrganization: number;
  /**
   * The same while others call too: what one organization leaves idle is what the others' calls begin in. Below 1, one
   * call runs, and before the next one of a burst there is a pause: with 0.5, as long as the call took.
   */
  readonly runningBesideOthers: number;
  /** Calls that wait for a place. */
  readonly waiting: number;
  /** Calls of one organization that wait for a place. */
  readonly waitingPerOrganization: number;
  /** A call that would wait longer than this for its organization's own calls is refused, after three quarters of it at the earliest. */
  readonly longestWaitMs: number;
}

/** Whose calls leave no room for another one to wait. */
export type Share = "organization" | "all";

/** The calls of one organization. It is forgotten when none runs or waits. */
interface Organization {
  running: number;
  /** Begins each waiting call; the first one waits longest. */
  readonly waiting: Set<() => void>;
  /** Average duration of its recent calls. */
  averageMs: number;
}

/**
 * Decides which call runs next. Organizations take turns, so a burst of one delays another's call by little more than the
 * calls that already run, and the duration of one's calls never gets another's refused. `isBesideOthers` says whether
 * other organizations call too.
 */
export function createFairQueue(limits: QueueLimits, isBesideOthers: (id: string) => boolean) {
  // The order is that of the next turns.
  const organizations = new Map<string, Organization>();
  let running = 0;
  let waiting = 0;

  const shareOf = (id: string) => (isBesideOthers(id) ? limits.runningBesideOthers : limits.runningPerOrganization);
  const hasPlace = (id: string, organization: Organization) =>
    running < limits.running && organization.running < shareOf(id);

  function usedUp(id: string, { waiting: own, averageMs }: Organization): Share | undefined {
    const share = own.size < SERVED_IN_TIME ? Math.max(1, shareOf(id)) : shareOf(id);
    const ownMs = ((own.size + 1) * averageMs) / share;
    // Few calls may always wait: one slow call says little about the next ones.
    const isBurst = own.size >= limits.runningPerOrganization;
    if (own.size >= limits.waitingPerOrganization || (isBurst && ownMs > limits.longestWaitMs)) return "organization";
    return waiting >= limits.waiting ? "all" : undefined;
  }

  function run(organization: Organization): void {
    running++;
    organization.running++;
  }

  function forgetIdle(id: string, organization: Organization): void {
    if (organization.running === 0 && organization.waiting.size === 0) organizations.delete(id);
  }

  /** Lets each waiting call run that may, in turns: an organization whose call began goes to the end. */
  function runNext(): void {
    // What goes to the end is met again.
    for (const [id, organization] of organizations) {
      if (organization.waiting.size === 0 || !hasPlace(id, organization)) continue;
      const [begin] = organization.waiting as Iterable<() => void> as [() => void];
      organization.waiting.delete(begin);
      waiting--;
      organizations.delete(id);
      organizations.set(id, organization);
      run(organization);
      begin();
    }
  }

  return {
    waiting: () => waiting,

    /**
     * Calls `begin` now, and returns undefined, or when it is the call's turn. Then it returns a function that ends the wait
     * and returns for whose calls it waited. Returns whose share is used up if the call may not even wait.
     */
    enter(id: string, begin: () => void): Share | (() => Share) | undefined {
      const organization = organizations.get(id) ?? { running: 0, waiting: new Set(), averageMs: 0 };
      const canRun = organization.waiting.size === 0 && hasPlace(id, organization);
      const refused = canRun ? undefined : usedUp(id, organization);
      if (refused) return refused;
      organizations.set(id, organization);
      if (canRun) {
        run(organization);
        begin();
        return undefined;
      }
      organization.waiting.add(begin);
      waiting++;
      return () => {
        if (organization.waiting.delete(begin)) {
          waiting--;
          forgetIdle(id, organization);
        }
        // Its share may have grown since, while its own call still ran.
        const isHeldUpByAll = running >= limits.running && organization.running < shareOf(id);
        return isHeldUpByAll ? "all" : "organization";
      };
    },

    /** Returns how long the place of a call that took this long stays taken, in milliseconds. */
    pauseMs(id: string, durationMs: number): number {
      const { size } = organizations.get(id)!.waiting;
      if (size < BURST) return 0;
      const shareMs = durationMs * (1 / shareOf(id) - 1);
      const inTimeMs = (limits.longestWaitMs * CERTAIN_WAIT) / SERVED_IN_TIME - durationMs;
      return Math.max(0, Math.min(shareMs, size <= SERVED_IN_TIME ? inTimeMs : shareMs, LONGEST_PAUSE_MS));
    },

    /** Frees the place of a call that took this long. */
    leave(id: string, durationMs: number): void {
      const organization = organizations.get(id)!;
      organization.averageMs += NEWEST_WEIGHT * (durationMs - organization.averageMs);
      organization.running--;
      running--;
      runNext();
      forgetIdle(id, organization);
    },
  };
}
