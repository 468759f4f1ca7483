// Lets a file be dropped on a form, or pasted into it. Without this script it is chosen.
for (const field of document.querySelectorAll("input[type=file]")) {
  const { form } = field;
  const take = (event, { files }) => {
    if (files.length === 0) return;
    event.preventDefault();
    field.files = files;
  };
  form.addEventListener("dragover", (event) => event.preventDefault());
  form.addEventListener("drop", (event) => take(event, event.dataTransfer));
  form.addEventListener("paste", (event) => {
    // Spreadsheet programs add a picture of the cells.
    if (!event.clipboardData.types.includes("text/plain")) take(event, event.clipboardData);
  });
}
