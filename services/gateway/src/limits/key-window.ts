/**
 * One admitted call. Redis has `counted` it, has not (`missed`), or may have: it was `asked` and its answer is still due.
 * `gone`: its slot is free again.
 */
export interface Admission {
  readonly at: number;
  state: "asked" | "counted" | "missed" | "gone";
}

/**
 * What one gateway knows of one key's last window: every call that it admitted itself, and how many of the other
 * gateways' calls Redis last reported. Moments are milliseconds on the gateway's own clock.
 */
export class KeyWindow {
  readonly #windowMs: number;
  /** Oldest first. */
  readonly #own: Admission[] = [];
  readonly #tally = { asked: 0, counted: 0, missed: 0, gone: 0 };
  /** Nobody knows when these were admitted, so they are taken to be as recent as the report. */
  #others = { count: 0, at: Number.NEGATIVE_INFINITY };

  constructor(windowMs: number) {
    this.#windowMs = windowMs;
  }

  /** Calls that this gateway admitted and that still take a slot. */
  own(now: number): number {
    const isOver = ({ at }: Admission) => at <= now - this.#windowMs;
    const live = this.#own.findIndex((call) => !isOver(call));
    for (const call of this.#own.splice(0, live < 0 ? this.#own.length : live)) this.#set(call, "gone");
    return this.#own.length;
  }

  /** All calls that take a slot, as far as this gateway knows. */
  total(now: number): number {
    return this.own(now) + this.#othersCount(now);
  }

  /** Admits a call that came at `at`; Redis lacks it until `report` says otherwise. */
  admit(at: number): Admission {
    const call: Admission = { at, state: "missed" };
    this.#tally.missed += 1;
    this.#own.splice(this.#own.findLastIndex((earlier) => earlier.at <= at) + 1, 0, call);
    return call;
  }

  /** Redis was asked to count an admitted call. */
  asked(call: Admission): void {
    this.#set(call, "asked");
  }

  /** Redis has counted an admitted call. */
  counted(call: Admission): void {
    this.#set(call, "counted");
  }

  /** Redis has not counted an admitted call, as far as this gateway can know. */
  missed(call: Admission): void {
    this.#set(call, "missed");
  }

  /** How many admitted calls Redis lacks. */
  missingCount(now: number): number {
    this.own(now);
    return this.#tally.missed;
  }

  /** Admitted calls that Redis lacks. */
  missing(now: number): Admission[] {
    if (this.missingCount(now) === 0) return [];
    return this.#own.filter(({ state }) => state === "missed");
  }

  /**
   * Redis counted a call and reports its count, of this gateway's calls and the others'. Where the call is the only one
   * that Redis has, Redis lost its data: this gateway's earlier calls are missing there from now on.
   */
  report(count: number, now: number, call: Admission | undefined): void {
    this.own(now);
    if (count === 1) for (const earlier of this.#own) if (earlier.state === "counted") this.#set(earlier, "missed");
    if (call) this.#set(call, "counted");
    this.#others = { count: Math.max(0, count - this.#tally.counted), at: now };
  }

  /** Redis reports that at least `limit` calls take a slot. */
  reportFull(limit: number, now: number): void {
    this.own(now);
    this.#others = { count: Math.max(this.#othersCount(now), limit - this.#tally.counted), at: now };
  }

  /** Milliseconds until fewer calls than `limit` take a slot. */
  msUntilFree(limit: number, now: number): number {
    const others = this.#othersCount(now);
    const toFree = this.own(now) + others - limit + 1;
    const ownBefore = this.#own.findLastIndex(({ at }) => at <= this.#others.at) + 1;
    let freed: number | undefined;
    if (toFree <= ownBefore) freed = this.#own[toFree - 1]?.at;
    else freed = toFree <= ownBefore + others ? this.#others.at : this.#own[toFree - 1 - others]?.at;
    return (freed ?? now) + this.#windowMs - now;
  }

  #othersCount(now: number): number {
    return this.#others.at > now - this.#windowMs ? this.#others.count : 0;
  }

  #set(call: Admission, state: Admission["state"]): void {
    if (call.state === "gone") return;
    this.#tally[call.state] -= 1;
    this.#tally[state] += 1;
    call.state = state;
  }
}
