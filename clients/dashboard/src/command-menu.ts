type Listener = () => void;

const listeners = new Set<Listener>();

/** Opens the command menu of the page. */
export function openCommandMenu(): void {
  for (const listener of listeners) listener();
}

/** Calls `listener` when the command menu is to be opened: by a button, or with ⌘K or Ctrl+K. */
export function onOpenCommandMenu(listener: Listener): () => void {
  listeners.add(listener);
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key.toLowerCase() !== "k" || !(event.metaKey || event.ctrlKey) || event.altKey || event.shiftKey) return;
    event.preventDefault();
    listener();
  };
  addEventListener("keydown", onKeyDown);
  return () => {
    listeners.delete(listener);
    removeEventListener("keydown", onKeyDown);
  };
}
