import { ProviderError } from "./provider.ts";
import { type SharedWork, shareWork } from "./shared-work.ts";

/** Gathers single questions into calls for many. */
export interface Gathering<T> {
  /** What the call says of the key. Errors: the call's; ProviderError `timeout` on the own signal. */
  ask(key: string, signal: AbortSignal): Promise<T>;
}

interface Gathered<T> {
  readonly keys: Set<string>;
  readonly work: SharedWork<ReadonlyMap<string, T | ProviderError>>;
  /** There are as many as a call takes. */
  readonly full: () => void;
}

/**
 * A call begins `windowMs` after its first question, or as soon as it has `max` of them. Equal keys are asked once, and
 * a caller that leaves takes no other with it.
 */
export function createGathering<T>(options: {
  windowMs: number;
  max: number;
  call: (keys: readonly string[], signal: AbortSignal) => Promise<ReadonlyMap<string, T | ProviderError>>;
}): Gathering<T> {
  const { windowMs, max, call } = options;
  let open: Gathered<T> | undefined;

  function begin(): Gathered<T> {
    const keys = new Set<string>();
    const go = Promise.withResolvers<void>();
    const timer = setTimeout(go.resolve, windowMs);
    const work = shareWork(async (abandoned) => {
      abandoned.addEventListener("abort", () => go.reject(new ProviderError("timeout")), { once: true });
      try {
        await go.promise;
      } finally {
        clearTimeout(timer);
        if (open === gathered) open = undefined;
      }
      return call([...keys], abandoned);
    });
    const gathered = { keys, work, full: () => go.resolve() };
    return gathered;
  }

  return {
    async ask(key, signal) {
      if (!open || open.work.isAbandoned() || open.keys.size >= max) open = begin();
      const { keys, work, full } = open;
      keys.add(key);
      if (keys.size >= max) full();
      const answer = (await work.wait(signal)).get(key);
      if (answer === undefined) throw new ProviderError("wrong_shape");
      if (answer instanceof ProviderError) throw answer;
      return answer;
    },
  };
}
