import { type Check, checkDefinitions, checkNames, toCheckType } from "@vvs/checks";
import type { Provider } from "@vvs/proto/verification/v1/verification";
import { toProtoEnvironment } from "@vvs/tenant";
import { type Html, html } from "../http/html.ts";
import type { PageHandler, Visit } from "../http/session.ts";
import type { PageContext } from "../page/page-context.ts";
import { asCurl } from "../ui/curl.ts";
import { checkTitle, facts, section, state, timeAgo } from "../ui/parts.ts";
import { numberText, providerName } from "../ui/vocabulary.ts";
import { SAM_GOV_CALLS_PATH } from "./sam-gov-calls.ts";

/** Creates the handler that shows the state of the providers of an environment. */
export function createProvidersHandler({ verification, layout, apiBaseUrl }: PageContext): PageHandler {
  return async (_request, response, visit) => {
    const environment = toProtoEnvironment(visit.view.environment);
    const { providers } = await verification.listProviders({ environment });
    const content = html`<p>Providers answer the checks in the ${visit.view.name} environment. They are called in this order. If one does not answer, the next is called, and the first answer counts. If none answers, the check ends without an answer. It never fails for that reason.</p>
${checkNames.map((check) => checkSection(visit, check, providers))}
${asCurl(apiBaseUrl, "listProviders", "List providers", { path: "/v1/providers" })}`;
    layout.sendPage(response, { visit, title: "Providers", content });
  };
}

const meanings: Readonly<Record<string, string>> = {
  degraded:
    "The provider recently failed to answer, or is being tried again after failures. If it does not answer, the next provider is called.",
  unavailable:
    "The provider can’t be used now, because it failed several times in a row or its quota is used up. The next provider is called instead.",
};

const OUTDATED =
  "The loaded files are too old: the exclusions file may be 3 days old at most. They can’t show that a vendor passes until the operator of this service loads a newer one. The next provider is called instead.";

function checkSection(visit: Visit, check: Check, all: readonly Provider[]): Html {
  const providers = all.filter((provider) => provider.checks.includes(toCheckType(check)));
  return section(check, checkTitle(toCheckType(check)))`<p class="hint">${checkDefinitions[check].question}</p>
${noticeOf(providers)}
${providers.length > 0 && html`<ol class="cards">${providers.map((provider) => providerItem(provider, visit))}</ol>`}`;
}

function noticeOf(providers: readonly Provider[]): Html | undefined {
  if (providers.length === 0) {
    return html`<p class="notice warning">No provider is set up for this check in this environment. It gets no answer, unless a stored one may be used. What to do: the operator of this service sets the credentials of a provider for it. Until then, leave this check out.</p>`;
  }
  if (providers.every((provider) => provider.state === "unavailable")) {
    return html`<p class="notice problem">All providers of this check are unavailable. Until one recovers, the check gets no answer, unless a stored one may be used.</p>`;
  }
  return undefined;
}

function meaningOf({ state, outdated }: Provider): Html | undefined {
  const meaning = outdated ? OUTDATED : meanings[state];
  return meaning === undefined ? undefined : html`<p>${meaning}</p>`;
}

function providerItem(provider: Provider, visit: Visit): Html {
  const { name, quotaRemaining, lastSuccessAt } = provider;
  return html`<li class="card">
<div class="heading"><h3>${providerName(name)} <code class="hint">${name}</code></h3> ${provider.outdated ? state(provider.state, "data too old") : state(provider.state)}</div>
${meaningOf(provider)}
${facts([
  ["Last answer", timeAgo(lastSuccessAt, visit.now) ?? "none yet"],
  ["Calls left today", quotaRemaining === undefined ? "no known limit" : numberText(Number(quotaRemaining))],
])}
${name === "sam_gov_api" && visit.may("operate") && html`<p><a href="${SAM_GOV_CALLS_PATH}">Calls per day</a></p>`}
</li>
`;
}
