import { cut, displayWidth, pad } from "./display-width.ts";

/** The widest cell of a table, in columns of the terminal. */
const MAX_CELL = 60;
const MIN_CELL = 10;
const GAP = "  ";
/** Ids are copied into other commands, so they are never cut. */
const ID = /(^| )ID$/;

type Row = readonly string[];

/**
 * Renders rows under their headings. Cells are cut so that rows fit, and a terminal that is too narrow for that gets a line
 * for each cell instead, which it may wrap.
 *
 * @param width - the width of the terminal; `null` for a pipe, whose cells are not cut
 */
export function renderTable(headings: Row, rows: readonly Row[], width: number | null): string {
  const natural = headings.map((heading, at) =>
    Math.max(heading.length, ...rows.map((row) => displayWidth(row[at] ?? ""))),
  );
  if (width === null) return renderRows([headings, ...rows], natural);
  const widths = fit(headings, natural, width);
  return widths === null ? renderRecords(headings, rows) : renderRows([headings, ...rows], widths);
}

/** Cuts the widest columns until all columns fit; `null` when even short columns do not. */
function fit(headings: Row, natural: readonly number[], width: number): number[] | null {
  const isFixed = (at: number) => ID.test(headings[at] ?? "");
  const widths = natural.map((each, at) => (isFixed(at) ? each : Math.min(each, MAX_CELL)));
  const total = () => widths.reduce((sum, each) => sum + each + GAP.length, -GAP.length);
  while (total() > width) {
    const widest = Math.max(0, ...widths.filter((_, at) => !isFixed(at)));
    if (widest <= MIN_CELL) return null;
    widths[widths.findLastIndex((each, at) => each === widest && !isFixed(at))] = widest - 1;
  }
  return widths;
}

function renderRows(rows: readonly Row[], widths: readonly number[]): string {
  const fill = (cell: string, at: number) => pad(cut(cell, widths[at] ?? 0), widths[at] ?? 0);
  return rows.map((row) => row.map(fill).join(GAP).trimEnd()).join("\n");
}

function renderRecords(headings: Row, rows: readonly Row[]): string {
  return rows.map((row) => row.map((cell, at) => `${headings[at] ?? ""}: ${cell}`).join("\n")).join("\n\n");
}
