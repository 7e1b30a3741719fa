import { keepPreviousData, useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { Api } from "../../api.ts";
import { useOrganization } from "../../organization.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { EmptyState } from "../../ui/empty-state.tsx";
import { Field, readValue, Select } from "../../ui/field.tsx";
import { HelpText } from "../../ui/help-text.tsx";
import { Panel } from "../../ui/panel.tsx";
import { Preformatted } from "../../ui/preformatted.tsx";
import { formatBytes } from "../../ui/quantities.ts";
import { QueryContent } from "../../ui/query-content.tsx";
import { Cell, Row, Table } from "../../ui/table.tsx";
import { Timestamp } from "../../ui/timestamp.tsx";
import { useApp } from "./app-context.ts";

type Store = Awaited<ReturnType<Api["storage"]["get"]["query"]>>["stores"][number];
type Entry = Awaited<ReturnType<Api["storage"]["listEntries"]["query"]>>["entries"][number];
type Value = Awaited<ReturnType<Api["storage"]["getEntry"]["query"]>>["value"];

const KINDS = { key_value: "keys", objects: "objects" } as const;

/** The keys and objects of an app: a store is chosen, filtered by a prefix, and each value can be shown. */
export function EntriesPanel({ stores }: { stores: Store[] }) {
  const [at, setAt] = useState(0);
  const [prefix, setPrefix] = useState("");
  const store = stores[at];
  return (
    <Panel
      title="Keys and objects"
      intro="What the app keeps in KV namespaces and R2 buckets. Nothing can be changed here."
    >
      {store === undefined ? (
        <EmptyState>
          <p>This app declares no KV namespace and no R2 bucket.</p>
        </EmptyState>
      ) : (
        <>
          <form
            className="flex flex-wrap items-end gap-3"
            onSubmit={(event) => {
              event.preventDefault();
              setPrefix(readValue(new FormData(event.currentTarget), "prefix"));
            }}
          >
            <Select
              label="Storage"
              value={String(at)}
              options={stores.map(({ kind, name }, index) => [String(index), `${name} (${KINDS[kind]})`] as const)}
              onChange={(event) => setAt(Number(event.currentTarget.value))}
            />
            <Field label="Key begins with" name="prefix" spellCheck={false} autoComplete="off" placeholder="user:" />
            <Button type="submit">Filter</Button>
          </form>
          <EntryList key={`${store.kind} ${store.name}`} store={store} prefix={prefix} />
        </>
      )}
    </Panel>
  );
}

function EntryList({ store, prefix }: { store: Store; prefix: string }) {
  const { id: orgId, api } = useOrganization();
  const { id } = useApp();
  const [shown, setShown] = useState<string | null>(null);
  const { kind, name } = store;
  const entries = useInfiniteQuery({
    queryKey: ["storage", orgId, id, "entries", kind, name, prefix],
    queryFn: ({ pageParam }) =>
      api.storage.listEntries.query({
        ...{ id, kind, store: name },
        ...(prefix !== "" && { prefix }),
        ...(pageParam !== null && { cursor: pageParam }),
      }),
    initialPageParam: null as string | null,
    getNextPageParam: ({ next_cursor }) => next_cursor,
    select: ({ pages }) => pages.flatMap((page) => page.entries),
    placeholderData: keepPreviousData,
  });
  return (
    <>
      <QueryContent query={entries}>
        {(list) =>
          list.length === 0 ? (
            <EmptyState>
              <p>{prefix === "" ? `No ${KINDS[kind]} yet.` : `None of the ${KINDS[kind]} begins with this.`}</p>
            </EmptyState>
          ) : (
            <EntryTable kind={kind} entries={list} onShow={setShown} />
          )
        }
      </QueryContent>
      {entries.hasNextPage && (
        <Button busy={entries.isFetchingNextPage} onClick={() => void entries.fetchNextPage()}>
          Load more
        </Button>
      )}
      <Dialog title={shown ?? ""} open={shown !== null} onClose={() => setShown(null)}>
        {shown !== null && <EntryValue store={store} entryKey={shown} />}
      </Dialog>
    </>
  );
}

interface EntryTableProps {
  kind: Store["kind"];
  entries: Entry[];
  onShow: (key: string) => void;
}

function EntryTable({ kind, entries, onShow }: EntryTableProps) {
  const isObjects = kind === "objects";
  return (
    <Table
      caption={isObjects ? "Objects" : "Keys"}
      columns={isObjects ? ["Key", "Size", "Type", "Uploaded"] : ["Key", "Size", "Expires"]}
    >
      {entries.map((entry) => (
        <Row key={entry.key}>
          <Cell>
            <button
              type="button"
              className="text-left font-mono text-link underline wrap-anywhere"
              onClick={() => onShow(entry.key)}
            >
              {entry.key}
            </button>
          </Cell>
          <Cell>{formatBytes(entry.bytes)}</Cell>
          {isObjects && (
            <Cell>
              <span className="wrap-anywhere">{entry.content_type ?? ""}</span>
            </Cell>
          )}
          <Cell>
            <EntryTime at={isObjects ? entry.uploaded_at : entry.expires_at} />
          </Cell>
        </Row>
      ))}
    </Table>
  );
}

function EntryTime({ at }: { at: string | null }) {
  return at === null ? <span className="text-muted">never</span> : <Timestamp at={at} />;
}

/** Data of the app: it is only shown. */
function EntryValue({ store: { kind, name }, entryKey: key }: { store: Store; entryKey: string }) {
  const { id: orgId, api } = useOrganization();
  const { id } = useApp();
  const entry = useQuery({
    queryKey: ["storage", orgId, id, "entry", kind, name, key],
    queryFn: () => api.storage.getEntry.query({ id, kind, store: name, key }),
  });
  return <QueryContent query={entry}>{({ value }) => <ValueText value={value} />}</QueryContent>;
}

function ValueText({ value }: { value: Value }) {
  if (value === "") return <HelpText>The value is empty.</HelpText>;
  if (typeof value === "string") return <Preformatted label="Value" text={value} className="font-mono" />;
  if ("base64" in value) return <HelpText>Binary data, {formatBytes(value.bytes)}.</HelpText>;
  return (
    <>
      <Preformatted label="Beginning of the value" text={value.text} className="font-mono" />
      <HelpText>The beginning of {formatBytes(value.bytes)}.</HelpText>
    </>
  );
}
