import type { ReactNode } from "react";
import { formatError } from "../api.ts";
import { Button } from "./button.tsx";
import { Loading } from "./loading.tsx";
import { Alert } from "./notice.tsx";

interface Props<Data> {
  query: { data: Data | undefined; error: Error | null; isFetching: boolean; refetch(): unknown };
  children: (data: Data) => ReactNode;
}

/** Shows the data of a query, its placeholder while it loads, or its error with a button to try again. */
export function QueryContent<Data>({ query: { data, error, isFetching, refetch }, children }: Props<Data>) {
  return (
    <>
      {error !== null && (
        <div className="space-y-3">
          <Alert>{formatError(error)}</Alert>
          <Button busy={isFetching} onClick={() => void refetch()}>
            Try again
          </Button>
        </div>
      )}
      {data === undefined ? error === null && <Loading /> : children(data)}
    </>
  );
}
