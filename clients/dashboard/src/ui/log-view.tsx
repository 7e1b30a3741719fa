import { type ReactNode, useRef, useState } from "react";
import type { LogLine } from "./log-line.ts";
import { LogLines } from "./log-lines.tsx";
import { LogActions, LogSearch } from "./log-toolbar.tsx";
import { useLogSearch } from "./use-log-search.ts";

interface LogViewProps {
  /** What the log is, for screen readers, such as `Build log`. */
  label: string;
  /** Their ids ascend. Lines may be added at both ends. */
  lines: readonly LogLine[];
  /** The name of the file that the user downloads. */
  fileName: string;
  /** Whether to show the numbers of lines, for a log that is complete from its first line. */
  numbered?: boolean;
  /** Controls before the search field. */
  filters?: ReactNode;
  /** Replaces the lines if there are none. */
  empty: ReactNode;
  /** Above the lines. */
  before?: ReactNode;
  /** Called when the user scrolls to the first line. */
  onStart?: () => void;
  onRequest?: (requestId: string) => void;
}

/** A log of any length, which follows new lines until the user scrolls up. Only the lines on the screen are in the document. */
export function LogView(props: LogViewProps) {
  const { label, lines, fileName, numbered = false, filters, empty, before, onStart, onRequest } = props;
  const hasTimes = lines[0]?.time !== undefined;
  // On a phone there is only room for the messages.
  const [isWrapped, setWrapped] = useState(isNarrow);
  const [showsTime, setShowsTime] = useState(!isWrapped);
  const input = useRef<HTMLInputElement>(null);
  const search = useLogSearch(lines);
  return (
    <div className="space-y-2">
      <div className="flex flex-wrap items-center gap-2">
        {filters}
        <LogSearch input={input} search={search} />
        <LogActions
          lines={lines}
          fileName={fileName}
          isWrapped={isWrapped}
          onWrap={() => setWrapped(!isWrapped)}
          showsTime={hasTimes ? showsTime : null}
          onTime={() => setShowsTime(!showsTime)}
        />
      </div>
      {before}
      {lines.length === 0 ? (
        empty
      ) : (
        <LogLines
          // Measured heights are those of one width.
          key={String(isWrapped)}
          label={label}
          lines={lines}
          onStart={onStart}
          currentIndex={search.currentIndex}
          onFind={() => input.current?.focus()}
          row={{
            isWrapped,
            showsTime,
            numberWidth: numbered ? Math.max(3, String(lines.length).length) : 0,
            query: search.appliedQuery,
            onRequest,
          }}
        />
      )}
    </div>
  );
}

function isNarrow(): boolean {
  return matchMedia("(width < 40rem)").matches;
}
