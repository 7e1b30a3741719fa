/** A message that appears for some seconds in the corner of the window. */
export interface ToastMessage {
  title: string;
  description?: string;
  /** A button, such as the one that undoes what the message is about. */
  action?: { label: string; run: () => void };
}

let waiting: ToastMessage[] = [];
let listener: (() => void) | undefined;

/** Shows a message. Screen readers read it. */
export function showToast(title: string, more: string | Omit<ToastMessage, "title"> = {}): void {
  waiting.push({ title, ...(typeof more === "string" ? { description: more } : more) });
  listener?.();
}

/** Calls `onToast` when messages wait, which `takeToasts` returns. */
export function listenForToasts(onToast: () => void): () => void {
  listener = onToast;
  if (waiting.length > 0) onToast();
  return () => {
    if (listener === onToast) listener = undefined;
  };
}

/** Returns the messages that have not been shown. */
export function takeToasts(): ToastMessage[] {
  const taken = waiting;
  waiting = [];
  return taken;
}
