// Shows that a form with a slow answer was sent, and disables its buttons. A form that goes on with the work of the form before
// is sent by itself. Without this script the forms work as they are.
for (const form of document.querySelectorAll("form[data-busy]")) {
  const note = document.createElement("p");
  note.className = "busy";
  note.setAttribute("role", "status");
  const seconds = document.createElement("span");
  seconds.setAttribute("aria-hidden", "true");
  form.append(note);
  let timer;

  form.addEventListener("submit", () => {
    const startedAt = performance.now();
    const count = () => {
      seconds.textContent = ` ${Math.round((performance.now() - startedAt) / 1000)} s`;
    };
    note.textContent = form.dataset.busy;
    note.append(seconds);
    count();
    timer = setInterval(count, 1000);
    // Once the browser has read the form, so that the value of its button is sent.
    setTimeout(() => setDisabled(true));
  });

  function setDisabled(isDisabled) {
    for (const button of form.querySelectorAll("button")) button.disabled = isDisabled;
  }

  // The back button can bring back the page as it was left.
  addEventListener("pageshow", (event) => {
    if (!event.persisted) return;
    clearInterval(timer);
    note.textContent = "";
    setDisabled(false);
  });

  if (form.dataset.goesOn !== undefined) form.requestSubmit();
}
