import type { ReactNode } from "react";

/** @param props.entries - pairs of a word and its meaning */
export function DefinitionList({ entries }: { entries: readonly (readonly [string, ReactNode])[] }) {
  return (
    <dl className="space-y-2 text-sm">
      {entries.map(([word, meaning]) => (
        <div key={word} className="grid gap-x-4 sm:grid-cols-[7rem_1fr]">
          <dt className="font-medium">{word}</dt>
          <dd className="min-w-0 wrap-anywhere">{meaning}</dd>
        </div>
      ))}
    </dl>
  );
}

/** Facts in columns, each a value below its name. */
export function FactList({ children }: { children: ReactNode }) {
  return <dl className="grid grid-cols-2 gap-x-6 gap-y-3 lg:grid-cols-3">{children}</dl>;
}

interface FactProps {
  name: string;
  /** Whether the value is a number that the page is about. */
  large?: boolean;
  children: ReactNode;
}

export function Fact({ name, large = false, children }: FactProps) {
  return (
    <div className="min-w-0">
      <dt className="text-xs text-muted">{name}</dt>
      <dd className={`tabular-nums wrap-anywhere ${large ? "text-lg font-medium" : ""}`}>{children}</dd>
    </div>
  );
}
