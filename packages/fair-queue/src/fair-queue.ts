/** Calls that share one line: those of one organization, environment and class. */
export interface Flow {
  /** Unique among flows. */
  readonly id: string;
  /** Share of the seats beside other flows, relative to theirs. */
  readonly weight: number;
  /** Sandbox calls take at most a quarter of the seats from live calls. */
  readonly isSandbox: boolean;
}

/** A call that asks for a seat. */
export interface Arrival {
  readonly flow: Flow;
  /** The kind of work, by which its cost is estimated. */
  readonly kind: string;
  /** Time of the work that the call causes after it has ended, which its flow pays too, in milliseconds. */
  readonly laterMs?: number | undefined;
  /** At most `max` calls with this key have begun and not ended, or are next to begin. Further ones let others pass. */
  readonly bound?: { readonly key: string; readonly max: number };
  /** Called when the call gets its first seat. */
  readonly begin: () => void;
}

/** A call in the queue. */
export interface Ticket {
  /** Gives the seat back while the call waits for something outside this process. */
  pause(): void;
  /**
   * Asks for a seat again, and calls back when there is one: before any call that has not begun, and in fair shares among
   * the flows with such calls. Of a call that has ended, or holds its seat, it calls back immediately.
   */
  resume(onSeat: () => void): void;
  /** Ends the call in any state. One that has not begun never begins. */
  end(): void;
}

interface Line {
  readonly flow: Flow;
  /** Calls that may begin, in the order of arrival. */
  readonly waiting: Set<Call>;
  /** Number of calls that have not begun, also those that may not. */
  unbegun: number;
  /** The finish tag of the call that began last. */
  finish: number;
  /** Calls that ask for a seat again, in the order of asking. */
  readonly returning: Set<Call>;
  /** The finish tag, in `returnTime`, of the call that returned last. */
  returnFinish: number;
  /** Calls that wait or have begun. */
  inside: number;
}

interface Call extends Arrival {
  readonly line: Line;
  /** Virtual time when it could begin first; of a returning call, `returnTime` when it asked for its seat. */
  arrivedAt: number;
  state: "waiting" | "seated" | "paused" | "returning" | "ended";
  estimate: number;
  /** Time for which it has held a seat before `since`. */
  spent: number;
  since: number;
  onSeat: () => void;
}

/** Calls of one bound. */
interface Bound {
  /** Number of calls that may begin or have begun. */
  taken: number;
  /** Calls that may not, in the order of arrival. */
  readonly held: Set<Call>;
}

export type FairQueue = ReturnType<typeof createFairQueue>;

const NEWEST_WEIGHT = 0.1;
const FIRST_ESTIMATE_MS = 5;
/** Number of lines beyond which those without calls and debts are forgotten. */
const LINES_KEPT = 256;

/**
 * Decides which call runs next: start-time fair queueing (Goyal, Vin and Cheng, 1996) on several seats. A call's start tag is
 * the later of the virtual time at its arrival and its line's finish tag; its finish tag is that plus cost ÷ weight; the lowest
 * start tag goes next. Virtual time is the start tag of the call that began last; when the queue is empty, the highest finish
 * tag. Cost is the time that a call holds a seat, with that of later work: the average of its kind when it begins, what it took when it ends.
 * No seat is free while a call waits that may begin. `clock` is in milliseconds.
 */
export function createFairQueue({ seats, clock }: { seats: number; clock: () => number }) {
  const sandboxSeats = Math.max(1, Math.floor(seats / 4));
  const lines = new Map<string, Line>();
  const backlogged = new Set<Line>();
  const returning = new Set<Line>();
  const averages = new Map<string, number>();
  const bounds = new Map<string, Bound>();
  let virtualTime = 0;
  /** Virtual time of the calls that return: a light flow must not wait for all those of a busy one. */
  let returnTime = 0;
  let inside = 0;
  let unbegun = 0;
  let seated = 0;
  let seatedSandbox = 0;
  let idleSince: number | undefined;
  let idleMs = 0;

  const tagOf = ({ line, arrivedAt }: Call) => Math.max(arrivedAt, line.finish);
  const returnTagOf = ({ line, arrivedAt }: Call) => Math.max(arrivedAt, line.returnFinish);

  const toBegin = { lines: backlogged, callsOf: (line: Line) => line.waiting, startTag: tagOf };
  const toReturn = { lines: returning, callsOf: (line: Line) => line.returning, startTag: returnTagOf };

  /** Returns the call with the lowest start tag, of live or of the sandbox. */
  function first({ lines, callsOf, startTag }: typeof toBegin, isSandbox: boolean): Call | undefined {
    let best: Call | undefined;
    for (const line of lines) {
      if (line.flow.isSandbox !== isSandbox) continue;
      const [head] = callsOf(line) as Iterable<Call> as [Call];
      if (!best || startTag(head) < startTag(best)) best = head;
    }
    return best;
  }

  function next(): Call | undefined {
    const liveBack = first(toReturn, false);
    if (liveBack) return liveBack;
    const sandboxBack = first(toReturn, true);
    const hasRoom = seatedSandbox < sandboxSeats;
    if (sandboxBack && hasRoom) return sandboxBack;
    const live = first(toBegin, false);
    if (live && !hasRoom) return live;
    const sandbox = sandboxBack ?? first(toBegin, true);
    return live && sandbox ? (tagOf(sandbox) < tagOf(live) ? sandbox : live) : (live ?? sandbox);
  }

  const nextForSeat = () => (seated < seats ? next() : undefined);

  function fillSeats(): void {
    for (let call = nextForSeat(); call; call = nextForSeat()) {
      if (call.state === "waiting") startCall(call);
      else if (call.state === "returning") goOn(call);
      call.state = "seated";
      call.since = clock();
      seated++;
      if (call.flow.isSandbox) seatedSandbox++;
      call.onSeat();
    }
    watchIdling();
  }

  /** Measures what must not be, by what waits and not by what `next` returns. */
  function watchIdling(): void {
    const isIdle = seated < seats && backlogged.size + returning.size > 0;
    if (idleSince !== undefined) idleMs += clock() - idleSince;
    idleSince = isIdle ? clock() : undefined;
  }

  function startCall(call: Call): void {
    const { line, kind, flow } = call;
    leaveLine(call);
    const tag = tagOf(call);
    virtualTime = Math.max(virtualTime, tag);
    call.estimate = averages.get(kind) ?? FIRST_ESTIMATE_MS;
    line.finish = tag + call.estimate / flow.weight;
  }

  function goOn(call: Call): void {
    const { line, flow, estimate } = call;
    leaveReturning(call);
    returnTime = Math.max(returnTime, returnTagOf(call));
    line.returnFinish = returnTagOf(call) + estimate / flow.weight;
  }

  function leaveReturning(call: Call): void {
    const { line } = call;
    line.returning.delete(call);
    if (line.returning.size === 0) returning.delete(line);
  }

  /** Makes a call wait in its line, or outside it while its bound has no place: calls behind it may begin. */
  function enterLine(call: Call): void {
    const { bound, line } = call;
    if (bound) {
      const own = bounds.get(bound.key) ?? { taken: 0, held: new Set<Call>() };
      bounds.set(bound.key, own);
      if (own.taken >= bound.max) {
        own.held.add(call);
        return;
      }
      own.taken++;
    }
    call.arrivedAt = virtualTime;
    line.waiting.add(call);
    backlogged.add(line);
  }

  function leaveLine(call: Call): void {
    const { line } = call;
    unbegun--;
    line.unbegun--;
    line.waiting.delete(call);
    if (line.waiting.size === 0) backlogged.delete(line);
  }

  /** Gives the place of an ended call to the next one of its bound. */
  function leaveBound(call: Call): void {
    const own = call.bound && bounds.get(call.bound.key)!;
    if (!own || own.held.delete(call)) return;
    own.taken--;
    const [next] = own.held;
    if (next) {
      own.held.delete(next);
      enterLine(next);
    } else if (own.taken === 0) bounds.delete(call.bound!.key);
  }

  function leaveSeat(call: Call): void {
    if (call.state !== "seated") return;
    call.spent += clock() - call.since;
    seated--;
    if (call.flow.isSandbox) seatedSandbox--;
  }

  /** Replaces the estimated cost of a begun call by what it took. */
  function settle({ line, kind, flow, estimate, spent, laterMs = 0 }: Call): void {
    const cost = spent + laterMs;
    line.finish += (cost - estimate) / flow.weight;
    const average = averages.get(kind) ?? estimate;
    averages.set(kind, average + NEWEST_WEIGHT * (cost - average));
  }

  function forgetLines(): void {
    if (inside === 0) {
      for (const { finish } of lines.values()) virtualTime = Math.max(virtualTime, finish);
      lines.clear();
    } else if (lines.size > LINES_KEPT) {
      for (const [id, line] of lines) if (line.inside === 0 && line.finish <= virtualTime) lines.delete(id);
    }
  }

  function lineOf(flow: Flow): Line {
    const empty = { waiting: new Set<Call>(), returning: new Set<Call>() };
    const line = lines.get(flow.id) ?? { flow, ...empty, unbegun: 0, finish: 0, returnFinish: 0, inside: 0 };
    lines.set(flow.id, line);
    return line;
  }

  return {
    /** Adds a call. It may begin before this returns. */
    enter(arrival: Arrival): Ticket {
      const line = lineOf(arrival.flow);
      const call: Call = {
        ...arrival,
        ...{ line, arrivedAt: virtualTime, state: "waiting", onSeat: arrival.begin },
        ...{ estimate: 0, spent: 0, since: 0 },
      };
      inside++;
      line.inside++;
      unbegun++;
      line.unbegun++;
      enterLine(call);
      fillSeats();
      return {
        pause() {
          if (call.state !== "seated") return;
          leaveSeat(call);
          call.state = "paused";
          fillSeats();
        },
        resume(onSeat) {
          // What a call began and left running goes on without a seat.
          if (call.state !== "paused") return onSeat();
          call.state = "returning";
          call.onSeat = onSeat;
          call.arrivedAt = returnTime;
          line.returning.add(call);
          returning.add(line);
          fillSeats();
        },
        end() {
          if (call.state === "ended") return;
          if (call.state === "waiting") leaveLine(call);
          else {
            leaveSeat(call);
            leaveReturning(call);
            settle(call);
          }
          leaveBound(call);
          call.state = "ended";
          inside--;
          line.inside--;
          forgetLines();
          fillSeats();
        },
      };
    },

    /** Number of calls of a flow that have not begun. */
    waitingIn: (flowId: string) => lines.get(flowId)?.unbegun ?? 0,
    /** Number of calls that have not begun. */
    waiting: () => unbegun,
    /** Number of seats that are taken. */
    seated: () => seated,
    /** Time in which a seat was free and a call waited that could begin: 0, unless this file has a defect. */
    idleMs: () => idleMs + (idleSince === undefined ? 0 : clock() - idleSince),
  };
}
