// Creates or uses a passkey for the form that asks for one. Without this script, or in a browser without passkey
// support, the page keeps its note that passkeys are not supported.
const form = document.querySelector("form[data-passkey]");

const problems = {
  InvalidStateError: "This device already has a passkey for your account.",
  NotAllowedError: "No passkey was used, because the request was canceled or timed out.",
  SecurityError: "Passkeys can’t be used at this web address.",
};

const bytesOf = (text) =>
  Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (character) => character.charCodeAt(0));

const textOf = (buffer) =>
  btoa(String.fromCharCode(...new Uint8Array(buffer)))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replaceAll("=", "");

const withBytes = (credentials = []) => credentials.map((each) => ({ ...each, id: bytesOf(each.id) }));

async function createPasskey(options) {
  const publicKey = {
    ...options,
    challenge: bytesOf(options.challenge),
    user: { ...options.user, id: bytesOf(options.user.id) },
    excludeCredentials: withBytes(options.excludeCredentials),
  };
  const credential = await navigator.credentials.create({ publicKey });
  const { clientDataJSON, attestationObject } = credential.response;
  const transports = credential.response.getTransports?.() ?? [];
  return answer(credential, { clientDataJSON, attestationObject }, { transports });
}

async function usePasskey(options) {
  const allowCredentials = withBytes(options.allowCredentials);
  const publicKey = { ...options, challenge: bytesOf(options.challenge), allowCredentials };
  const credential = await navigator.credentials.get({ publicKey });
  const { clientDataJSON, authenticatorData, signature, userHandle } = credential.response;
  return answer(credential, { clientDataJSON, authenticatorData, signature, ...(userHandle && { userHandle }) });
}

function answer(credential, buffers, others = {}) {
  const encoded = Object.fromEntries(Object.entries(buffers).map(([name, buffer]) => [name, textOf(buffer)]));
  const { id, type } = credential;
  return JSON.stringify({ id, rawId: id, type, clientExtensionResults: {}, response: { ...encoded, ...others } });
}

async function ask() {
  const button = form.querySelector("button");
  const problem = form.querySelector("[data-passkey-problem]");
  button.disabled = true;
  problem.hidden = true;
  try {
    const options = JSON.parse(form.dataset.options);
    form.elements.response.value = await (form.dataset.passkey === "create" ? createPasskey : usePasskey)(options);
    form.submit();
  } catch (error) {
    problem.textContent = `${problems[error.name] ?? "The passkey could not be used."} Try again, or sign in another way.`;
    problem.hidden = false;
    button.disabled = false;
  }
}

if (form && window.PublicKeyCredential) {
  document.querySelector("[data-no-passkeys]").hidden = true;
  form.hidden = false;
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    ask();
  });
  if (form.dataset.now !== undefined) ask();
}
