import { useQuery } from "@tanstack/react-query";
import { type SubmitEvent, useState } from "react";
import { useOrganization } from "../../organization.ts";
import { Button } from "../../ui/button.tsx";
import { EmptyState } from "../../ui/empty-state.tsx";
import { Field, readText } from "../../ui/field.tsx";
import { Panel } from "../../ui/panel.tsx";
import { QueryContent } from "../../ui/query-content.tsx";
import { projectKey } from "./project-queries.ts";

/** Searches the documents of a project, as its agents do. */
export function ProjectSearch({ projectId }: { projectId: string }) {
  const [words, setWords] = useState("");
  const submit = (event: SubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    setWords(readText(new FormData(event.currentTarget), "words"));
  };
  return (
    <Panel title="Search" intro="What the agents of the project find.">
      <search>
        <form className="grid items-end gap-4 sm:grid-cols-[1fr_auto]" onSubmit={submit}>
          <Field label="Words in the documents" name="words" type="search" maxLength={500} />
          <Button type="submit">Search</Button>
        </form>
      </search>
      {words !== "" && <Results projectId={projectId} words={words} />}
    </Panel>
  );
}

function Results({ projectId, words }: { projectId: string; words: string }) {
  const { id: orgId, api } = useOrganization();
  const found = useQuery({
    queryKey: [...projectKey(orgId, projectId), "search", words],
    queryFn: () => api.projects.search.query({ id: projectId, q: words }),
  });
  return (
    <QueryContent query={found}>
      {({ hits }) =>
        hits.length === 0 ? (
          <EmptyState>
            <p>No document matches these words.</p>
          </EmptyState>
        ) : (
          <ol aria-label="Found documents" className="space-y-4">
            {hits.map(({ document_id: id, title, snippet }) => (
              <li key={id} className="space-y-1 text-sm">
                <p className="font-medium">{title}</p>
                <p className="whitespace-pre-wrap wrap-anywhere">{snippet}</p>
              </li>
            ))}
          </ol>
        )
      }
    </QueryContent>
  );
}
