import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useCallback, useMemo } from "react";
import { type FollowOptions, followRuntime } from "../../event-streams.ts";
import { useOrganization } from "../../organization.ts";
import { type FollowedLog, useFollowedLog } from "../../use-followed-log.ts";
import type { LogLevel, LogLine } from "../../ui/log-line.ts";
import { useApp } from "./app-context.ts";

/** The number of messages that are loaded together. */
const PAGE_SIZE = 200;

interface RuntimeLogFilter {
  /** Only messages of this level or a higher one. */
  level: LogLevel;
  /** Only messages at this time or later, in RFC 3339. */
  since: string;
}

interface RuntimeLogMessage {
  time: string;
  level: LogLevel;
  message: string;
  request_id: string | null;
}

interface RuntimeLog {
  /** The stream of new messages, with the older ones that are loaded before them. */
  log: FollowedLog;
  /** An error of the older messages. */
  error: Error | null;
  hasOlder: boolean;
  isLoading: boolean;
  loadOlder: () => void;
}

/**
 * Reads what the app of the page has printed, and follows it. The time of the newest stored message divides the log: earlier
 * ones come from pages, it and later ones from the stream. So no message is missing or appears twice.
 */
export function useRuntimeLog({ level, since }: RuntimeLogFilter): RuntimeLog {
  const { id: orgId, api } = useOrganization();
  const { id } = useApp();
  const key = ["runtime-log", orgId, id, level, since];
  const newest = useQuery({
    queryKey: [...key, "newest"],
    queryFn: async () => (await api.runtimeLogs.list.query({ id, level, since, limit: 1 })).logs[0]?.time ?? since,
    staleTime: Infinity,
  });
  const divider = newest.data;
  const older = useInfiniteQuery({
    queryKey: [...key, "older", divider],
    queryFn: ({ pageParam: cursor }) =>
      api.runtimeLogs.list.query({ id, level, since, until: divider, cursor, limit: PAGE_SIZE }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ next_cursor: cursor }) => cursor ?? undefined,
    enabled: divider !== undefined,
    staleTime: Infinity,
  });
  const open = useCallback(
    async function* (options: FollowOptions) {
      for await (const message of followRuntime(orgId, { id, level, since: divider }, options)) yield toLine(message);
    },
    [orgId, id, level, divider],
  );
  const followed = useFollowedLog(divider === undefined ? null : open);
  const stored = useMemo(() => numberStored(older.data?.pages.flatMap(({ logs }) => logs) ?? []), [older.data]);
  const lines = useMemo(() => [...stored, ...followed.lines], [stored, followed.lines]);
  const { fetchNextPage, hasNextPage, isFetching } = older;
  const loadOlder = useCallback(() => {
    if (hasNextPage && !isFetching) void fetchNextPage();
  }, [fetchNextPage, hasNextPage, isFetching]);
  return {
    log: { ...followed, lines },
    error: newest.error ?? older.error,
    hasOlder: hasNextPage,
    isLoading: newest.isPending || isFetching,
    loadOlder,
  };
}

function toLine({ time, level, message, request_id: requestId }: RuntimeLogMessage): Omit<LogLine, "id"> {
  return { text: message, time, level, requestId };
}

/** Lines of the stream have ids from 0, so stored ones count down from -1. */
function numberStored(newestFirst: readonly RuntimeLogMessage[]): LogLine[] {
  return newestFirst.map((message, index) => ({ ...toLine(message), id: -1 - index })).toReversed();
}
