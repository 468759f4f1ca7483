// Makes Copy buttons copy their text or the element that they name, and Print buttons print the page. Without this script
// the buttons stay hidden.
for (const button of document.querySelectorAll("[data-copy], [data-copy-text]")) {
  const source = document.getElementById(button.dataset.copy) ?? button.previousElementSibling;
  if (!source || !navigator.clipboard) continue;
  const label = [...button.childNodes];
  button.hidden = false;
  button.setAttribute("aria-live", "polite");
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(button.dataset.copyText ?? source.textContent);
      button.textContent = "Copied";
    } catch {
      getSelection().selectAllChildren(source);
      button.textContent = "Selected. Press Ctrl+C to copy.";
    }
    setTimeout(() => button.replaceChildren(...label), 3000);
  });
}

for (const button of document.querySelectorAll("[data-print]")) {
  button.hidden = false;
  button.addEventListener("click", () => print());
}
