import type { ProviderHttp } from "./provider-http.ts";

/** Wraps `http` so that each call is counted against the provider's quota before it is made. Errors: also those of `takeCall`. */
export function countedCalls(
  http: Pick<ProviderHttp, "call">,
  takeCall: () => Promise<void>,
): Pick<ProviderHttp, "call"> {
  return {
    async call(call) {
      await takeCall();
      return http.call(call);
    },
  };
}
