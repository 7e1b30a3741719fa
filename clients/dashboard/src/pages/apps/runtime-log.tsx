import { X } from "lucide-react";
import { type ReactNode, useMemo, useState } from "react";
import { Button } from "../../ui/button.tsx";
import { EmptyState } from "../../ui/empty-state.tsx";
import type { LogLevel } from "../../ui/log-line.ts";
import { LogView } from "../../ui/log-view.tsx";
import { ErrorNotice } from "../../ui/notice.tsx";
import { useApp } from "./app-context.ts";
import { FollowState } from "./build-log.tsx";
import { useRuntimeLog } from "./use-runtime-log.ts";

interface Props {
  level: LogLevel;
  /** The length of the time range, in milliseconds. */
  rangeMs: number;
  /** Controls before the search field. */
  filters: ReactNode;
}

/** What the app prints, as soon as it prints it. */
export function RuntimeLog({ level, rangeMs, filters }: Props) {
  const { slug } = useApp();
  const since = useMemo(() => new Date(Date.now() - rangeMs).toISOString(), [rangeMs]);
  const [requestId, setRequestId] = useState<string | null>(null);
  const { log, error, hasOlder, isLoading, loadOlder } = useRuntimeLog({ level, since });
  const { lines } = log;
  const shown = useMemo(
    () => (requestId === null ? lines : lines.filter((line) => line.requestId === requestId)),
    [lines, requestId],
  );
  return (
    <>
      <FollowState log={log} />
      <ErrorNotice error={error} />
      <LogView
        label="Runtime log"
        lines={shown}
        fileName={`${slug}.log`}
        filters={
          <>
            {filters}
            {requestId !== null && (
              <Button onClick={() => setRequestId(null)} title={requestId}>
                Request {requestId.slice(0, 8)}
                <X aria-hidden className="size-4" />
                <span className="sr-only">Show all requests</span>
              </Button>
            )}
          </>
        }
        before={
          hasOlder && (
            <Button variant="quiet" busy={isLoading} onClick={loadOlder}>
              Load older messages
            </Button>
          )
        }
        onStart={loadOlder}
        onRequest={setRequestId}
        empty={<NoMessages isLoading={isLoading} />}
      />
    </>
  );
}

function NoMessages({ isLoading }: { isLoading: boolean }) {
  const { url } = useApp();
  return (
    <EmptyState>
      {isLoading ? (
        <p className="text-muted">Loading…</p>
      ) : (
        <>
          <p className="font-medium">No output yet. The app's console.log appears here.</p>
          <p className="text-muted">
            Open{" "}
            <a href={url} target="_blank" rel="noreferrer" className="text-link underline wrap-anywhere">
              {url}
            </a>{" "}
            to send a request, or choose a longer time or a lower level.
          </p>
        </>
      )}
    </EmptyState>
  );
}
