import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import path from "node:path";
import { curlExample, exampleOf } from "./examples.ts";
import {
  type Content,
  describeFields,
  describeType,
  type Document,
  listOperations,
  type NamedOperation,
  type Schema,
  schemaName,
  type TypePart,
} from "./reference.ts";

const STYLE = readFileSync(path.join(import.meta.dirname, "reference.css"), "utf8");
const SCRIPT = readFileSync(path.join(import.meta.dirname, "page-script.js"), "utf8");

/** Allows this style and this script, and no request at all. */
export const REFERENCE_POLICY = [
  "default-src 'none'",
  `style-src '${hash(STYLE)}'`,
  `script-src '${hash(SCRIPT)}'`,
  "img-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

function hash(text: string): string {
  return `sha256-${createHash("sha256").update(text).digest("base64")}`;
}

/** Renders the OpenAPI document as one page. Its script searches and copies. */
export function renderReferencePage(openapi: object): string {
  const document = openapi as Document;
  const operations = listOperations(document);
  const tags = document.tags.map(({ name, description }) => ({
    name,
    description,
    operations: operations.filter((operation) => operation.tags.includes(name)),
  }));
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>REST reference · ${escape(document.info.title)}</title>
<link rel="icon" href="/icon.svg" type="image/svg+xml">
<style>${STYLE}</style>
</head>
<body>
<nav aria-label="Operations">
<p class="home"><a href="/">${escape(document.info.title)}</a></p>
<input type="search" id="search" placeholder="Search operations" aria-label="Search operations" autocomplete="off" spellcheck="false">
<p id="matches" role="status"></p>
${tags.map(renderTagLinks).join("\n")}
<p class="tag"><a href="#schemas">Schemas</a></p>
</nav>
<main>
${renderIntroduction(document)}
${tags.map((tag) => renderTag(tag, document)).join("\n")}
<section class="schemas"><h2 id="schemas">Schemas</h2>
${Object.entries(document.components.schemas)
  .map(([name, schema]) => renderSchema(name, schema))
  .join("\n")}
</section>
</main>
<script>${SCRIPT}</script>
</body>
</html>
`;
}

interface Tag {
  name: string;
  description: string;
  operations: NamedOperation[];
}

function renderTagLinks({ name, operations }: Tag): string {
  const links = operations.map(
    ({ operationId, method, summary }) =>
      `<li><a href="#${escape(operationId)}">${escape(summary)} ${renderMethod(method)}</a></li>`,
  );
  return `<p class="tag"><a href="#${tagId(name)}">${escape(name)}</a></p><ul>${links.join("")}</ul>`;
}

function renderIntroduction({ info, servers }: Document): string {
  return `<header><h1>REST reference</h1>
<p>${renderText(info.description)}</p>
<p>The base URL is <code>${escape(servers[0]?.url ?? "")}</code>. Every request needs the header <code>Authorization: Bearer &lt;token&gt;</code>, with an API key or an access token. Every error has the body <code>{"error": "…"}</code>, every response the header <code>X-Request-Id</code>.</p>
<p>Programs read the <a href="/v1/openapi.json">OpenAPI document</a>.</p></header>`;
}

function renderTag({ name, description, operations }: Tag, document: Document): string {
  return `<section><h2 id="${tagId(name)}">${escape(name)}</h2><p>${renderText(description)}</p>
${operations.map((operation) => renderOperation(operation, document)).join("\n")}
</section>`;
}

function renderOperation(operation: NamedOperation, { servers, components }: Document): string {
  const { operationId, method, path, summary, description, requestBody, responses } = operation;
  const answers = Object.entries(responses);
  const successes = answers.filter(([status, { content }]) => status < "300" && content !== undefined);
  return `<article id="${escape(operationId)}">
<h3><a href="#${escape(operationId)}">${escape(summary)}</a></h3>
<p class="request">${renderMethod(method)} <code>${escape(path)}</code></p>
<p>${renderText(description ?? "")}</p>
<div class="call"><pre>${escape(curlExample(servers[0]?.url ?? "", operation, components.schemas))}</pre><button type="button" class="copy">Copy</button></div>
${renderParameters(operation)}
${Object.entries(requestBody?.content ?? {})
  .map(([type, content]) => renderContent(`Request body <code>${type}</code>`, content, components.schemas))
  .join("\n")}
${successes
  .flatMap(([status, { content = {} }]) =>
    Object.entries(content).map(([type, part]) =>
      renderContent(`Response ${status} <code>${type}</code>`, part, components.schemas),
    ),
  )
  .join("\n")}
<details><summary>Statuses <span>${answers.map(([status]) => status).join(" ")}</span></summary>
${renderTable(
  ["Status", "Description"],
  answers.map(([status, answer]) => [status, renderText(answer.description)]),
)}</details>
</article>`;
}

function renderParameters({ parameters = [] }: NamedOperation): string {
  if (parameters.length === 0) return "";
  const rows = parameters.map(({ name, in: location, schema, required, description }) => [
    renderName(name, required === true),
    escape(location),
    renderType(describeType(schema)),
    renderText(description ?? ""),
  ]);
  return `<h4>Parameters</h4>${renderTable(["Name", "In", "Type", "Description"], rows)}`;
}

/** The fields of a named schema are shown where it is used too, so that a reader sees the whole operation in one place. */
function renderContent(heading: string, { schema }: Content, schemas: Record<string, Schema>): string {
  const fields = renderFields(schema.$ref === undefined ? schema : (schemas[schemaName(schema.$ref)] ?? {}));
  const type = schema.$ref === undefined && fields !== "" ? "" : ` ${renderType(describeType(schema))}`;
  const example = JSON.stringify(exampleOf(schema, schemas), null, 2);
  return `<h4>${heading}${type}</h4>${schema.description === undefined ? "" : `<p>${renderText(schema.description)}</p>`}${fields}${
    fields === "" ? "" : `<details><summary>Example</summary><pre>${escape(example)}</pre></details>`
  }`;
}

function renderSchema(name: string, schema: Schema): string {
  const fields = renderFields(schema);
  return `<div class="schema"><h3 id="schema-${name}">${escape(name)}</h3>${
    fields === "" ? `<p>${renderType(describeType(schema))}</p>` : fields
  }</div>`;
}

function renderFields(schema: Schema): string {
  const rows = describeFields(schema).map(({ name, type, isRequired, description }) => [
    renderName(name, isRequired),
    renderType(type),
    renderText(description),
  ]);
  return rows.length === 0 ? "" : renderTable(["Field", "Type", "Description"], rows);
}

/** The cells are HTML. */
function renderTable(columns: string[], rows: string[][]): string {
  const cells = (name: "th" | "td", row: string[]) =>
    `<tr>${row.map((cell) => `<${name}>${cell}</${name}>`).join("")}</tr>`;
  return `<table><thead>${cells("th", columns)}</thead><tbody>${rows
    .map((row) => cells("td", row))
    .join("")}</tbody></table>`;
}

function renderName(name: string, isRequired: boolean): string {
  return `<code>${escape(name)}</code>${isRequired ? " <small>required</small>" : ""}`;
}

function renderMethod(method: string): string {
  return `<b class="${method.toLowerCase()}">${method}</b>`;
}

function renderType(parts: TypePart[]): string {
  return parts
    .map((part) => {
      if ("schema" in part) return `<a href="#schema-${part.schema}">${escape(part.schema)}</a>`;
      return "value" in part ? `<code>${escape(part.value)}</code>` : escape(part.words);
    })
    .join("");
}

/** The text between backticks is code. */
function renderText(text: string): string {
  return escape(text).replace(/`([^`]+)`/g, "<code>$1</code>");
}

function tagId(name: string): string {
  return `tag-${name.toLowerCase().replaceAll(" ", "-")}`;
}

function escape(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
