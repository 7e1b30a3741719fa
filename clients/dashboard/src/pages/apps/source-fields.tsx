import { Lock } from "lucide-react";
import { useState } from "react";
import { Field } from "../../ui/field.tsx";
import { Timestamp } from "../../ui/timestamp.tsx";
import { type ListedRepository, type Suggestions, useBranches, useRepositories } from "./hosted-repositories.ts";
import { SuggestionField, type SuggestionGroup } from "./suggestion-field.tsx";

/** What the user has entered. */
export interface EnteredSource {
  repo: string;
  branch: string;
  /** The repository that was chosen from the suggestions; `null` for one that was typed. */
  chosen: ListedRepository | null;
}

interface SourceFieldsProps {
  source: EnteredSource;
  onChange: (source: EnteredSource) => void;
}

/** The repository, with suggestions from the connected git hosts. Any other repository can be entered too. */
export function RepositoryField({ source, onChange }: SourceFieldsProps) {
  const [isOpen, setOpen] = useState(false);
  const found = useRepositories(source.repo, isOpen);
  return (
    <SuggestionField
      label="Repository"
      name="repo"
      required
      // Pasting a URL is the first thing that people do here.
      autoFocus
      placeholder="owner/name or https://github.com/owner/name"
      hint="The URL of a repository, a branch or a folder at a git host works too."
      value={source.repo}
      onType={(repo) => onChange({ ...source, repo, chosen: null })}
      onChoose={(chosen) => onChange({ repo: chosen.repo, branch: "", chosen })}
      groups={groupByHost(found.items)}
      textOf={({ repo }) => repo}
      renderItem={renderRepository}
      status={describe(found)}
      onOpenChange={setOpen}
    />
  );
}

/** The branch, with those of the chosen repository as suggestions. */
export function BranchField({ source, onChange }: SourceFieldsProps) {
  const { branch, chosen } = source;
  const [isOpen, setOpen] = useState(false);
  const found = useBranches(chosen, isOpen);
  const placeholder = "main, or the default branch";
  const change = (text: string): void => onChange({ ...source, branch: text });
  if (chosen === null)
    return (
      <Field
        label="Branch"
        name="branch"
        placeholder={placeholder}
        autoComplete="off"
        value={branch}
        onChange={({ currentTarget }) => change(currentTarget.value)}
      />
    );
  const matching = found.items.filter((name) => name.toLowerCase().includes(branch.trim().toLowerCase()));
  return (
    <SuggestionField
      label="Branch"
      name="branch"
      placeholder={placeholder}
      value={branch}
      onType={change}
      onChoose={change}
      groups={[{ value: chosen.repo, items: matching }]}
      textOf={(name) => name}
      renderItem={(name) => <span className="truncate">{name}</span>}
      status={describe(found)}
      onOpenChange={setOpen}
    />
  );
}

function groupByHost(found: readonly ListedRepository[]): SuggestionGroup<ListedRepository>[] {
  // Two connections of a host can list the same repository.
  const distinct = new Map(found.map((each) => [`${each.host} ${each.repo}`, each]));
  return [...Map.groupBy(distinct.values(), ({ host }) => host)].map(([value, items]) => ({ value, items }));
}

function renderRepository({ repo, isPrivate, pushedAt }: ListedRepository) {
  return (
    <>
      <span className="flex min-w-0 items-center gap-2">
        <span className="truncate">{repo}</span>
        {isPrivate && <Lock aria-label="private" className="size-3.5 shrink-0 text-muted" />}
      </span>
      {pushedAt !== null && (
        <span className="shrink-0 text-xs text-muted max-sm:hidden">
          <Timestamp at={pushedAt} />
        </span>
      )}
    </>
  );
}

function describe({ items, isLoading, problems }: Suggestions<unknown>): string | null {
  if (isLoading && items.length === 0) return "Asking the git host…";
  return problems.length > 0 ? problems.join(" ") : null;
}
