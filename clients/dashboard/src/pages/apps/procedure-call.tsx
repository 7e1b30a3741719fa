import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import type { Api } from "../../api.ts";
import { useOrganization } from "../../organization.ts";
import { Button } from "../../ui/button.tsx";
import { TextArea } from "../../ui/field.tsx";
import { Alert, ErrorNotice } from "../../ui/notice.tsx";
import { Preformatted } from "../../ui/preformatted.tsx";
import { useApp } from "./app-context.ts";

export type AppProcedure = Awaited<ReturnType<Api["procedures"]["list"]["query"]>>["procedures"][number];
type CallResult = Awaited<ReturnType<Api["procedures"]["callById"]["mutate"]>>;

/** Calls a procedure with an input that the user writes. */
export function ProcedureCall({ procedure: { name, kind, example_input: example } }: { procedure: AppProcedure }) {
  const { api } = useOrganization();
  const { id } = useApp();
  const [text, setText] = useState(() => formatJson(example));
  const [problem, setProblem] = useState<string | null>(null);
  const call = useMutation({
    mutationFn: (input: unknown) => api.procedures.callById.mutate({ id, name, input }),
  });
  const submit = (): void => {
    const parsed = parseInput(text);
    setProblem(parsed.problem);
    if (parsed.problem === null) call.mutate(parsed.input);
  };
  return (
    <form
      className="min-w-0 space-y-3"
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      <TextArea
        label={`Input of ${name}`}
        hint={kind === "mutation" ? "JSON. The call can change data of the app." : "JSON"}
        rows={Math.min(16, Math.max(4, text.split("\n").length))}
        value={text}
        onChange={({ target }) => setText(target.value)}
        spellCheck={false}
        autoComplete="off"
        className="font-mono"
      />
      {problem !== null && <Alert>{problem}</Alert>}
      <Button type="submit" variant="primary" busy={call.isPending}>
        {call.isPending ? "Calling…" : "Call"}
      </Button>
      <ErrorNotice error={call.error} />
      {call.data !== undefined && !call.isPending && <Result name={name} result={call.data} />}
    </form>
  );
}

/** The texts of a result come from the app, and are marked so. */
function Result({ name, result }: { name: string; result: CallResult }) {
  if (result.ok)
    return (
      <div className="space-y-1" role="status">
        <p className="text-xs font-medium text-success">Result</p>
        <Preformatted label={`Result of ${name}`} text={formatJson(result.output)} />
      </div>
    );
  return (
    <div role="alert" className="space-y-1 rounded-md border border-danger/40 bg-danger-soft px-4 py-3">
      <p className="font-medium text-danger">Error of the app, status {result.status}</p>
      <p className="whitespace-pre-wrap wrap-anywhere">{result.message}</p>
    </div>
  );
}

/** A call without output has an empty result. */
function formatJson(value: unknown): string {
  return value === undefined ? "" : JSON.stringify(value, null, 2);
}

/** An empty text is a call without input. */
function parseInput(text: string): { input: unknown; problem: string | null } {
  if (text.trim() === "") return { input: undefined, problem: null };
  try {
    return { input: JSON.parse(text), problem: null };
  } catch (error) {
    return { input: undefined, problem: `The input is not valid JSON: ${(error as Error).message}` };
  }
}
