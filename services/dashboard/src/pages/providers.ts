import type { Provider } from "@vvs/proto/verification/v1/verification";
import { checkName, checkNames } from "../checks.ts";
import type { EnvironmentView } from "../environments.ts";
import { type Html, html } from "../http/html.ts";
import { facts, state, time } from "./parts.ts";
import { checkMeaning, providerName } from "./vocabulary.ts";

const meanings: Readonly<Record<string, string>> = {
  available: "It answers.",
  degraded:
    "It failed to answer of late, or is just being tried again. Where it does not answer, the next one is asked.",
  unavailable:
    "It can’t answer at the moment: it failed several times in a row, or its quota is used up. The next one is asked instead.",
};

export function providersPage(options: { view: EnvironmentView; providers: readonly Provider[] }): Html {
  const { view, providers } = options;
  return html`<h1>Providers</h1>
<p>Who answers the ${view.name.toLowerCase()} checks. They are asked in this order: one that gives no answer hands on to the next, and the first answer counts, whatever it is. A check that none of them can answer is an <code>error</code>, never a <code>fail</code>.</p>
${checkNames.map((check) => checkSection(check, providers))}`;
}

function checkSection(check: string, all: readonly Provider[]): Html {
  const providers = all.filter((provider) => provider.checks.some((type) => checkName(type) === check));
  return html`<section aria-labelledby="${check}">
<h2 id="${check}"><code>${check}</code></h2>
<p class="hint">${checkMeaning(check)}</p>
${noticeOf(check, providers)}
${providers.length > 0 && html`<ol class="cards">${providers.map(providerItem)}</ol>`}
</section>`;
}

function noticeOf(check: string, providers: readonly Provider[]): Html | undefined {
  if (providers.length === 0) {
    return html`<p class="notice warning">No provider is set up for <code>${check}</code> here: it comes to <code>error</code>, unless a stored answer may be used.</p>`;
  }
  if (providers.every((provider) => provider.state === "unavailable")) {
    return html`<p class="notice problem">None of them can answer at the moment: until one is back <code>${check}</code> comes to <code>error</code>, unless a stored answer may be used.</p>`;
  }
  return undefined;
}

function providerItem(provider: Provider): Html {
  const { name, quotaRemaining, lastSuccessAt } = provider;
  return html`<li class="card">
<div class="heading"><h3>${providerName(name)} <code class="hint">${name}</code></h3> ${state(provider.state)}</div>
<p>${meanings[provider.state]}</p>
${facts([
  ["Last answer", lastSuccessAt ? time(lastSuccessAt, "second") : "none yet"],
  [
    "Calls left today",
    quotaRemaining === undefined ? "no limit is known" : Number(quotaRemaining).toLocaleString("en-US"),
  ],
])}
</li>
`;
}
