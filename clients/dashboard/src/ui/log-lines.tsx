import { useVirtualizer, type Virtualizer } from "@tanstack/react-virtual";
import { ArrowDown } from "lucide-react";
import {
  type KeyboardEvent,
  type RefObject,
  type UIEvent,
  useCallback,
  useEffect,
  useLayoutEffect,
  useRef,
  useState,
} from "react";
import { Button } from "./button.tsx";
import type { LogLine } from "./log-line.ts";
import { LogRow, type LogRowOptions } from "./log-row.tsx";

/** In pixels, of a line that is not wrapped. */
const LINE_HEIGHT = 20;
/** The padding of the panel and the page below a log. In pixels. */
const SPACE_BELOW = 54;
/** So near the end, the log follows new lines. In pixels. */
const END_DISTANCE = 24;

interface LogLinesProps {
  label: string;
  lines: readonly LogLine[];
  onStart: (() => void) | undefined;
  /** The index of the line that the search has found. */
  currentIndex: number | null;
  /** Called when the user wants to search by the keyboard. */
  onFind: () => void;
  row: LogRowOptions;
}

/** The lines of a log in a box that scrolls. */
export function LogLines({ label, lines, onStart, currentIndex, onFind, row }: LogLinesProps) {
  const scroller = useRef<HTMLDivElement>(null);
  const maxHeight = useMaxHeight(scroller);
  const virtualizer = useLineVirtualizer(scroller, lines);
  const isAtEnd = virtualizer.isAtEnd(END_DISTANCE);
  const newLines = useNewLines(lines, isAtEnd);
  const currentId = currentIndex === null ? null : lines[currentIndex]?.id;
  useEffect(() => {
    if (currentIndex !== null) virtualizer.scrollToIndex(currentIndex, { align: "center" });
    // Not when its index changes, because older lines are loaded.
  }, [currentId, virtualizer]);
  // Not by the state of the virtualizer: before it has scrolled to the end of new lines, they begin on the screen too.
  const onScroll = ({ currentTarget: { scrollTop, scrollHeight, clientHeight } }: UIEvent): void => {
    if (scrollTop < LINE_HEIGHT && scrollTop + clientHeight < scrollHeight - END_DISTANCE) onStart?.();
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (!(event.ctrlKey || event.metaKey) || event.key !== "f") return;
    // The search of the browser finds only lines on the screen.
    event.preventDefault();
    onFind();
  };
  return (
    <div className="relative">
      <div
        ref={scroller}
        role="log"
        aria-label={label}
        // A screen reader cannot read lines as fast as a build prints them.
        aria-live="off"
        // A scrollable element must be focusable for keyboard users.
        tabIndex={0}
        onKeyDown={onKeyDown}
        onScroll={onScroll}
        style={{ maxHeight }}
        className="contain-content overflow-auto overscroll-contain rounded-md border border-line bg-sunken py-2 font-mono text-xs [font-variant-ligatures:none] [overflow-anchor:none]"
      >
        <VisibleLines virtualizer={virtualizer} lines={lines} currentIndex={currentIndex} row={row} />
      </div>
      {!isAtEnd && <JumpToEnd newLines={newLines} onClick={() => virtualizer.scrollToEnd()} />}
    </div>
  );
}

interface VisibleLinesProps extends Pick<LogLinesProps, "lines" | "currentIndex" | "row"> {
  virtualizer: Virtualizer<HTMLDivElement, Element>;
}

function VisibleLines({ virtualizer, lines, currentIndex, row }: VisibleLinesProps) {
  const items = virtualizer.getVirtualItems();
  return (
    <div className="relative" style={{ height: virtualizer.getTotalSize() }}>
      <div
        className="absolute top-0 left-0 min-w-full leading-5"
        style={{ transform: `translateY(${items[0]?.start ?? 0}px)` }}
      >
        {items.map(({ index, key }) => {
          const line = lines[index];
          return line === undefined ? null : (
            <div key={key} data-index={index} ref={row.isWrapped ? virtualizer.measureElement : undefined}>
              <LogRow line={line} isCurrent={index === currentIndex} {...row} />
            </div>
          );
        })}
      </div>
    </div>
  );
}

/** The height with which the end of the log is on the screen too, unless that would be very little. */
function useMaxHeight(scroller: RefObject<HTMLDivElement | null>): string {
  const [top, setTop] = useState(0);
  useLayoutEffect(() => {
    setTop(Math.round((scroller.current?.getBoundingClientRect().top ?? 0) + window.scrollY));
  }, [scroller]);
  return `max(20rem, calc(100dvh - ${top + SPACE_BELOW}px))`;
}

function useLineVirtualizer(scroller: RefObject<HTMLDivElement | null>, lines: readonly LogLine[]) {
  // Both change only with the lines, because a new function discards the positions of all lines.
  const getItemKey = useCallback((index: number) => lines[index]?.id ?? index, [lines]);
  const estimateSize = useCallback((index: number) => LINE_HEIGHT * countRows(lines[index]), [lines]);
  const virtualizer = useVirtualizer({
    count: lines.length,
    getScrollElement: () => scroller.current,
    estimateSize,
    getItemKey,
    overscan: 20,
    anchorTo: "end",
    followOnAppend: true,
    scrollEndThreshold: END_DISTANCE,
  });
  useEffect(() => virtualizer.scrollToEnd(), [virtualizer]);
  return virtualizer;
}

/** A message of an app may have line breaks. */
function countRows(line: LogLine | undefined): number {
  let rows = 1;
  const text = line?.text ?? "";
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) rows += 1;
  return rows;
}

/** How many lines were added at the end since the user has left it. */
function useNewLines(lines: readonly LogLine[], isAtEnd: boolean): number {
  const lastId = lines.at(-1)?.id ?? 0;
  const [seenId, setSeenId] = useState(lastId);
  if (isAtEnd && seenId !== lastId) setSeenId(lastId);
  return isAtEnd ? 0 : lines.length - 1 - lines.findLastIndex(({ id }) => id <= seenId);
}

function JumpToEnd({ newLines, onClick }: { newLines: number; onClick: () => void }) {
  return (
    <div className="pointer-events-none absolute inset-x-0 bottom-3 flex justify-center *:pointer-events-auto">
      <Button onClick={onClick} className="bg-raised shadow-lg">
        <ArrowDown aria-hidden className="size-4" />
        Jump to end
        {newLines > 0 && <span className="text-muted">{newLines.toLocaleString("en")} new</span>}
      </Button>
    </div>
  );
}
