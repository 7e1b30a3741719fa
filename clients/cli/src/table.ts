/** The longest cell of a table, in characters. */
const MAX_CELL = 60;
const MIN_CELL = 6;
const GAP = "  ";

export type Cell = string;

/**
 * Renders rows under their headings.
 *
 * @param width - the width of the terminal; `null` for a pipe, whose cells are not cut
 */
export function renderTable(
  headings: readonly string[],
  rows: readonly (readonly Cell[])[],
  width: number | null,
): string {
  const natural = headings.map((heading, at) => Math.max(heading.length, ...rows.map((row) => (row[at] ?? "").length)));
  if (width === null) return renderRows([headings, ...rows], natural);
  const widths = fit(natural, width);
  return widths === null ? renderRecords(headings, rows, width) : renderRows([headings, ...rows], widths);
}

/** Cuts the widest columns until all columns fit; `null` when even short columns do not. */
function fit(natural: readonly number[], width: number): number[] | null {
  const widths = natural.map((each) => Math.min(each, MAX_CELL));
  const total = () => widths.reduce((sum, each) => sum + each + GAP.length, -GAP.length);
  while (total() > width) {
    const widest = Math.max(...widths);
    if (widest <= MIN_CELL) return null;
    widths[widths.lastIndexOf(widest)] = widest - 1;
  }
  return widths;
}

function renderRows(rows: readonly (readonly Cell[])[], widths: readonly number[]): string {
  return rows
    .map((row) =>
      row
        .map((cell, at) => cut(cell, widths[at] ?? 0).padEnd(widths[at] ?? 0))
        .join(GAP)
        .trimEnd(),
    )
    .join("\n");
}

/** One line for each cell, for terminals that are too narrow for columns. */
function renderRecords(headings: readonly string[], rows: readonly (readonly Cell[])[], width: number): string {
  return rows.map((row) => row.map((cell, at) => cut(`${headings[at] ?? ""}: ${cell}`, width)).join("\n")).join("\n\n");
}

export function cut(text: string, width: number): string {
  return text.length <= width ? text : `${text.slice(0, Math.max(width - 1, 0))}…`;
}
