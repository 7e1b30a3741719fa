import { useLocation, useNavigate } from "@tanstack/react-router";

/** Returns a text of the query of the URL; an empty text if it has none. */
export function useSearchText(name: string): string {
  return readSearchText(useLocation().search, name);
}

/** Returns a text of a query; an empty text if it has none. */
export function readSearchText(search: Readonly<Record<string, unknown>>, name: string): string {
  const value = search[name];
  // The router reads a query such as `?q=2026` as a number.
  return typeof value === "string" ? value : typeof value === "number" ? String(value) : "";
}

/** Returns a function that changes the query of the URL, so that a reload and a copied link show the same page. */
export function useChangeSearch(): (changes: Record<string, string>, options?: { replace: boolean }) => void {
  const navigate = useNavigate();
  return (changes, { replace } = { replace: true }) =>
    void navigate({
      to: ".",
      search: (search: Record<string, unknown>) =>
        Object.fromEntries(Object.entries({ ...search, ...changes }).filter(([, value]) => value !== "")),
      replace,
      resetScroll: false,
    });
}
