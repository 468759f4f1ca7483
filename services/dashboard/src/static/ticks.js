// Ticks the check that a field is for while something is typed there, in forms with checks. Without this script the server adds
// the check.
for (const field of document.querySelectorAll("input[data-ticks]")) {
  const box = field.form.querySelector(`input[type=checkbox][value="${field.dataset.ticks}"]`);
  field.addEventListener("input", () => {
    if (box && field.value.trim() !== "") box.checked = true;
  });
}
