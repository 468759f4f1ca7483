import { expect, test } from "@jest/globals";
import type { Check } from "@vvs/checks";
import { createAdmission, outside } from "@vvs/fair-queue";
import { eventually } from "@vvs/testing";
import { createVerifier, type VerificationRequest } from "./verifier.ts";

const request = { began: performance.now(), checks: ["sam_registration", "tin_match"] } as const;

test.each(["verify", "verifyUnlessAsking"] as const)(
  "%s holds no seat while its last check waits for a provider",
  async (name) => {
    const admit = createAdmission({ seats: 1 });
    const callOf = (organizationId: string) => ({
      owner: { class: "direct", organizationId, environment: "live" } as const,
      kind: "verify",
    });
    const slow = Promise.withResolvers<void>();
    let asked = 0;
    const conclude = (check: Check) =>
      outside(async () => {
        asked++;
        if (check === "tin_match") await slow.promise;
        return { check, kind: "error", reason: "providers_failed", fingerprint: "", attempts: [] } as const;
      });
    const verifier = createVerifier({ conclude, limits: { callMs: 10_000 } } as unknown as Parameters<
      typeof createVerifier
    >[0]);
    const verifying = admit(
      callOf("a"),
      async (): Promise<unknown> => verifier[name](request as unknown as VerificationRequest),
    );
    await eventually(() => asked === 2);
    expect(await admit(callOf("b"), async () => "ran")).toBe("ran");
    slow.reject(new Error("unavailable"));
    await expect(verifying).rejects.toThrow("unavailable");
  },
);
