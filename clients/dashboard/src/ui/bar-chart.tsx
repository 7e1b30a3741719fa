import { useId } from "react";

export interface Bar {
  /** Below the bar, such as a day. */
  label: string;
  value: number;
  /** The part of the value that is shown in red at the bottom of the bar, such as errors. */
  part?: number;
}

interface Props {
  /** What the chart shows, for its heading and for screen readers. */
  title: string;
  /** The columns of the table: the label, the value, and the part if there is one. */
  columns: readonly [string, string] | readonly [string, string, string];
  bars: readonly Bar[];
}

/** In the units of the drawing, which has the width of its container. */
const [WIDTH, HEIGHT, GAP] = [600, 120, 2];

/** Vertical bars. Screen readers read a table instead; the mouse shows the values of a bar as its title. */
export function BarChart({ title, columns, bars }: Props) {
  const id = useId();
  const max = Math.max(1, ...bars.map(({ value }) => value));
  const step = WIDTH / Math.max(1, bars.length);
  const height = (amount: number) => (amount === 0 ? 0 : Math.max((amount / max) * HEIGHT, 1.5));
  return (
    <figure aria-labelledby={id} className="space-y-2">
      <figcaption id={id} className="flex justify-between gap-4 text-xs text-muted">
        <span>{title}</span>
        <span className="tabular-nums">Maximum {max.toLocaleString("en")}</span>
      </figcaption>
      <svg
        aria-hidden
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        preserveAspectRatio="none"
        className="h-32 w-full border-b border-line"
      >
        {bars.map(({ label, value, part = 0 }, index) => (
          <g key={label}>
            <title>{describe(columns, { label, value, part })}</title>
            {/* The whole column reacts to the mouse, also above a low bar. */}
            <rect x={index * step} width={step} height={HEIGHT} className="fill-transparent hover:fill-hover" />
            <rect
              x={index * step + GAP / 2}
              y={HEIGHT - height(value)}
              width={Math.max(step - GAP, 1)}
              height={height(value)}
              className="pointer-events-none fill-accent"
            />
            <rect
              x={index * step + GAP / 2}
              y={HEIGHT - height(part)}
              width={Math.max(step - GAP, 1)}
              height={height(part)}
              className="pointer-events-none fill-danger"
            />
          </g>
        ))}
      </svg>
      <Labels bars={bars} />
      <DataTable title={title} columns={columns} bars={bars} />
    </figure>
  );
}

/** The first, the middle and the last label: more would not fit on a phone. */
function Labels({ bars }: { bars: readonly Bar[] }) {
  const shown = [bars[0], bars[Math.floor((bars.length - 1) / 2)], bars.at(-1)];
  return (
    <div aria-hidden className="flex justify-between text-xs text-muted tabular-nums">
      {[...new Set(shown.map((bar) => bar?.label))].map((label) => (
        <span key={label}>{label}</span>
      ))}
    </div>
  );
}

function DataTable({ title, columns, bars }: Props) {
  return (
    <table className="sr-only">
      <caption>{title}</caption>
      <thead>
        <tr>
          {columns.map((column) => (
            <th key={column} scope="col">
              {column}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {bars.map(({ label, value, part }) => (
          <tr key={label}>
            <th scope="row">{label}</th>
            <td>{value}</td>
            {columns.length === 3 && <td>{part ?? 0}</td>}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function describe(columns: Props["columns"], { label, value, part }: Required<Bar>): string {
  const [, valueName, partName] = columns;
  const texts = [`${label}: ${value.toLocaleString("en")} ${valueName.toLowerCase()}`];
  if (partName !== undefined) texts.push(`${part.toLocaleString("en")} ${partName.toLowerCase()}`);
  return texts.join(", ");
}
