import type { Client, PostOptions } from "@vendor-verification/client";
import type { Arguments, Command } from "../command.ts";
import { exitCodes } from "../exit-codes.ts";

/** Returns a command that makes one call and prints its answer. */
export function oneCall<T>({
  call,
  text,
  ...command
}: Omit<Command, "run"> & {
  readonly call: (client: Client, args: Arguments, options: PostOptions) => Promise<T>;
  /** Returns the answer as a person reads it. */
  readonly text: (answer: T) => string;
}): Command {
  return {
    ...command,
    async run({ client, output, signal }, args) {
      const answer = await call(client(), args, { signal, idempotencyKey: args.text("idempotency-key") });
      output.result(answer, () => text(answer));
      return exitCodes.ok;
    },
  };
}
