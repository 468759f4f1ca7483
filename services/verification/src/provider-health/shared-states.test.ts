import { expect, test } from "@jest/globals";
import { currentDeadline, type Deadline, deadlineAt, underDeadline } from "@vvs/deadline";
import { eventually, silentLogger } from "@vvs/testing";
import { shareWork } from "../providers/sharing/single-flight.ts";
import { defaultCircuitSettings } from "./circuit.ts";
import { unknownProvider } from "./provider-state.ts";
import { createSharedStates } from "./shared-states.ts";

const over = () => deadlineAt(Date.now() - 1);

test("a call's result is stored even after the call's deadline, and again after the database was unavailable", async () => {
  const deadlines: (Deadline | undefined)[] = [];
  const states = createSharedStates({
    store: {
      readAll: async () => new Map(),
      async add() {
        deadlines.push(currentDeadline());
        if (deadlines.length === 1) throw new Error("the database is unavailable");
        return unknownProvider;
      },
    },
    settings: defaultCircuitSettings,
    now: () => new Date(),
    logger: silentLogger,
    limit: (work) => work,
  });
  underDeadline(over(), () => states.add("p", { kind: "fault", at: new Date() }));
  await eventually(() => deadlines.length === 2);
  expect(deadlines).toEqual([undefined, undefined]);
});

test("work that several calls share does not end with the deadline of the call that started it", async () => {
  const work = underDeadline(over(), () => shareWork(async () => currentDeadline()));
  expect(await work.wait(new AbortController().signal)).toBeUndefined();
});
