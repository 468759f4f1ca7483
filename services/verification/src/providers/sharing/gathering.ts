import { ProviderError } from "../provider.ts";
import { type SharedWork, shareWork } from "./shared-work.ts";

interface GatheredCall<T> {
  readonly keys: Set<string>;
  readonly work: SharedWork<ReadonlyMap<string, T | ProviderError>>;
  /** Starts the call now. */
  readonly go: () => void;
}

/**
 * Gathers single questions into calls that ask many at a time. A call starts `windowMs` milliseconds after its first
 * question, or as soon as it has `max` keys. Equal keys are asked once, and a caller that gives up does not affect the
 * others.
 */
export function createGathering<T>(options: {
  windowMs: number;
  max: number;
  call: (keys: readonly string[], signal: AbortSignal) => Promise<ReadonlyMap<string, T | ProviderError>>;
}) {
  const { windowMs, max, call } = options;
  let open: GatheredCall<T> | undefined;

  function begin(): GatheredCall<T> {
    const keys = new Set<string>();
    const start = Promise.withResolvers<void>();
    const timer = setTimeout(start.resolve, windowMs);
    const work = shareWork(async (abandoned) => {
      abandoned.addEventListener("abort", () => start.reject(new ProviderError("timeout")), { once: true });
      try {
        await start.promise;
      } finally {
        clearTimeout(timer);
        if (open === gathered) open = undefined;
      }
      return call([...keys], abandoned);
    });
    const gathered = { keys, work, go: () => start.resolve() };
    return gathered;
  }

  return {
    /** Resolves with the call's answer for the key. Errors: the call's; ProviderError `timeout` when `signal` aborts. */
    async ask(key: string, signal: AbortSignal): Promise<T> {
      if (!open || open.work.isAbandoned() || open.keys.size >= max) open = begin();
      const { keys, work, go } = open;
      keys.add(key);
      if (keys.size >= max) go();
      const answer = (await work.wait(signal)).get(key);
      if (answer === undefined) throw new ProviderError("wrong_shape");
      if (answer instanceof ProviderError) throw answer;
      return answer;
    },
  };
}
