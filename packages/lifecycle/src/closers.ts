import type { Logger } from "@vvs/logging";

/** Closes resources in the reverse order of their opening. */
export interface Closers {
  /** Registers a close; call it on the line after the resource was opened. */
  onClose(name: string, close: () => unknown): void;
  /** Closes all resources. If one fails, that is logged, and the others are still closed. */
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
          logger.error({ err: error, resource: entry.name }, "a resource could not be closed");
        }
      }
    },
  };
}
