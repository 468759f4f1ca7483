import { afterEach, expect, test } from "@jest/globals";
import { silentLogger as logger } from "@vvs/testing";
import { followSuspensions, runResumption } from "./suspensions.ts";

let stopping = new AbortController();
afterEach(() => {
  stopping.abort();
  stopping = new AbortController();
});

/** An account service whose answers the test provides. */
function fakeAccount() {
  let asked = Promise.withResolvers<PromiseWithResolvers<string[]>>();
  const ask = () => {
    const answer = Promise.withResolvers<string[]>();
    asked.resolve(answer);
    asked = Promise.withResolvers();
    return answer.promise;
  };
  return { ask, question: () => asked.promise };
}

test("an organization is suspended and reactivated with the next answer of account", async () => {
  const account = fakeAccount();
  const first = account.question();
  const { isSuspended, all, firstAnswer } = followSuspensions({
    ask: account.ask,
    pollMs: 1,
    stopping: stopping.signal,
    logger,
  });
  const second = account.question();
  (await first).resolve(["org_a"]);
  await firstAnswer();
  const answer = await second;
  expect([isSuspended("org_a"), isSuspended("org_b")]).toEqual([true, false]);
  expect(all()).toEqual(["org_a"]);
  const third = account.question();
  answer.resolve([]);
  await third;
  expect(isSuspended("org_a")).toBe(false);
});

test("while account is unavailable, the last known set stays in effect", async () => {
  const account = fakeAccount();
  const first = account.question();
  const { isSuspended } = followSuspensions({ ask: account.ask, pollMs: 1, stopping: stopping.signal, logger });
  const second = account.question();
  (await first).resolve(["org_a"]);
  const answer = await second;
  const third = account.question();
  answer.reject(new Error("unavailable"));
  await third;
  expect(isSuspended("org_a")).toBe(true);
});

test("extra runs resume of all organizations but those that are suspended now, until stopped", async () => {
  const asked: (readonly string[])[] = [];
  const resumeExtras = async (suspended: readonly string[]) => {
    asked.push(suspended);
    stopping.abort();
  };
  await runResumption({ all: () => ["org_a"], resumeExtras, stopping: stopping.signal, logger });
  expect(asked).toEqual([["org_a"]]);
});

test("no extra run resumes before account has said who is suspended", async () => {
  const answers: (readonly string[] | undefined)[] = [undefined, ["org_a"]];
  const asked: (readonly string[])[] = [];
  const resumeExtras = async (suspended: readonly string[]) => {
    asked.push(suspended);
    stopping.abort();
  };
  await runResumption({ all: () => answers.shift(), resumeExtras, stopping: stopping.signal, logger, pollMs: 1 });
  expect(asked).toEqual([["org_a"]]);
});

test("if account was never reached, runs begin after a time limit, with no organization known as suspended", async () => {
  const { isSuspended, all, firstAnswer } = followSuspensions({
    ask: () => Promise.reject(new Error("unavailable")),
    firstAnswerMs: 1,
    stopping: stopping.signal,
    logger,
  });
  await firstAnswer();
  expect(isSuspended("org_a")).toBe(false);
  expect(all()).toBeUndefined();
});
