import { type Html, html } from "@vvs/http/html";

/** The languages of samples, in the order of the switch, with their names for people. The first one is shown at first. */
export const languages = { curl: "curl", typescript: "TypeScript", python: "Python", go: "Go" } as const;

export type Language = keyof typeof languages;

export const languageCodes = Object.keys(languages) as Language[];

/** The control that chooses the language of all samples of the page. Style sheets do it, so that it works without scripts. */
export const languageSwitch = html`<fieldset class="languages"><legend>Samples in</legend>${languageCodes.map(
  (code, at) =>
    html`<label><input type="radio" name="language" id="language-${code}" value="${code}" autocomplete="off"${at === 0 && html` checked`}>${languages[code]}</label>`,
)}</fieldset>`;

/** Returns a block of code with a button that copies it. With languages it is shown only for these. */
export function codeBlock(id: string, title: string, code: string, ...only: readonly Language[]): Html {
  return html`<figure class="code"${only.length > 0 && html` data-for="${only.join(" ")}"`}><figcaption>${title} <button type="button" data-copy="${id}" hidden>Copy</button></figcaption><pre tabindex="0" aria-label="${title}"><code id="${id}">${code}</code></pre></figure>
`;
}

/** Returns a block of code for each language. */
export function codeBlocks(id: string, samples: Readonly<Record<Language, string>>): Html {
  return html`${languageCodes.map((code) => codeBlock(`${id}-${code}`, languages[code], samples[code], code))}`;
}
