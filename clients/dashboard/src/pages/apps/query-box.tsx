import { useMutation } from "@tanstack/react-query";
import type { Api } from "../../api.ts";
import { useOrganization } from "../../organization.ts";
import { Button } from "../../ui/button.tsx";
import { TextArea } from "../../ui/field.tsx";
import { formatBytes } from "../../ui/quantities.ts";
import { HelpText } from "../../ui/help-text.tsx";
import { ErrorNotice } from "../../ui/notice.tsx";
import { Panel } from "../../ui/panel.tsx";
import { useApp } from "./app-context.ts";

type Result = Awaited<ReturnType<Api["storage"]["query"]["mutate"]>>;
type Value = Result["rows"][number][number];

interface Props {
  /** The name of the database. */
  database: string;
  sql: string;
  onSql: (sql: string) => void;
}

/** Runs one statement that only reads. */
export function QueryBox({ database, sql, onSql }: Props) {
  const { api } = useOrganization();
  const { id } = useApp();
  const query = useMutation({ mutationFn: () => api.storage.query.mutate({ id, sql, database, limit: 500 }) });
  const run = (): void => {
    if (sql.trim() !== "") query.mutate();
  };
  return (
    <Panel
      title="Query"
      intro="One statement that only reads, such as SELECT. Ctrl+Enter runs it. The audit log names who ran one."
    >
      <form
        className="space-y-3"
        onSubmit={(event) => {
          event.preventDefault();
          run();
        }}
      >
        <TextArea
          label="Statement"
          rows={4}
          value={sql}
          required
          spellCheck={false}
          placeholder="select * from customers limit 20"
          className="font-mono"
          onChange={(event) => onSql(event.currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) run();
          }}
        />
        <Button type="submit" variant="primary" busy={query.isPending}>
          Run
        </Button>
      </form>
      <ErrorNotice error={query.error} />
      {query.data !== undefined && <ResultTable result={query.data} />}
    </Panel>
  );
}

function ResultTable({
  result: { columns, rows, is_truncated: isTruncated, duration_ms: duration },
}: {
  result: Result;
}) {
  const count = `${rows.length} ${rows.length === 1 ? "row" : "rows"}`;
  return (
    <div className="space-y-2">
      <p role="status" className="text-muted">
        {count} in {duration} ms{isTruncated && ". There are more: add a limit or a condition"}
      </p>
      {rows.length > 0 && <Grid columns={columns} rows={rows} />}
      {rows.length === 0 && <HelpText>The statement returns nothing.</HelpText>}
    </div>
  );
}

function Grid({ columns, rows }: Pick<Result, "columns" | "rows">) {
  return (
    <div
      tabIndex={0}
      role="group"
      aria-label="Result"
      className="max-h-[32rem] overflow-auto rounded-md border border-line"
    >
      <table className="min-w-full font-mono text-xs">
        <thead className="sticky top-0 bg-sunken">
          <tr>
            {columns.map(({ name }, at) => (
              <th key={at} scope="col" className="px-3 py-1.5 text-left font-medium whitespace-nowrap">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody className="divide-y divide-line">
          {rows.map((row, at) => (
            <tr key={at}>
              {row.map((value, column) => (
                <td key={column} className="max-w-xs truncate px-3 py-1.5 whitespace-pre" title={formatValue(value)}>
                  {value === null ? <span className="text-muted">NULL</span> : formatValue(value)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** The text of a value. Data of the app: it is only shown. */
function formatValue(value: Value): string {
  if (typeof value !== "object" || value === null) return String(value);
  return "text" in value ? `${value.text}… (${formatBytes(value.bytes)})` : `binary, ${formatBytes(value.bytes)}`;
}

/** A name in SQL, which may contain any character. */
export function quoteIdentifier(name: string): string {
  return /^[a-z_][a-z0-9_]*$/.test(name) ? name : `"${name.replaceAll('"', '""')}"`;
}
