// Without this script the page has everything but Copy buttons, the memory of the language and the search.

for (const button of document.querySelectorAll("[data-copy]")) {
  const source = document.getElementById(button.dataset.copy);
  if (!source || !navigator.clipboard) continue;
  button.hidden = false;
  button.setAttribute("aria-live", "polite");
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(source.textContent);
      button.textContent = "Copied";
    } catch {
      getSelection().selectAllChildren(source);
      button.textContent = "Selected. Press Ctrl+C to copy.";
    }
    setTimeout(() => {
      button.textContent = "Copy";
    }, 3000);
  });
}

/** The chosen language is remembered where the browser allows it. */
const memory = (() => {
  try {
    return localStorage;
  } catch {
    return {};
  }
})();
for (const choice of document.querySelectorAll("[name=language]")) {
  choice.checked ||= choice.value === memory.language;
  choice.addEventListener("change", () => {
    memory.language = choice.value;
  });
}

const MOST = 20;
const search = document.querySelector("search");
const [input, count, list] = search.querySelectorAll("input, output, ol");
/** Everything that can be found: headings, with the path and id of operations, and rows of errors and reasons. */
const entries = [...document.querySelectorAll("main h2, main h3, main tr[id]")].map((element) => {
  const place = element.closest("[id]:not(h2)");
  const title = (element.querySelector("th") ?? element).textContent;
  const more = element.matches("tr") ? [...element.querySelectorAll("td")].at(-2) : place.querySelector("h3 + .path");
  const detail = element.matches("h2") ? "" : (more?.textContent ?? "");
  return { id: place.id, title, detail, text: `${title} ${detail} ${place.id}`.toLowerCase() };
});

function find() {
  const text = input.value.trim().toLowerCase();
  const words = text.split(/\s+/);
  const rank = ({ title, id }) => [title, id].some((one) => one.toLowerCase().startsWith(text));
  const found = text === "" ? [] : entries.filter((entry) => words.every((word) => entry.text.includes(word)));
  found.sort((one, other) => rank(other) - rank(one));
  count.textContent = text === "" ? "" : `${found.length} found`;
  if (text !== "" && found.length === 0) return list.replaceChildren("Nothing found.");
  list.replaceChildren(
    ...found.slice(0, MOST).map(({ id, title, detail }) => {
      const item = document.createElement("li");
      const link = document.createElement("a");
      link.href = `#${id}`;
      link.textContent = title;
      item.append(link, ` ${detail}`);
      return item;
    }),
  );
}

function close() {
  input.value = "";
  find();
}

search.hidden = false;
input.addEventListener("input", find);
list.addEventListener("click", close);
search.addEventListener("keydown", (event) => {
  const links = [...list.querySelectorAll("a")];
  const at = links.indexOf(document.activeElement);
  const goes = { ArrowDown: links[at + 1], ArrowUp: links[at - 1] ?? input }[event.key];
  if (event.key === "Escape") {
    close();
    input.focus();
  } else if (event.key === "Enter" && event.target === input) links[0]?.click();
  else if (goes) goes.focus();
  else return;
  event.preventDefault();
});
document.addEventListener("keydown", (event) => {
  if (event.key !== "/" || event.ctrlKey || event.metaKey || event.target.matches("input[type=search]")) return;
  event.preventDefault();
  input.focus();
});
