// Loads the page again every few seconds, but not while somebody uses it with the keyboard. Without this script the browser
// does it.
setInterval(() => {
  if (!document.hidden && document.activeElement === document.body) location.reload();
}, 3000);
