import { ChevronRight } from "lucide-react";
import { useState } from "react";
import { CopyButton } from "../../ui/copy-button.tsx";
import { Preformatted } from "../../ui/preformatted.tsx";
import { type AppProcedure, ProcedureCall } from "./procedure-call.tsx";

/** One procedure. Its schemas and the form to call it are shown when the user opens it. */
export function ProcedureItem({ procedure }: { procedure: AppProcedure }) {
  const { name, kind, description } = procedure;
  const [isOpen, setOpen] = useState(false);
  return (
    <li>
      <details className="group" onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
        <summary className="flex min-h-10 list-none items-center gap-3 px-3 py-2 hover:bg-hover [&::-webkit-details-marker]:hidden">
          <ChevronRight aria-hidden className="size-4 shrink-0 text-muted group-open:rotate-90" />
          <code className="wrap-anywhere">{name}</code>
          <KindBadge kind={kind} />
          <span className="hidden min-w-0 flex-1 truncate text-muted sm:block">{description}</span>
        </summary>
        {isOpen && <ProcedureDetails procedure={procedure} />}
      </details>
    </li>
  );
}

const KIND_CLASSES: Readonly<Record<AppProcedure["kind"], string>> = {
  query: "bg-sunken text-muted",
  mutation: "bg-warning-soft text-warning",
};

function KindBadge({ kind }: { kind: AppProcedure["kind"] }) {
  return <span className={`rounded-full px-2 py-0.5 text-xs font-medium ${KIND_CLASSES[kind]}`}>{kind}</span>;
}

function ProcedureDetails({ procedure }: { procedure: AppProcedure }) {
  const { name, description, direct_tool: tool, input_schema: input, output_schema: output } = procedure;
  return (
    <div className="space-y-4 border-t border-line p-3 sm:p-4">
      <div className="space-y-1">
        <h3 className="text-xs text-muted">Description by the app</h3>
        <p className="whitespace-pre-wrap wrap-anywhere">{description === "" ? "None" : description}</p>
      </div>
      <div className="space-y-1">
        <h3 className="text-xs text-muted">Tool for agents</h3>
        {tool === null ? (
          <p>Agents call it from a program, because it is not a tool of its own.</p>
        ) : (
          <p className="flex flex-wrap items-center gap-1">
            <code className="wrap-anywhere">{tool}</code>
            <CopyButton text={tool} of={`name of the tool ${tool}`} />
          </p>
        )}
      </div>
      <div className="grid gap-4 lg:grid-cols-2">
        <ProcedureCall procedure={procedure} />
        <div className="min-w-0 space-y-4">
          <Schema title="Input schema" of={name} schema={input} />
          {output === null ? (
            <p className="text-muted">The app declares no output schema.</p>
          ) : (
            <Schema title="Output schema" of={name} schema={output} />
          )}
        </div>
      </div>
    </div>
  );
}

function Schema({ title, of, schema }: { title: string; of: string; schema: object }) {
  return (
    <div className="space-y-1">
      <h3 className="text-xs text-muted">{title}</h3>
      <Preformatted label={`${title} of ${of}`} text={JSON.stringify(schema, null, 2)} />
    </div>
  );
}
