// Makes Copy buttons copy the element that they name. Without this script the buttons stay hidden.
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
