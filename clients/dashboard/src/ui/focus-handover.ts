import { type RefObject, useLayoutEffect, useRef } from "react";

const CONTROLS = ":is(a, button, select):not(dialog *)";

/**
 * Returns a ref for a row of a table in a panel. When the row is removed while it has the focus, the focus moves to the
 * last control of the next row, of the previous row, or to the heading of the panel. The browser would start again at
 * the top of the page.
 */
export function useFocusHandover(): RefObject<HTMLTableRowElement | null> {
  const ref = useRef<HTMLTableRowElement>(null);
  useLayoutEffect(() => {
    const row = ref.current;
    return () => {
      if (row?.contains(document.activeElement)) handOver(row);
    };
  }, []);
  return ref;
}

/** Chooses the element after the update of the page, which may remove more than the row. */
function handOver(row: HTMLTableRowElement): void {
  const heading = row.closest("section")?.querySelector("h2");
  const rows = [row.nextElementSibling, row.previousElementSibling];
  queueMicrotask(() => {
    const controls = rows.map((near) => [...(near?.querySelectorAll<HTMLElement>(CONTROLS) ?? [])].at(-1));
    [...controls, heading].find((element) => element?.isConnected)?.focus();
  });
}
