import { useEffect, useState } from "react";
import type { FollowOptions } from "./event-streams.ts";
import { redirectToSignIn } from "./query-client.ts";
import type { LogLine } from "./ui/log-line.ts";

/** A page that stays open keeps this many of the newest lines. */
const MAX_LINES = 100_000;

export interface FollowedLog {
  lines: readonly LogLine[];
  /** `waiting` until the first response, or while the service cannot be reached. */
  state: "waiting" | "open" | "ended";
  error: unknown;
  /** Opens the stream again after an error. */
  retry: () => void;
}

type State = Omit<FollowedLog, "retry">;
const INITIAL: State = { lines: [], state: "waiting", error: null };

/**
 * Follows a log while the page is shown. Lines that arrive within one frame are shown together.
 *
 * @param open - yields the lines of the log; a different function starts another log. `null` follows none.
 */
export function useFollowedLog(
  open: ((options: FollowOptions) => AsyncGenerator<Omit<LogLine, "id">, void, undefined>) | null,
): FollowedLog {
  const [log, setLog] = useState(INITIAL);
  const [attempt, setAttempt] = useState(0);
  useEffect(() => {
    setLog(INITIAL);
    if (open === null) return;
    const closing = new AbortController();
    const update = (change: Partial<State>): void => {
      if (!closing.signal.aborted) setLog((current) => ({ ...current, ...change }));
    };
    const added = collectLines((lines) =>
      setLog((current) => ({ ...current, lines: [...current.lines, ...lines].slice(-MAX_LINES) })),
    );
    const follow = async (): Promise<void> => {
      const onConnection = (isConnected: boolean) => update({ state: isConnected ? "open" : "waiting" });
      for await (const line of open({ signal: closing.signal, onConnection })) added.push(line);
      update({ state: "ended" });
    };
    follow().catch((error: Error) => {
      redirectToSignIn(error);
      update({ state: "ended", error });
    });
    return () => {
      closing.abort();
      added.discard();
    };
  }, [open, attempt]);
  return { ...log, retry: () => setAttempt((count) => count + 1) };
}

/** Numbers lines, and passes on once in a frame those that were added meanwhile. */
function collectLines(onLines: (lines: LogLine[]) => void) {
  let waiting: LogLine[] = [];
  let frame: number | null = null;
  let nextId = 0;
  const flush = (): void => {
    frame = null;
    onLines(waiting);
    waiting = [];
  };
  return {
    push: (line: Omit<LogLine, "id">): void => {
      waiting.push({ ...line, id: nextId++ });
      frame ??= requestAnimationFrame(flush);
    },
    discard: (): void => {
      if (frame !== null) cancelAnimationFrame(frame);
    },
  };
}
