// Applies a filter when something is chosen, or typed and left, and focuses the same field afterwards. Without this script
// its button, which is hidden where there are scripts, does it.
for (const form of document.querySelectorAll("form[data-applied]")) {
  /** Reads or writes the name of the field to focus; null if the browser does not allow storage. */
  const focused = (write) => {
    try {
      if (write !== undefined) sessionStorage.setItem("filter-field", write);
      return sessionStorage.getItem("filter-field");
    } catch {
      return null;
    }
  };

  const apply = () => {
    addEventListener("pagehide", () =>
      focused(form.contains(document.activeElement) ? document.activeElement.name : ""),
    );
    form.requestSubmit();
  };

  const name = focused();
  focused("");
  if (name) form.elements.namedItem(name)?.focus();

  form.addEventListener("change", ({ target }) => {
    if (target.matches("select")) apply();
  });
  // A date changes with each digit that is typed.
  form.addEventListener("focusout", ({ target }) => {
    if (target.matches("input") && target.value !== target.defaultValue) apply();
  });
}
