import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { type SubmitEvent, useState } from "react";
import type { Api } from "../../api.ts";
import { useOrganization } from "../../organization.ts";
import { Button } from "../../ui/button.tsx";
import { Field, readText } from "../../ui/field.tsx";
import { Panel } from "../../ui/panel.tsx";
import { QueryContent } from "../../ui/query-content.tsx";
import { knowledgeKey, labelOf } from "./kinds.ts";

type Citation = Awaited<ReturnType<Api["knowledge"]["search"]["query"]>>["citations"][number];

/** Answers a question from the documents, with citations. */
export function AskPanel() {
  const [question, setQuestion] = useState("");
  const submit = (event: SubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    setQuestion(readText(new FormData(event.currentTarget), "question"));
  };
  return (
    <Panel title="Ask" intro="Answers are made of the documents. Agents get the same answers.">
      <search>
        <form className="grid items-end gap-4 sm:grid-cols-[1fr_auto]" onSubmit={submit}>
          <Field label="Question" name="question" type="search" maxLength={10_000} required />
          <Button type="submit">Ask</Button>
        </form>
      </search>
      {question !== "" && <Answer question={question} />}
    </Panel>
  );
}

function Answer({ question }: { question: string }) {
  const { id: orgId, api } = useOrganization();
  const answer = useQuery({
    queryKey: [...knowledgeKey(orgId), "search", question],
    queryFn: () => api.knowledge.search.query({ query: question }),
  });
  return (
    <section aria-label="Answer" className="space-y-4">
      <QueryContent query={answer}>
        {({ answer: text, citations }) => (
          <>
            <p className="whitespace-pre-line wrap-anywhere">{text}</p>
            {citations.length > 0 && (
              <ol className="space-y-3 text-sm">
                {citations.map((citation) => (
                  <CitedQuote key={citation.n} citation={citation} />
                ))}
              </ol>
            )}
          </>
        )}
      </QueryContent>
    </section>
  );
}

function CitedQuote({ citation: { n, document_id: id, title, kind, quote } }: { citation: Citation }) {
  const { id: orgId } = useOrganization();
  return (
    <li className="space-y-1">
      <p>
        [{n}]{" "}
        <Link to="/knowledge/$id" params={{ id }} search={{ org: orgId }} className="underline">
          {title}
        </Link>
        , {labelOf(kind)}
      </p>
      <blockquote className="border-l-2 border-zinc-300 pl-3 whitespace-pre-line wrap-anywhere">{quote}</blockquote>
    </li>
  );
}
