import { ChevronDown, ChevronUp, Clock, Copy, Download, type LucideIcon, WrapText } from "lucide-react";
import type { KeyboardEvent, ReactNode, RefObject } from "react";
import { Button } from "./button.tsx";
import { type LogLine, toText } from "./log-line.ts";
import { copyText } from "../copy-text.ts";
import { downloadFile } from "../download-file.ts";
import { showToast } from "../show-toast.ts";
import type { LogSearchState } from "./use-log-search.ts";

interface LogSearchProps {
  input: RefObject<HTMLInputElement | null>;
  search: LogSearchState;
}

/** Searches the lines that are loaded. Enter and Shift+Enter go to the next and the previous one. */
export function LogSearch({ input, search: { query, setQuery, count, current, step } }: LogSearchProps) {
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key === "Escape") setQuery("");
    if (event.key !== "Enter") return;
    event.preventDefault();
    step(event.shiftKey ? -1 : 1);
  };
  return (
    <div className="flex min-w-0 flex-1 items-center gap-1 sm:max-w-96">
      <input
        ref={input}
        type="search"
        aria-label="Search the log"
        placeholder="Search the log"
        value={query}
        onChange={({ target }) => setQuery(target.value)}
        onKeyDown={onKeyDown}
        className="min-h-8 w-full min-w-0 rounded-md border border-line-strong bg-surface px-2.5 text-sm placeholder:text-muted pointer-coarse:min-h-10"
      />
      {query !== "" && (
        <>
          <span role="status" className="px-1 whitespace-nowrap text-muted tabular-nums">
            {count === 0 ? "No match" : `${current === null ? "" : `${current + 1} of `}${count.toLocaleString("en")}`}
          </span>
          <IconButton icon={ChevronUp} label="Previous match" onClick={() => step(-1)} />
          <IconButton icon={ChevronDown} label="Next match" onClick={() => step(1)} />
        </>
      )}
    </div>
  );
}

interface LogActionsProps {
  lines: readonly LogLine[];
  fileName: string;
  isWrapped: boolean;
  onWrap: () => void;
  /** `null` for a log without times. */
  showsTime: boolean | null;
  onTime: () => void;
}

export function LogActions({ lines, fileName, isWrapped, onWrap, showsTime, onTime }: LogActionsProps) {
  const copy = async (): Promise<void> => {
    await copyText(toText(lines));
    showToast(`Copied ${lines.length.toLocaleString("en")} lines.`);
  };
  return (
    <div className="ml-auto flex items-center">
      {showsTime !== null && <IconButton icon={Clock} label="Show times" isPressed={showsTime} onClick={onTime} />}
      <IconButton icon={WrapText} label="Wrap lines" isPressed={isWrapped} onClick={onWrap} />
      <IconButton icon={Copy} label="Copy all lines" onClick={() => void copy()} />
      <IconButton
        icon={Download}
        label="Download the log"
        onClick={() => downloadFile(fileName, "text/plain", toText(lines))}
      />
    </div>
  );
}

interface IconButtonProps {
  icon: LucideIcon;
  label: string;
  isPressed?: boolean;
  onClick: () => void;
}

function IconButton({ icon: Icon, label, isPressed, onClick }: IconButtonProps): ReactNode {
  return (
    <Button
      variant="quiet"
      title={label}
      aria-label={label}
      aria-pressed={isPressed}
      onClick={onClick}
      className={`px-2 ${isPressed === true ? "bg-selected text-ink" : ""}`}
    >
      <Icon aria-hidden className="size-4" />
    </Button>
  );
}
