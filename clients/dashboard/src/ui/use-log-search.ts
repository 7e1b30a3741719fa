import { useDeferredValue, useMemo, useState } from "react";
import { findLines, type LogLine } from "./log-line.ts";

export type LogSearchState = ReturnType<typeof useLogSearch>;

/** Finds the lines that contain a text, and steps through them. */
export function useLogSearch(lines: readonly LogLine[]) {
  const [query, setQuery] = useState("");
  const [currentId, setCurrentId] = useState<number | null>(null);
  // Typing goes first: a search of a long log takes longer than a frame.
  const appliedQuery = useDeferredValue(query);
  const found = useMemo(() => findLines(lines, appliedQuery), [lines, appliedQuery]);
  const position = currentId === null ? -1 : found.findIndex((index) => lines[index]?.id === currentId);
  const step = (by: 1 | -1): void => {
    const start = position < 0 && by < 0 ? 0 : position;
    const next = found[(start + by + found.length) % found.length];
    setCurrentId(next === undefined ? null : (lines[next]?.id ?? null));
  };
  return {
    query,
    setQuery,
    /** The query of `found`, which follows `query` as soon as there is time. */
    appliedQuery,
    /** The number of lines that contain the query. */
    count: found.length,
    /** Which of them is shown, from 0; `null` for none. */
    current: position < 0 ? null : position,
    /** The index of this line. */
    currentIndex: found[position] ?? null,
    /** 1 for the next line that contains the query, -1 for the previous one. */
    step,
  };
}
