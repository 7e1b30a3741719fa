import { IDENTITY_SCOPES, SCOPE_DESCRIPTIONS, SCOPES } from "../domain/shared/scopes.ts";
import type { AccessMeta } from "../routers/core/access.ts";
import type { ToolEntry } from "../routers/tool-registry.ts";
import type { Operation } from "../server/rest/operations.ts";

const INTRODUCTION = `# Scopes

Generated from \`domain/shared/scopes.ts\` and the routers by \`npm run docs\`. The scope of a token limits what the token permits,
and the role of its user limits it further. Each scope includes the scopes above it.`;

const ENFORCEMENT = `## A call beyond the scope

- A token without any of these scopes permits no call. An OAuth access token can be such a token: its user consented to other
  scopes only.
- REST and typed RPC respond with 403 and \`WWW-Authenticate: Bearer error="insufficient_scope", scope="…"\`, with the scope that
  the call requires.
- The gateway responds in the same way to an OAuth access token, so that its client can ask the user for the missing scope. With a
  personal access token or a gateway token, the call is a tool result with \`isError: true\`.
- \`tools/list\` returns only the tools that the token permits, and the direct tools of its apps that the token permits.
- A program has the scope of the call that started it. A call of the program beyond this scope rejects with an error.

An app states itself which of its procedures are queries. The service believes it.`;

/** Renders the scopes, and the scope that each operation and tool requires, as a Markdown page. */
export function renderScopesReference(operations: readonly Operation[], tools: Iterable<ToolEntry>): string {
  const rows = SCOPES.map((scope) => {
    const { summary, rest, tools: gateway, programs } = SCOPE_DESCRIPTIONS[scope];
    const columns = [rest, gateway, programs].map((permissions) => permissions.join(". "));
    return `| \`${scope}\` | ${summary} | ${columns.join(" | ")} |`;
  });
  const identityRows = Object.entries(IDENTITY_SCOPES).map(([scope, text]) => `| \`${scope}\` | ${text} |`);
  const calls = [
    ...operations.map(({ method, path, access }) => renderCall(`${method} ${path}`, access)),
    ...[...tools].map(({ tool, access }) => renderCall(tool.name, access)),
    "| Direct tool or procedure of an app that is a query | `read` | |",
    "| Direct tool or procedure of an app that is a mutation | `everything` | |",
  ];
  return `${[
    INTRODUCTION,
    ["| Scope | Permits | REST | Tools | Programs |", "|---|---|---|---|---|", ...rows].join("\n"),
    "An OAuth client can also request these scopes, which permit no call:",
    ["| Scope | Permits |", "|---|---|", ...identityRows].join("\n"),
    "## What each call requires",
    ["| Call | Scope | Role |", "|---|---|---|", ...calls].join("\n"),
    ENFORCEMENT,
  ].join("\n\n")}\n`;
}

function renderCall(name: string, { scope, role }: Required<AccessMeta>): string {
  return `| \`${name}\` | \`${scope}\` | ${role === "member" ? "" : role} |`;
}
