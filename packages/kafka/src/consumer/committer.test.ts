import { expect, test } from "@jest/globals";
import { eventually } from "@vvs/testing";
import type { TopicPartitionOffset } from "kafkajs";
import { createCommitter } from "./committer.ts";

/** A committer whose broker refuses the first commits; a test sets the offset up to which the work is done. */
function setUp(refusals: number, gate: Promise<void> = Promise.resolve()) {
  const state = { done: 0, committed: 0, commits: [] as string[], underWay: 0, most: 0 };
  const committer = createCommitter({
    committable: (): TopicPartitionOffset[] =>
      state.done > state.committed ? [{ topic: "t", partition: 0, offset: String(state.done) }] : [],
    async commit([position]) {
      state.most = Math.max(state.most, ++state.underWay);
      await gate;
      state.underWay--;
      state.commits.push(position!.offset);
      if (state.commits.length <= refusals) throw new Error("rebalancing");
      state.committed = Number(position!.offset);
    },
  });
  return { state, committer };
}

test("work done in the meantime is committed together, and no commit is made without new work", async () => {
  const { state, committer } = setUp(0);
  for (state.done = 1; state.done < 5; state.done++) committer.soon();
  await eventually(() => state.committed === 5);
  committer.soon();
  await committer.finish();
  expect(state.commits).toEqual(["5"]);
});

test("a commit that fails is retried", async () => {
  const { state, committer } = setUp(1);
  state.done = 1;
  committer.soon();
  await eventually(() => state.committed === 1);
  expect(state.commits).toEqual(["1", "1"]);
});

test("the last commit waits for the one in flight, and throws its own error", async () => {
  const gate = Promise.withResolvers<void>();
  const { state, committer } = setUp(2, gate.promise);
  state.done = 1;
  committer.soon();
  await eventually(() => state.underWay === 1);
  state.done = 2;
  const finished = committer.finish();
  gate.resolve();
  await expect(finished).rejects.toThrow("rebalancing");
  expect(state).toMatchObject({ commits: ["1", "2"], most: 1 });
});
