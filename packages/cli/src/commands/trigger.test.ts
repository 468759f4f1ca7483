import { expect, test } from "@jest/globals";
import { answer, type Handler, startApi } from "../testing/fake-api.ts";
import { runProgram } from "../testing/run-program.ts";

/** A sandbox whose monitor has an event at the second look. */
function sandbox(onEvents: () => void = () => undefined): Handler {
  let looks = 0;
  return ({ method, path }, response) => {
    if (path === "/v1/entities/lookup") return answer(response, 200, { id: "ent_1" });
    if (path === "/v1/monitors") return answer(response, 201, { id: "mon_1" });
    if (method === "DELETE") return answer(response, 200, { id: "mon_1", status: "canceled" });
    onEvents();
    const events = looks++ === 0 ? [] : [{ id: "evt_1", monitor_id: "mon_1", changes: [] }];
    answer(response, 200, { events, next_cursor: null });
  };
}

test("waits for the first event of a new monitor, prints it and cancels the monitor", async () => {
  await using api = await startApi(sandbox());
  const { code, stdout } = await runProgram(["trigger", "--json"], { env: api.env });
  expect([code, JSON.parse(stdout).id]).toEqual([0, "evt_1"]);
  expect(api.calls.map(({ method, path }) => `${method} ${path.split("?")[0]}`)).toEqual([
    "POST /v1/entities/lookup",
    "POST /v1/monitors",
    "GET /v1/monitors/mon_1/events",
    "GET /v1/monitors/mon_1/events",
    "DELETE /v1/monitors/mon_1",
  ]);
  expect(api.calls[1]!.body).toEqual({ entity_id: "ent_1", checks: ["sam_registration"], frequency: "hourly" });
});

test("the monitor is canceled after Ctrl-C too", async () => {
  const aborting = new AbortController();
  await using api = await startApi(sandbox(() => aborting.abort()));
  const { code } = await runProgram(["trigger"], { env: api.env, signal: aborting.signal });
  expect([code, api.calls.at(-1)!.method]).toEqual([130, "DELETE"]);
});
