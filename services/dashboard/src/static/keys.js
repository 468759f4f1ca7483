// Keyboard shortcuts: ? for help, / to find anything, f to filter, g and a letter to go to a section. Without this script the
// help button stays hidden.
const SECOND_KEY_MS = 1500;
const STORED = "shortcuts";

const help = document.getElementById("shortcuts");
const isUsed = document.getElementById("shortcuts-used");
let wentAt = Number.NEGATIVE_INFINITY;

/** Reads or writes the setting; null if the browser does not allow storage. */
function stored(write) {
  try {
    if (write) localStorage.setItem(STORED, write);
    return localStorage.getItem(STORED);
  } catch {
    return null;
  }
}

const isTyping = (element) => element.closest("input:not([type=checkbox], [type=radio]), select, textarea") !== null;

/** Focuses a field; opens the menu or the filter that it is in, which can be closed in narrow windows. */
function focusOn(field) {
  field?.closest("details")?.setAttribute("open", "");
  field?.focus();
  return field !== null;
}

function act(event) {
  const isSecond = event.timeStamp - wentAt < SECOND_KEY_MS;
  wentAt = Number.NEGATIVE_INFINITY;
  if (isSecond) {
    const link = document.querySelector(`[data-key="${CSS.escape(event.key)}"]`);
    if (link) location.assign(link.href);
    return link !== null;
  }
  if (event.key === "?") help.showModal();
  else if (event.key === "/") return focusOn(document.getElementById("find"));
  else if (event.key === "f")
    return focusOn(document.querySelector("main [role=search] input:not([type=hidden]), main [role=search] select"));
  else if (event.key === "g") wentAt = event.timeStamp;
  else return false;
  return true;
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  if (help?.open || !isUsed?.checked || isTyping(event.target)) return;
  if (act(event)) event.preventDefault();
});

if (help) {
  isUsed.checked = stored() !== "off";
  isUsed.addEventListener("change", () => stored(isUsed.checked ? "on" : "off"));
  const button = document.querySelector("[data-help]");
  button.hidden = false;
  button.addEventListener("click", () => help.showModal());
}
