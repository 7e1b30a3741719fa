import { useId, useMemo, useState } from "react";
import { Button } from "../../ui/button.tsx";
import { Notice } from "../../ui/notice.tsx";
import { TextDifference } from "../../ui/text-difference.tsx";
import type { InstructionsVersion } from "./instructions-draft.ts";
import { joinParts, type MergePart, mergeTexts, type Resolution, RESOLUTIONS } from "./merge-texts.ts";

interface InstructionsConflictProps {
  mine: string;
  /** What both changed. */
  base: string;
  theirs: InstructionsVersion;
  onMerged: (merged: string) => void;
  onBack: () => void;
}

/** Merges the user's changes with those that somebody else has saved meanwhile. */
export function InstructionsConflict({ mine, base, theirs, onMerged, onBack }: InstructionsConflictProps) {
  const parts = useMemo(() => mergeTexts({ mine, base, theirs: theirs.content }), [mine, base, theirs.content]);
  const [resolutions, setResolutions] = useState<ReadonlyMap<number, Resolution>>(new Map());
  const conflicts = parts.filter(({ kind }) => kind === "conflict").length;
  const open = conflicts - resolutions.size;
  const resolve = (index: number, resolution: Resolution): void =>
    setResolutions((previous) => new Map(previous).set(index, resolution));
  const name = theirs.revision > 0 ? `revision ${theirs.revision}` : "another version";
  return (
    <section aria-label="Merge with the saved version" className="space-y-4">
      <h3 ref={focus} tabIndex={-1} className="font-medium">
        Merge with {name}
      </h3>
      <Notice>
        Somebody saved {name} while you were editing. {describe(conflicts)} Nothing is saved until you save it.
      </Notice>
      <div className="grid gap-4 lg:grid-cols-2">
        <Side title="Your changes" before={base} after={mine} />
        <Side title="Their changes" before={base} after={theirs.content} />
      </div>
      <MergedParts parts={parts} resolutions={resolutions} onResolve={resolve} />
      <div className="flex flex-wrap items-center gap-2">
        <Button variant="primary" disabled={open > 0} onClick={() => onMerged(joinParts(parts, resolutions))}>
          Review merged instructions
        </Button>
        <Button onClick={onBack}>Back to your version</Button>
        <span role="status" className="text-sm text-muted">
          {open > 0 && `${open} ${open === 1 ? "conflict" : "conflicts"} to resolve`}
        </span>
      </div>
    </section>
  );
}

interface MergedPartsProps {
  parts: MergePart[];
  resolutions: ReadonlyMap<number, Resolution>;
  onResolve: (index: number, resolution: Resolution) => void;
}

function MergedParts({ parts, resolutions, onResolve }: MergedPartsProps) {
  const conflicts = parts.flatMap((part, index) => (part.kind === "conflict" ? [index] : []));
  return (
    <div className="space-y-1">
      <h4 className="font-medium">Merged instructions</h4>
      <ol
        aria-label="Parts of the merged instructions"
        className="divide-y divide-line overflow-hidden rounded-md border border-line-strong"
      >
        {parts.map((part, index) => (
          // The parts of a merge do not change.
          <li key={index}>
            {part.kind === "merged" ? (
              <MergedPart text={part.text} />
            ) : (
              <Conflict
                part={part}
                title={`Conflict ${conflicts.indexOf(index) + 1} of ${conflicts.length}`}
                resolution={resolutions.get(index)}
                onResolve={(resolution) => onResolve(index, resolution)}
              />
            )}
          </li>
        ))}
      </ol>
    </div>
  );
}

function describe(conflicts: number): string {
  if (conflicts === 0) return "Both changes fit together.";
  return conflicts === 1
    ? "Both changed the same lines in one place: choose which to keep."
    : `Both changed the same lines in ${conflicts} places: choose which to keep.`;
}

function Side({ title, before, after }: { title: string; before: string; after: string }) {
  return (
    <div className="min-w-0">
      <h4 className="font-medium">{title}</h4>
      <TextDifference label={title} before={before} after={after} />
    </div>
  );
}

const TEXT_CLASS = "px-3 py-2 font-mono text-sm whitespace-pre-wrap wrap-anywhere";

function MergedPart({ text }: { text: string }) {
  return (
    <div className={`${TEXT_CLASS} max-h-48 overflow-auto`} tabIndex={0} role="group" aria-label="Merged lines">
      {text}
    </div>
  );
}

const LABELS = { mine: "Keep yours", theirs: "Keep theirs", both: "Keep both" } as const satisfies Record<
  Resolution,
  string
>;

interface ConflictProps {
  part: MergePart & { kind: "conflict" };
  title: string;
  resolution: Resolution | undefined;
  onResolve: (resolution: Resolution) => void;
}

function Conflict({ part: { mine, theirs }, title, resolution, onResolve }: ConflictProps) {
  const name = useId();
  const isOpen = resolution === undefined;
  return (
    <fieldset className={`space-y-2 border-l-2 p-3 ${isOpen ? "border-danger" : "border-success"}`}>
      <legend className={`float-left w-full font-medium ${isOpen ? "text-danger" : "text-success"}`}>
        {title}
        {isOpen ? "" : ", resolved"}
      </legend>
      <div className="clear-both grid gap-2 md:grid-cols-2">
        <Choice title="Yours" text={mine} isOmitted={resolution === "theirs"} />
        <Choice title="Theirs" text={theirs} isOmitted={resolution === "mine"} />
      </div>
      <div className="flex flex-wrap gap-x-4">
        {RESOLUTIONS.map((value) => (
          <label key={value} className="flex min-h-8 items-center gap-2 text-sm pointer-coarse:min-h-10">
            <input
              type="radio"
              name={name}
              className="size-4 accent-accent"
              checked={resolution === value}
              onChange={() => onResolve(value)}
            />
            {LABELS[value]}
          </label>
        ))}
      </div>
    </fieldset>
  );
}

function Choice({ title, text, isOmitted }: { title: string; text: string; isOmitted: boolean }) {
  return (
    <div className="min-w-0 rounded-md border border-line bg-surface">
      <p className="border-b border-line px-3 py-1 text-xs text-muted">{title}</p>
      {text === "" ? (
        <p className="px-3 py-2 text-sm text-muted">These lines were removed.</p>
      ) : (
        <div className={`${TEXT_CLASS} ${isOmitted ? "text-muted line-through" : ""}`}>{text}</div>
      )}
    </div>
  );
}

const focus = (element: HTMLElement | null): void => element?.focus();
