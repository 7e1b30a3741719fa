import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { Api } from "../../api.ts";
import { useOrganization } from "../../organization.ts";
import { Fact, FactList } from "../../ui/definition-list.tsx";
import { EmptyState } from "../../ui/empty-state.tsx";
import { Select } from "../../ui/field.tsx";
import { formatBytes } from "../../ui/quantities.ts";
import { HelpText } from "../../ui/help-text.tsx";
import { Meter } from "../../ui/meter.tsx";
import { Panel } from "../../ui/panel.tsx";
import { QueryContent } from "../../ui/query-content.tsx";
import { Cell, Row, Table } from "../../ui/table.tsx";
import { Timestamp } from "../../ui/timestamp.tsx";
import { useApp } from "./app-context.ts";
import { QueryBox, quoteIdentifier } from "./query-box.tsx";
import { EntriesPanel } from "./stored-entries.tsx";

type Storage = Awaited<ReturnType<Api["storage"]["get"]["query"]>>;
type Database = NonNullable<Storage["database"]>;

/** What an app stores: its sizes, the tables of its SQL database with a box for queries that only read, and its keys and objects. */
export function StorageTab() {
  const { id: orgId, api } = useOrganization();
  const { id } = useApp();
  const [name, setName] = useState<string>();
  const [sql, setSql] = useState("");
  const storage = useQuery({
    // Not below the key of the app, which each step of a deployment refreshes: reading a database copies its file.
    queryKey: ["storage", orgId, id, name],
    queryFn: () => api.storage.get.query(name === undefined ? { id } : { id, database: name }),
    placeholderData: keepPreviousData,
  });
  return (
    <QueryContent query={storage}>
      {({ database, database_problem: problem, stores, ...sizes }) => (
        <>
          <SizePanel sizes={sizes} />
          {database === null ? (
            <Panel title="SQL database">
              <EmptyState>
                <p>{problem ?? "This app has no SQL database, or has not used it yet."}</p>
              </EmptyState>
            </Panel>
          ) : (
            <>
              <TablesPanel database={database} onDatabase={setName} onTable={setSql} />
              <QueryBox database={database.name} sql={sql} onSql={setSql} />
            </>
          )}
          <EntriesPanel stores={stores} />
        </>
      )}
    </QueryContent>
  );
}

function SizePanel({ sizes: { used, limit_bytes: limit } }: { sizes: Pick<Storage, "used" | "limit_bytes"> }) {
  if (used === null)
    return (
      <Panel title="Stored data">
        <HelpText>Not measured yet. The plan allows {formatBytes(limit)}.</HelpText>
      </Panel>
    );
  const parts = [
    ["SQL databases and files", used.sql_bytes],
    ["Objects", used.object_bytes],
    ["Keys", used.key_value_bytes],
    ["Durable objects", used.durable_bytes],
  ] as const;
  return (
    <Panel title="Stored data">
      <div className="space-y-2">
        <p>
          {formatBytes(used.total_bytes)} of {formatBytes(limit)}
          <span className="text-muted">
            , measured <Timestamp at={used.measured_at} />
          </span>
        </p>
        <Meter
          label="Stored data"
          value={used.total_bytes}
          max={limit}
          text={`${formatBytes(used.total_bytes)} of ${formatBytes(limit)}`}
        />
        <FactList>
          {parts.map(([name, bytes]) => (
            <Fact key={name} name={name}>
              {formatBytes(bytes)}
            </Fact>
          ))}
        </FactList>
      </div>
    </Panel>
  );
}

interface TablesPanelProps {
  database: Database;
  onDatabase: (name: string) => void;
  /** Called with a statement that reads the table that was chosen. */
  onTable: (sql: string) => void;
}

function TablesPanel({ database, onDatabase, onTable }: TablesPanelProps) {
  const { kind, name, names, bytes, tables, has_more_tables: hasMore } = database;
  return (
    <Panel title="SQL database" intro={`${kind === "postgres" ? "PostgreSQL" : "SQLite"}, ${formatBytes(bytes)}`}>
      {names.length > 1 && (
        <Select
          label="Database"
          value={name}
          options={names.map((each) => [each, each] as const)}
          onChange={(event) => onDatabase(event.currentTarget.value)}
        />
      )}
      {tables.length === 0 ? (
        <EmptyState>
          <p>No tables yet. Migrations or the app create them.</p>
        </EmptyState>
      ) : (
        <TableList tables={tables} onTable={onTable} />
      )}
      {hasMore && <HelpText>Only the first {tables.length} tables are listed.</HelpText>}
    </Panel>
  );
}

interface TableListProps {
  tables: Database["tables"];
  onTable: (sql: string) => void;
}

function TableList({ tables, onTable }: TableListProps) {
  return (
    <Table caption="Tables" columns={["Table", "Rows", "Columns"]}>
      {tables.map((table) => (
        <Row key={`${table.schema}.${table.name}`}>
          <Cell>
            <button
              type="button"
              className="text-left font-mono text-link underline wrap-anywhere"
              onClick={() => onTable(`select * from ${quoteTable(table)} limit 100`)}
            >
              {table.schema === "main" || table.schema === "public" ? table.name : `${table.schema}.${table.name}`}
            </button>
            {table.kind === "view" && <span className="text-muted"> view</span>}
          </Cell>
          <Cell>{describeCount(table)}</Cell>
          <Cell>
            <span className="line-clamp-2 text-muted">
              {table.columns.map((column) => `${column.name} ${column.type}`.trim()).join(", ")}
            </span>
          </Cell>
        </Row>
      ))}
    </Table>
  );
}

function quoteTable({ schema, name }: Database["tables"][number]): string {
  const table = quoteIdentifier(name);
  return schema === "main" || schema === "public" ? table : `${quoteIdentifier(schema)}.${table}`;
}

function describeCount({ row_count: count, has_more_rows: hasMore }: Database["tables"][number]): string {
  if (count === null) return "";
  return `${count.toLocaleString()}${hasMore ? "+" : ""}`;
}
