/**
 * One admitted call. Redis has `counted` it, has not (`missed`), or may have: it was `sent` there and the answer is still
 * due. `expired`: its slot is free again.
 */
export interface Admission {
  readonly at: number;
  state: "sent" | "counted" | "missed" | "expired";
}

/**
 * One gateway's view of one key's last window: the calls that it admitted itself, and the number of other gateways' calls
 * that Redis last reported. Times are milliseconds on the gateway's own clock.
 */
export class KeyWindow {
  readonly #windowMs: number;
  /** Oldest first. Those before `#first` have expired: they are removed many at a time, since each removal moves all others. */
  readonly #own: Admission[] = [];
  #first = 0;
  readonly #tally = { sent: 0, counted: 0, missed: 0, expired: 0 };
  /** Treated as admitted at the time of the report, because the real times are unknown. */
  #others = { count: 0, at: Number.NEGATIVE_INFINITY };

  constructor(windowMs: number) {
    this.#windowMs = windowMs;
  }

  /** Returns the number of calls that this gateway admitted and that still take a slot. */
  own(now: number): number {
    const isOver = (call: Admission | undefined) => call !== undefined && call.at <= now - this.#windowMs;
    while (isOver(this.#own[this.#first])) this.mark(this.#own[this.#first++]!, "expired");
    if (2 * this.#first > this.#own.length) {
      this.#own.splice(0, this.#first);
      this.#first = 0;
    }
    return this.#own.length - this.#first;
  }

  /** Returns the number of all calls that take a slot, as far as this gateway knows. */
  total(now: number): number {
    return this.own(now) + this.#othersCount(now);
  }

  /** Admits a call that arrived at `at`. It is `missed` until it is marked otherwise. */
  admit(at: number): Admission {
    const call: Admission = { at, state: "missed" };
    this.#tally.missed += 1;
    this.#own.splice(this.#own.findLastIndex((earlier) => earlier.at <= at) + 1, 0, call);
    return call;
  }

  /** Sets the state of an admitted call; an expired one stays expired. */
  mark(call: Admission, state: Admission["state"]): void {
    if (call.state === "expired") return;
    this.#tally[call.state] -= 1;
    this.#tally[state] += 1;
    call.state = state;
  }

  /** Returns the number of admitted calls that Redis lacks. */
  missingCount(now: number): number {
    this.own(now);
    return this.#tally.missed;
  }

  /** Returns the admitted calls that Redis lacks. */
  missing(now: number): Admission[] {
    if (this.missingCount(now) === 0) return [];
    return this.#own.filter(({ state }) => state === "missed");
  }

  /**
   * Takes over the count that Redis reports after it counted a call. A count of one means that Redis has lost its data:
   * this gateway's earlier calls are then missing there.
   */
  report(count: number, now: number, call: Admission | undefined): void {
    this.own(now);
    if (count === 1) for (const earlier of this.#own) if (earlier.state === "counted") this.mark(earlier, "missed");
    if (call) this.mark(call, "counted");
    this.#others = { count: Math.max(0, count - this.#tally.counted), at: now };
  }

  /** Takes over that Redis refused a call: at least `limit` calls take a slot. */
  reportFull(limit: number, now: number): void {
    this.own(now);
    this.#others = { count: Math.max(this.#othersCount(now), limit - this.#tally.counted), at: now };
  }

  /** Returns the milliseconds until fewer calls than `limit` take a slot. */
  msUntilFree(limit: number, now: number): number {
    const others = this.#othersCount(now);
    const toFree = this.own(now) + others - limit + 1;
    const ownBefore = Math.max(0, this.#own.findLastIndex(({ at }) => at <= this.#others.at) + 1 - this.#first);
    let freed: number | undefined;
    if (toFree <= ownBefore) freed = this.#own[this.#first + toFree - 1]?.at;
    else freed = toFree <= ownBefore + others ? this.#others.at : this.#own[this.#first + toFree - 1 - others]?.at;
    return (freed ?? now) + this.#windowMs - now;
  }

  #othersCount(now: number): number {
    return this.#others.at > now - this.#windowMs ? this.#others.count : 0;
  }
}
