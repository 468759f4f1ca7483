import type { Db } from "mongodb";

type Method = (...args: unknown[]) => unknown;

/** Returns a database like `db` that calls `before`, with the arguments, before a method of a collection. */
export function hookedDb(db: Db, method: "find", before: (...args: unknown[]) => void, collection?: string): Db;
/** The same for an asynchronous method, which waits for `before`. */
export function hookedDb(
  db: Db,
  method: "insertMany" | "findOne" | "updateOne" | "updateMany",
  before: (...args: unknown[]) => Promise<void>,
  collection?: string,
): Db;
export function hookedDb(db: Db, method: string, before: Method, hooked = "deliveries"): Db {
  return replacing(db, "collection", (collection) => (name) => {
    const found = collection(name) as object;
    if (name !== hooked) return found;
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
