import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { type SubmitEvent, useId } from "react";
import type { Api } from "../../api.ts";
import { useOrganization } from "../../organization.ts";
import { useChangeSearch, useSearchText } from "../../search-params.ts";
import { Button } from "../../ui/button.tsx";
import { EmptyState } from "../../ui/empty-state.tsx";
import { Field, readText } from "../../ui/field.tsx";
import { Panel } from "../../ui/panel.tsx";
import { QueryContent } from "../../ui/query-content.tsx";
import { useCompanyKnowledge } from "../documents/document-set.ts";
import { findPassage } from "../documents/passage.ts";
import { knowledgeKey, labelOf } from "./kinds.ts";

type Found = Awaited<ReturnType<Api["knowledge"]["search"]["query"]>>;
type Citation = Found["citations"][number];
type Related = Found["related"][number];

/** Answers a question from the documents, with citations. */
export function AskPanel() {
  // In the URL, so that the way back from a cited document leads to the answer.
  const question = useSearchText("ask");
  const change = useChangeSearch();
  const submit = (event: SubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    change({ ask: readText(new FormData(event.currentTarget), "question") }, { replace: false });
  };
  return (
    <Panel title="Ask" intro="Answers consist of passages of the documents. Agents get the same answers.">
      <search>
        <form className="grid items-end gap-3 sm:grid-cols-[1fr_auto]" onSubmit={submit}>
          <Field
            key={question}
            label="Question"
            name="question"
            type="search"
            defaultValue={question}
            className="placeholder:text-muted"
            placeholder="How much does the Team plan cost?"
            // A longer one does not fit into a URL.
            maxLength={1000}
            required
          />
          <Button type="submit" variant="primary">
            Ask
          </Button>
        </form>
      </search>
      {question !== "" && <Answer question={question} />}
    </Panel>
  );
}

function Answer({ question }: { question: string }) {
  const { id: orgId, api } = useOrganization();
  const prefix = useId();
  const answer = useQuery({
    queryKey: [...knowledgeKey(orgId), "search", question],
    queryFn: () => api.knowledge.search.query({ query: question }),
  });
  return (
    <section aria-label="Answer" aria-live="polite" className="space-y-4">
      <QueryContent query={answer}>
        {({ answer: text, confidence, citations, related }) =>
          text === null ? (
            <NoAnswer related={related} />
          ) : (
            <>
              {confidence === "low" && (
                <p className="text-sm text-muted">The quotes may not answer the question. Read their documents.</p>
              )}
              <AnswerText text={text} prefix={prefix} />
              <ol className="grid gap-3 lg:grid-cols-2">
                {citations.map((citation) => (
                  <CitationCard key={citation.n} id={`${prefix}${citation.n}`} citation={citation} />
                ))}
              </ol>
            </>
          )
        }
      </QueryContent>
    </section>
  );
}

function NoAnswer({ related }: { related: readonly Related[] }) {
  const { id: orgId } = useOrganization();
  const { pathOf } = useCompanyKnowledge();
  return (
    <EmptyState>
      <p className="font-medium">No document answers this.</p>
      <ul className="list-disc space-y-1 pl-5 text-muted">
        <li>Use the words that a document would use, or ask about one subject at a time.</li>
        <li>
          If no document has the answer,{" "}
          <a href="#upload" className="text-link underline">
            upload one that does
          </a>
          .
        </li>
      </ul>
      {related.length > 0 && (
        <>
          <p className="font-medium">Related passages</p>
          <ul className="space-y-2">
            {related.map(({ document_id: id, title, heading, excerpt }) => (
              <li key={`${id}${heading}${excerpt}`} className="wrap-anywhere">
                <Link to={pathOf(id)} search={{ org: orgId }} className="text-link underline">
                  {heading === "" ? title : `${title} › ${heading}`}
                </Link>
                <p className="text-sm text-muted">{withoutBold(excerpt)}</p>
              </li>
            ))}
          </ul>
        </>
      )}
    </EmptyState>
  );
}

/** The answer, in which each number of a citation is a link to the cited passage. */
function AnswerText({ text, prefix }: { text: string; prefix: string }) {
  let offset = 0;
  return (
    <p className="max-w-prose text-base whitespace-pre-line wrap-anywhere">
      {text.split(/(\[\d+\])/).map((part) => {
        const key = offset;
        offset += part.length;
        const n = /^\[(\d+)\]$/.exec(part)?.[1];
        return n === undefined ? (
          part
        ) : (
          <a key={key} href={`#${prefix}${n}`} aria-label={`Citation ${n}`} className="text-xs text-link underline">
            {part}
          </a>
        );
      })}
    </p>
  );
}

/** A cited passage. The whole card opens its document at that passage. */
function CitationCard({ id, citation }: { id: string; citation: Citation }) {
  const { n, document_id: documentId, title, kind, quote } = citation;
  const { id: orgId } = useOrganization();
  const { key, get, pathOf } = useCompanyKnowledge();
  const { data: passage } = useQuery({
    queryKey: [...key, "get", documentId, null],
    queryFn: () => get(documentId, null),
    select: ({ content }) => findPassage(content, quote),
  });
  const place = [...(passage?.headings ?? []), labelOf(kind)].filter((part) => part !== "" && part !== title);
  return (
    <li
      id={id}
      className="relative min-w-0 space-y-2 rounded-md border border-line p-3 target:border-accent focus-within:border-line-strong hover:bg-hover"
    >
      <div className="space-y-0.5">
        <p className="flex gap-2 font-medium wrap-anywhere">
          <span className="text-muted tabular-nums">[{n}]</span>
          <Link
            to={pathOf(documentId)}
            search={{ org: orgId, quote }}
            className="text-link after:absolute after:inset-0 after:rounded-md"
          >
            {title}
          </Link>
        </p>
        {place.length > 0 && <p className="text-xs wrap-anywhere text-muted">{place.join(" › ")}</p>}
      </div>
      <blockquote className="border-l-2 border-line-strong pl-3 text-sm whitespace-pre-line wrap-anywhere text-muted">
        {withoutBold(passage?.before)}
        <mark className="bg-mark text-ink">{withoutBold(quote)}</mark>
        {withoutBold(passage?.after)}
      </blockquote>
    </li>
  );
}

/** The most frequent mark of Markdown, which only disturbs a reader. */
function withoutBold(text: string | undefined): string {
  return text?.replaceAll("**", "") ?? "";
}
