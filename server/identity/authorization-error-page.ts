import type { AuthorizationError } from "./authorization-error.ts";

/** Returns the HTML of a page without scripts. Its style works in light and dark mode. */
export function renderAuthorizationError({ code, title, message, advice }: AuthorizationError): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)}</title>
<style>
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
main { max-width: 30rem; margin: 15vh auto 0; padding: 0 1rem; overflow-wrap: anywhere; }
h1 { font-size: 1.5rem; }
</style>
</head>
<body>
<main>
<h1>${escapeHtml(title)}</h1>
<p>${escapeHtml(message)}</p>
<p>${escapeHtml(advice)}</p>
<p>Error code: <code>${escapeHtml(code)}</code></p>
<p><a href="/">Go to the start page of this service</a></p>
</main>
</body>
</html>
`;
}

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => ENTITIES[character] ?? "");
}
