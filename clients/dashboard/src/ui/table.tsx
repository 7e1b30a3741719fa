import { Children, createContext, type ReactNode, type RefObject, useContext, useLayoutEffect, useRef } from "react";

interface TableProps {
  /** For screen readers. */
  caption: string;
  columns: readonly string[];
  children: ReactNode;
}

const ColumnsContext = createContext<readonly string[]>([]);
const ColumnContext = createContext("");

/**
 * A table of `Row`s. On a narrow screen each row is a card, in which every cell has the name of its column. The roles are
 * written out, because browsers remove those of a table that is not displayed as one.
 */
export function Table({ caption, columns, children }: TableProps) {
  return (
    // A scrollable element must be focusable for keyboard users.
    <div className="overflow-x-auto" role="group" aria-label={caption} tabIndex={0}>
      <table role="table" className="w-full text-left text-sm max-sm:block">
        <caption className="sr-only">{caption}</caption>
        <thead role="rowgroup" className="max-sm:sr-only">
          <tr role="row" className="border-b border-line">
            {columns.map((column) => (
              <th key={column} role="columnheader" scope="col" className="py-2 pr-4 font-medium whitespace-nowrap">
                {column}
              </th>
            ))}
          </tr>
        </thead>
        <ColumnsContext value={columns}>
          <tbody role="rowgroup" className="divide-y divide-line max-sm:block">
            {children}
          </tbody>
        </ColumnsContext>
      </table>
    </div>
  );
}

/** A row of a table. Its children are one `Cell` for each column. */
export function Row({ children }: { children: ReactNode }) {
  const columns = useContext(ColumnsContext);
  const row = useFocusHandover();
  return (
    <tr ref={row} role="row" className="max-sm:block max-sm:py-3">
      {Children.toArray(children).map((cell, index) => (
        <ColumnContext key={columns[index] ?? index} value={columns[index] ?? ""}>
          {cell}
        </ColumnContext>
      ))}
    </tr>
  );
}

export function Cell({ children }: { children: ReactNode }) {
  const column = useContext(ColumnContext);
  return (
    <td
      role="cell"
      className="py-2 pr-4 align-middle max-sm:flex max-sm:gap-3 max-sm:py-1 max-sm:pr-0 max-sm:has-[>div:empty]:hidden"
    >
      <span aria-hidden className="w-24 shrink-0 text-muted sm:hidden">
        {column}
      </span>
      <div className="min-w-0 wrap-break-word max-sm:wrap-anywhere">{children}</div>
    </td>
  );
}

const CONTROLS = ":is(a, button, select):not(dialog *)";

/**
 * Returns a ref for a row of a table in a panel. When the row is removed while it has the focus, the focus moves to the
 * last control of the next row, of the previous row, or to the heading of the panel. The browser would start again at
 * the top of the page.
 */
function useFocusHandover(): RefObject<HTMLTableRowElement | null> {
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
