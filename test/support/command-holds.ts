import { atEnd } from "@vvs/testing";
import type { AbstractCursor, Collection, Db } from "mongodb";

type Method = "insertMany" | "aggregate" | "find";

/**
 * Lets the tests of a file hold commands of the clients that `connectMongo` makes in this process, so that other calls arrive
 * meanwhile. `db` is a database of one of them.
 */
export function heldCommands(db: Db) {
  const shared: Pick<Collection, Method> = Object.getPrototypeOf(db.collection("any"));
  const { insertMany, aggregate, find } = shared;
  atEnd(() => Object.assign(shared, { insertMany, aggregate, find }));
  const holds = new Map<string, { reach: () => void; released: Promise<void> }>();

  async function wait(method: Method, { collectionName }: Collection): Promise<void> {
    const held = holds.get(`${method} ${collectionName}`);
    held?.reach();
    await held?.released;
  }

  shared.insertMany = async function (this: Collection, ...args) {
    await wait("insertMany", this);
    return insertMany.apply(this, args);
  };
  const heldCursor = (method: "aggregate" | "find", make: (...args: never[]) => AbstractCursor) =>
    function (this: Collection, ...args: never[]) {
      const cursor = make.apply(this, args);
      const toArray = cursor.toArray.bind(cursor);
      cursor.toArray = async () => {
        await wait(method, this);
        return toArray();
      };
      return cursor;
    };
  Object.assign(shared, { aggregate: heldCursor("aggregate", aggregate), find: heldCursor("find", find) });

  return {
    /** Holds the commands that begin from now on. `reached` resolves when the first one is held. */
    hold(method: Method, collection: string) {
      const [reached, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      const name = `${method} ${collection}`;
      holds.set(name, { reach: reached.resolve, released: released.promise });
      return {
        reached: reached.promise,
        release() {
          holds.delete(name);
          released.resolve();
        },
      };
    },
  };
}
