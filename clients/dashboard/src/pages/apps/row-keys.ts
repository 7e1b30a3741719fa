import { type RefObject, useEffect, useRef } from "react";

/** Moves the focus between rows with j and k, and to the search with /. */
export function useRowKeys(
  list: RefObject<HTMLUListElement | null>,
  count: number,
  scrollTo?: (index: number) => void,
): void {
  const latest = useRef({ count, scrollTo });
  latest.current = { count, scrollTo };
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent): void => {
      const target = event.target as HTMLElement;
      if (
        event.metaKey ||
        event.ctrlKey ||
        event.altKey ||
        target.closest("input, textarea, select, [role=dialog]") !== null
      )
        return;
      if (event.key === "/") {
        event.preventDefault();
        document.querySelector<HTMLElement>("#app-search")?.focus();
      }
      const step = { j: 1, k: -1 }[event.key];
      if (step === undefined) return;
      const row = document.activeElement?.closest<HTMLElement>("[data-row]");
      const current = row === null || row === undefined ? null : Number(row.dataset["row"]);
      const index = current === null ? 0 : Math.min(Math.max(current + step, 0), latest.current.count - 1);
      latest.current.scrollTo?.(index);
      // The row may be added to the document by the scrolling.
      requestAnimationFrame(() =>
        list.current?.querySelector<HTMLElement>(`[data-row="${index}"] a[data-app]`)?.focus(),
      );
    };
    addEventListener("keydown", onKeyDown);
    return () => removeEventListener("keydown", onKeyDown);
  }, [list]);
}
