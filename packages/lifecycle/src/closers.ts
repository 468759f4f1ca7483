import type { Logger } from "@vvs/logging";

/** What must be closed at the end, in the reverse of the order in which it was opened. */
export interface Closers {
  /** Registers a close; call it on the line after the resource was opened. */
  onClose(name: string, close: () => unknown): void;
  /** Closes all; one that fails is logged and holds up no other. */
  closeAll(): Promise<void>;
}

export function createClosers(logger: Logger): Closers {
  const stack: { name: string; close: () => unknown }[] = [];
  return {
    onClose: (name, close) => void stack.push({ name, close }),
    async closeAll() {
      for (let entry = stack.pop(); entry; entry = stack.pop()) {
        try {
          await entry.close();
        } catch (error) {
          logger.error({ err: error, resource: entry.name }, "a resource did not close");
        }
      }
    },
  };
}
