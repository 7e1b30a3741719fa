import { Fragment, memo } from "react";
import { parseAnsi, type StyledText } from "./ansi.ts";
import { type LogLevel, type LogLine, splitByQuery } from "./log-line.ts";

const LEVEL_CLASSES: Readonly<Record<LogLevel, string>> = {
  debug: "text-muted",
  info: "text-muted",
  warn: "text-warning",
  error: "text-danger",
};

const ROW_CLASSES: Readonly<Record<LogLevel, string>> = {
  debug: "",
  info: "",
  warn: "bg-warning-soft",
  error: "bg-danger-soft",
};

export interface LogRowOptions {
  /** Whether long lines continue on the next row. */
  isWrapped: boolean;
  showsTime: boolean;
  /** The width of the numbers of lines, in characters; 0 without numbers. */
  numberWidth: number;
  /** Highlighted in each line. */
  query: string;
  /** Called with the id of a request that the user has chosen. */
  onRequest: ((requestId: string) => void) | undefined;
}

interface LogRowProps extends LogRowOptions {
  line: LogLine;
  isCurrent: boolean;
}

/** One line of a log. What is not its text cannot be selected, so that copied lines contain only text. */
export const LogRow = memo(function LogRow(props: LogRowProps) {
  const { line, isCurrent, isWrapped, showsTime, numberWidth, query, onRequest } = props;
  const { id, text, level, time, requestId } = line;
  const background = isCurrent ? "bg-selected" : level === undefined ? "" : ROW_CLASSES[level];
  return (
    <div
      data-current={isCurrent || undefined}
      className={`flex min-w-full gap-3 px-3 ${isWrapped ? "" : "w-max"} ${background}`}
    >
      {numberWidth > 0 && (
        <span className="shrink-0 text-right text-muted tabular-nums select-none" style={{ width: `${numberWidth}ch` }}>
          {id + 1}
        </span>
      )}
      {showsTime && time !== undefined && (
        <time dateTime={time} title={time} className="shrink-0 text-muted select-none">
          {formatTime(time)}
        </time>
      )}
      {level !== undefined && <span className={`w-[5ch] shrink-0 select-none ${LEVEL_CLASSES[level]}`}>{level}</span>}
      <span className={`min-w-0 ${isWrapped ? "flex-1 whitespace-pre-wrap wrap-anywhere" : "whitespace-pre"}`}>
        <LineText text={text} query={query} />
      </span>
      {requestId !== undefined && requestId !== null && onRequest !== undefined && (
        <button
          type="button"
          title={`Show only request ${requestId}`}
          onClick={() => onRequest(requestId)}
          className="ml-auto shrink-0 self-start pl-3 text-muted underline-offset-2 select-none hover:text-link hover:underline"
        >
          <span className="sr-only">Show only request </span>
          {requestId.slice(0, 8)}
        </button>
      )}
    </div>
  );
});

function LineText({ text, query }: { text: string; query: string }) {
  const segments = parseAnsi(text);
  // Without a character, the row would have no height.
  if (segments.length === 0) return " ";
  return segments.map((segment, index) => <Segment key={index} segment={segment} query={query} />);
}

/** An occurrence of the query across two styles is not highlighted. */
function Segment({ segment: { text, className }, query }: { segment: StyledText; query: string }) {
  const parts = splitByQuery(text, query).map((part, index) =>
    index % 2 === 0 ? (
      <Fragment key={index}>{part}</Fragment>
    ) : (
      <mark key={index} className="rounded-xs bg-warning-soft text-ink outline-1 outline-warning">
        {part}
      </mark>
    ),
  );
  return className === "" ? parts : <span className={className}>{parts}</span>;
}

const TODAY = new Intl.DateTimeFormat("en-GB", { timeStyle: "medium" });
const OTHER_DAY = new Intl.DateTimeFormat("en-GB", { month: "short", day: "2-digit" });

/** The time of day with milliseconds, and the date unless it is today. */
function formatTime(time: string): string {
  const date = new Date(time);
  const clock = `${TODAY.format(date)}.${String(date.getMilliseconds()).padStart(3, "0")}`;
  return date.toDateString() === new Date().toDateString() ? clock : `${OTHER_DAY.format(date)} ${clock}`;
}
