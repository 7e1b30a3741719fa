import type { ReactNode } from "react";

interface TableProps {
  /** For screen readers. */
  caption: string;
  columns: readonly string[];
  children: ReactNode;
}

export function Table({ caption, columns, children }: TableProps) {
  return (
    // A scrollable element must be focusable for keyboard users.
    <div className="overflow-x-auto" role="group" aria-label={caption} tabIndex={0}>
      <table className="w-full text-left text-sm">
        <caption className="sr-only">{caption}</caption>
        <thead>
          <tr className="border-b border-zinc-200 dark:border-zinc-800">
            {columns.map((column) => (
              <th key={column} scope="col" className="py-2 pr-4 font-medium whitespace-nowrap">
                {column}
              </th>
            ))}
          </tr>
        </thead>
        <tbody className="divide-y divide-zinc-200 dark:divide-zinc-800">{children}</tbody>
      </table>
    </div>
  );
}

export function Cell({ children }: { children: ReactNode }) {
  return <td className="py-2 pr-4 align-middle">{children}</td>;
}
