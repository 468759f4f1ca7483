import type { ProviderHttp } from "./provider-http.ts";

/** Calls of which each is counted into the provider's quota before it is made. Errors: those of `takeCall` too. */
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
