import { useQuery } from "@tanstack/react-query";
import { type Api } from "../../api.ts";
import { useOrganization } from "../../organization.ts";
import { HelpText } from "../../ui/help-text.tsx";
import { Panel } from "../../ui/panel.tsx";
import { QueryContent } from "../../ui/query-content.tsx";
import { formatDuration } from "../../ui/timestamp.tsx";

type Changes = Awaited<ReturnType<Api["deployments"]["changes"]["query"]>>;

/** What the app builder agent changed in the source of a deployment. */
export function SourceChanges({ appId: id, number }: { appId: string; number: number }) {
  const { id: orgId, api } = useOrganization();
  const changes = useQuery({
    queryKey: ["app", orgId, id, "deployment", number, "changes"],
    queryFn: () => api.deployments.changes.query({ id, number }),
  });
  return (
    <Panel title="Changes by the app builder agent">
      <QueryContent query={changes}>{(data) => <ChangesContent changes={data} />}</QueryContent>
    </Panel>
  );
}

function ChangesContent({ changes }: { changes: Changes }) {
  const { summary, files, patch, steps, input_tokens: input, output_tokens: output, duration_ms: duration } = changes;
  return (
    <>
      <HelpText>
        {steps} responses of the model in {formatDuration(duration)}, {input.toLocaleString("en")} tokens read and{" "}
        {output.toLocaleString("en")} written
      </HelpText>
      {summary !== null && (
        <figure className="space-y-1">
          <figcaption className="text-xs text-muted">What the agent says</figcaption>
          <blockquote className="border-l-2 border-line-strong pl-3 whitespace-pre-wrap wrap-anywhere">
            {summary}
          </blockquote>
        </figure>
      )}
      <ul aria-label="Changed files" className="font-mono text-xs">
        {files.map(({ path, change }) => (
          <li key={path} className="wrap-anywhere">
            <span className="inline-block w-16 font-sans text-muted">{change}</span> {path}
          </li>
        ))}
      </ul>
      <Diff patch={patch} />
    </>
  );
}

/** A unified diff. Added and removed lines have a sign as well as a color. */
function Diff({ patch }: { patch: string }) {
  return (
    <div
      tabIndex={0}
      role="group"
      aria-label="Diff"
      className="max-h-[36rem] overflow-auto rounded-md border border-line bg-sunken py-2 font-mono text-xs"
    >
      {patch.split("\n").map((line, at) => (
        <div key={at} className={`min-w-max px-3 whitespace-pre ${styleOf(line)}`}>
          {line === "" ? " " : line}
        </div>
      ))}
    </div>
  );
}

function styleOf(line: string): string {
  if (/^(\+\+\+|---|diff |index )/.test(line)) return "font-medium";
  if (line.startsWith("@@")) return "text-muted";
  if (line.startsWith("+")) return "bg-success-soft text-success";
  return line.startsWith("-") ? "bg-danger-soft text-danger" : "";
}
