import { html } from "@vvs/http/html";
import { codeBlock } from "./code.ts";
import { program } from "./programs.ts";

/** How a client keeps a copy of all events. */
export const keepEvents = html`<p><a href="#listEvents"><code>GET /v1/events</code></a> returns the changes of all your monitors, also of those without a webhook. With <code>after</code> it reads forward: oldest first, in the order in which they were recorded.</p>
<ul>
<li>Begin with <code>after=start</code>, the oldest event that is kept. Then send the <code>next_cursor</code> of each answer. It is always there, also if <code>events</code> is empty.</li>
<li><code>wait=20</code> holds the call until there is an event, for at most 20 s. Ten calls of an organization can wait at the same time. Set the timeout of your HTTP client to more than 25 s.</li>
<li>Store the cursor after the events of its page, in the same transaction if you have one. A crash in between then repeats a page and skips none, so keep each <code>id</code> once.</li>
<li>The order is that of recording. To know the newest state of a vendor, compare <code>detected_at</code>, or read the <a href="#getVerification">verification</a> that the event names.</li>
<li><a href="#error-cursor_expired"><code>cursor_expired</code></a>: you did not read for so long that events were deleted. Begin again with <code>start</code>, and verify your vendors once for what is missing.</li>
</ul>
<p>Here a file stands for your database. Stop the program whenever you like: it goes on where it was.</p>
${codeBlock("keep-events-curl", "Shell: the next page", program("keep-events.sh"), "curl")}
${codeBlock("keep-events-typescript", "keep-events.mjs", program("keep-events.mjs"), "typescript")}
${codeBlock("keep-events-python", "keep_events.py", program("keep_events.py"), "python")}
${codeBlock("keep-events-go", "keep-events.go", program("keep-events.go"), "go")}`;
