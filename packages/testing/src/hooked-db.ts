import type { Db } from "mongodb";

type Method = (...args: unknown[]) => unknown;

/**
 * Returns a database like `db` that calls `before`, with the arguments, before a method of a collection. An asynchronous method
 * waits for what it returns; if it throws, the method fails with that and does nothing.
 */
export function hookedDb(db: Db, name: string, method: string, before: (...args: unknown[]) => unknown): Db {
  return replacing(db, "collection", (collection) => (asked) => {
    const found = collection(asked) as object;
    if (asked !== name) return found;
    return replacing(found, method, (original) => (...args) => {
      const held = before(...args);
      return held instanceof Promise ? held.then(() => original(...args)) : original(...args);
    });
  });
}

function replacing<T extends object>(target: T, name: string, replacement: (original: Method) => Method): T {
  return new Proxy(target, {
    get(on, key) {
      const value = Reflect.get(on, key);
      if (typeof value !== "function") return value;
      const bound = value.bind(on) as Method;
      return key === name ? replacement(bound) : bound;
    },
  });
}
