import type { Command } from "../command.ts";
import { exitCodes, UsageError } from "../exit-codes.ts";
import { afterOption, beginning, followLimits } from "../follow.ts";
import { limitOption, printList } from "../lists.ts";
import { eventsText } from "./monitors.ts";

export const events: Command = {
  name: "events",
  summary: "List the changes that all monitors found, or follow new ones.",
  options: {
    ...limitOption,
    follow: { does: "Print new events as they come, oldest first, until Ctrl-C." },
    after: { ...afterOption, does: `With --follow. ${afterOption.does}` },
  },
  help: `
Without --follow: newest first. With --json one event per line.
With --follow --json each line is {"events": […], "next_cursor": "…"}. Store the cursor once you have handled the events,
and pass it as --after to continue without a gap.

  vendor-verification events --follow
  vendor-verification events --follow --after start --json`,
  async run({ client, output, signal }, args) {
    if (!args.flag("follow")) {
      if (args.text("after") !== undefined) throw new UsageError("--after needs --follow.");
      const read = (page: { limit: number }) => client().allEvents(page, { signal });
      const none = "There are none yet. In the sandbox `vendor-verification trigger` makes one.";
      return printList(output, args, { read, text: eventsText, none });
    }
    if (args.text("limit") !== undefined) throw new UsageError("--limit can't be given together with --follow.");
    const caller = client();
    const after = await beginning(caller, args.text("after"), signal);
    output.note("Waiting for events. Ctrl-C ends.");
    try {
      for await (const page of caller.followEvents({ after }, { signal, ...followLimits })) {
        if (page.events.length > 0) output.result(page, () => eventsText(page.events));
      }
    } catch (error) {
      if (!signal.aborted) throw error;
    }
    return exitCodes.ok;
  },
};
