import { markdownLanguage } from "@codemirror/lang-markdown";
import { Chunk, unifiedMergeView } from "@codemirror/merge";
import { EditorState, Text } from "@codemirror/state";
import { EditorView } from "@codemirror/view";
import { useEffect, useMemo, useRef, useState } from "react";
import { DIFFERENCE_THEME, openEditor } from "./editor-theme.ts";
import { Checkbox } from "./field.tsx";

interface TextDifferenceProps {
  /** The accessible name. */
  label: string;
  before: string;
  after: string;
}

/** Shows what changed between two Markdown texts, with the removed lines above the added ones. */
export function TextDifference({ label, before, after }: TextDifferenceProps) {
  const host = useRef<HTMLDivElement>(null);
  const [isWhole, setWhole] = useState(false);
  const { added, removed } = useMemo(() => countChangedLines(before, after), [before, after]);
  useEffect(() => {
    if (host.current === null) return;
    const collapse = isWhole ? {} : { collapseUnchanged: { margin: 2, minSize: 4 } };
    const view = openEditor(host.current, after, [
      unifiedMergeView({ original: before, mergeControls: false, gutter: false, ...collapse }),
      createReadOnly(label),
    ]);
    return () => view.destroy();
  }, [label, before, after, isWhole]);
  return (
    <div className="min-w-0 space-y-1">
      <div className="flex flex-wrap items-center justify-between gap-x-4 text-sm">
        <span className="text-muted">
          {before === after
            ? "No difference."
            : `${formatLines(added)} added, ${removed.toLocaleString("en")} removed.`}
        </span>
        <Checkbox label="Show all lines" checked={isWhole} onChange={(event) => setWhole(event.target.checked)} />
      </div>
      <div ref={host} />
    </div>
  );
}

/** A scrollable text must be focusable for keyboard users. */
function createReadOnly(label: string) {
  return [
    markdownLanguage,
    EditorState.readOnly.of(true),
    EditorView.editable.of(false),
    EditorView.contentAttributes.of({ "aria-label": label, "aria-readonly": "true", tabindex: "0" }),
    DIFFERENCE_THEME,
  ];
}

function countChangedLines(before: string, after: string): { added: number; removed: number } {
  const [from, to] = [before, after].map((text) => Text.of(text.split("\n"))) as [Text, Text];
  let added = 0;
  let removed = 0;
  for (const chunk of Chunk.build(from, to, { scanLimit: 500 })) {
    removed += countLines(from, chunk.fromA, chunk.toA, chunk.endA);
    added += countLines(to, chunk.fromB, chunk.toB, chunk.endB);
  }
  return { added, removed };
}

/** Counts the lines of one side of a chunk. An empty range has none. */
function countLines(text: Text, from: number, to: number, end: number): number {
  return from === to ? 0 : text.lineAt(end).number - text.lineAt(from).number + 1;
}

function formatLines(count: number): string {
  return count === 1 ? "1 line" : `${count.toLocaleString("en")} lines`;
}
