import type { Explanation } from "./explanation.ts";

const DELETED_MEANWHILE = "Not caught: the agent would have to be deleted between two queries.";
const SLOW_CHECKOUT = "Not caught: a checkout would have to take longer than a minute.";
const FOR_THE_LOG = "Equivalent for callers: the cause is for the log.";

export const DOMAIN_SKILLS: Record<string, Explanation[]> = {
  "domain/agents/declare-runtime.ts": [
    { original: "changed === 0", replacement: "false", reason: DELETED_MEANWHILE },
    { original: "row?.runtime", reason: DELETED_MEANWHILE },
  ],
  "domain/skills/collect-files.ts": [
    { original: '"folder"', reason: "Equivalent: only whether a path is one of a file is read." },
    { original: "a < b", replacement: "a <= b", reason: "Equivalent: all paths differ." },
  ],
  "domain/skills/delete-skill.ts": [
    {
      original: "{ lockMode: LockMode.PESSIMISTIC_WRITE }",
      reason: "Not caught: the lock only keeps a skill from being enabled or replaced while it is being deleted.",
    },
  ],
  "domain/skills/enable-skill.ts": [
    { original: '"agent"', replacement: '""', reason: "Equivalent but locks more: the row of the server too." },
  ],
  "domain/skills/list-agent-skills.ts": [
    { original: "last !== undefined", reason: "Equivalent: if more skills follow, the page has one." },
    {
      original: "a.name < b.name",
      replacement: "a.name <= b.name",
      reason: "Equivalent: only the order of two skills with the same name differs.",
    },
  ],
  "domain/skills/read-repository.ts": [
    { original: '"."', replacement: '""', reason: "Equivalent: the root too." },
    { original: "signal.aborted", replacement: "false", reason: SLOW_CHECKOUT },
    { original: '"invalid"', replacement: '""', reason: SLOW_CHECKOUT },
    { original: "{ cause: error, }", reason: FOR_THE_LOG },
    { original: "count += 1", reason: "Equivalent: only whether the count is zero is read." },
  ],
  "domain/skills/read-skills.ts": [
    { original: "last !== undefined", reason: "Equivalent: a page with another one after it has a skill." },
    { original: "path !== undefined", replacement: "true", reason: "Equivalent: every skill has a SKILL.md." },
    { original: '""', replacement: '"Stryker was here!"', reason: "Never evaluated: the query is for a given path." },
  ],
  "domain/skills/skill-document.ts": [
    { original: '""', replacement: '"Stryker was here!"', reason: "Never evaluated: the description is required." },
    {
      original: "/^---[ \\t]*\\r?\\n(?<yaml>[\\s\\S]*?)^---[ \\t]*$/my",
      reason: "Equivalent: the flag y matches at the start only.",
    },
    { original: 'match?.groups?.["yaml"]', reason: "Equivalent: a match has groups." },
  ],
  "domain/skills/skill-requirements.ts": [
    { original: '""', replacement: '"Stryker was here!"', reason: "Equivalent: neither text is a valid name." },
    { original: "[]", reason: "Equivalent: no requirement has a name with spaces." },
    {
      original: "platform === null",
      replacement: "false",
      reason: "Equivalent: the list of platforms does not contain null.",
    },
  ],
  "domain/skills/upload-skill.ts": [
    { original: "[]", reason: "Never evaluated: there are files without an archive and a repository." },
    {
      original: "`skills ${caller.orgId}`",
      reason: "Equivalent but slower: the uploads of all organizations wait for each other.",
    },
  ],
};
