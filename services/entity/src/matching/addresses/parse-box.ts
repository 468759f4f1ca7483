/** A box in a post office or on a rural route, and its words: from `start` up to, but not including, `end`. */
export interface Box {
  readonly street: { readonly box?: string; readonly name?: readonly string[]; readonly type?: string };
  readonly start: number;
  readonly end: number;
}

const ruralRoute = /^(?:RR|RFD|HC|HCR)$/;
const anyRoute = /^(?:RR|RFD|HC|HCR|RT|RTE|ROUTE)$/;

/** Finds a post office box, else a rural or star route with its box. */
export function readBox(words: readonly string[]): Box | undefined {
  let found: Box | undefined;
  for (let at = 0; at < words.length; at++) {
    const box = postOfficeBox(words, at) ?? ruralBox(words, at);
    if (!box) continue;
    // Of several boxes, such as a lockbox in a post office box, the last counts.
    found = found ? { ...box, street: { ...found.street, ...box.street }, start: found.start } : box;
    at = box.end - 1;
  }
  return found;
}

function postOfficeBox(words: readonly string[], at: number): Box | undefined {
  const isPost = words[at] === "PO" && /^(?:BOX|DRAWER)$/.test(words[at + 1] ?? "");
  const isLock = words[at] === "LOCK" && words[at + 1] === "BOX";
  const isOther = /^(?:BOX|LOCKBOX|LBX|DRAWER)$/.test(words[at]!) && /[\d#]/.test(words[at + 1] ?? "");
  if (!isPost && !isLock && !isOther) return undefined;
  const id = idAt(words, at + (isOther ? 1 : 2));
  return id && { street: { box: id.id }, start: at, end: id.next };
}

function ruralBox(words: readonly string[], at: number): Box | undefined {
  const word = words[at]!;
  const two =
    (word === "RURAL" || word === "STAR" || word === "HC" || word === "CONTRACT") && anyRoute.test(words[at + 1] ?? "");
  if (!two && !anyRoute.test(word)) return undefined;
  const route = idAt(words, at + (two ? 2 : 1));
  if (!route || !/\d/.test(route.id)) return undefined;
  const box = words[route.next] === "BOX" ? idAt(words, route.next + 1) : undefined;
  // "Route 7" without a box is a highway.
  if (!box && !two && !ruralRoute.test(word)) return undefined;
  const type = word.startsWith("HC") || word === "CONTRACT" ? "HC" : "RR";
  return { street: { name: [route.id], type, ...(box && { box: box.id }) }, start: at, end: box?.next ?? route.next };
}

function idAt(words: readonly string[], at: number): { id: string; next: number } | undefined {
  const next = words[at] === "#" || words[at] === "NO" ? at + 1 : at;
  const id = words[next];
  return id === undefined ? undefined : { id, next: next + 1 };
}
