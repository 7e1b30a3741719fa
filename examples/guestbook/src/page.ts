import { html, raw } from "hono/html";
import type { Entry } from "./entries.ts";

/** `html` escapes all values, so guests cannot inject markup. */
export function guestbookPage(entries: Entry[], problem?: string) {
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width" />
        <title>Guestbook</title>
        <style>
          ${raw(STYLE)}
        </style>
      </head>
      <body>
        <h1>Guestbook</h1>
        ${problem ? html`<p class="problem" role="alert">${problem}</p>` : ""}
        <form method="post" action="/">
          <label>Name <input name="name" maxlength="80" required autocomplete="name" /></label>
          <label>Message <textarea name="message" maxlength="1000" rows="3" required></textarea></label>
          <button>Sign</button>
        </form>
        ${entries.length === 0 ? html`<p class="empty">No entries yet. Write the first one.</p>` : entries.map(article)}
      </body>
    </html>`;
}

function article({ name, message, written_at }: Entry) {
  return html`<article>
    <p>${message}</p>
    <footer>${name} <time datetime="${written_at.replace(" ", "T")}Z">${written_at.slice(0, 10)}</time></footer>
  </article>`;
}

const STYLE = `
  :root { color-scheme: light dark; font: 1.05rem/1.55 system-ui, sans-serif; accent-color: teal; }
  body { max-width: 36rem; margin: 3rem auto; padding: 0 1.25rem; }
  form, label { display: grid; gap: .35rem; }
  form { gap: 1rem; margin-block: 2rem; }
  input, textarea, button { font: inherit; padding: .5rem .7rem; border: 1px solid #8888; border-radius: .4rem; }
  button { justify-self: start; padding-inline: 1.4rem; background: teal; color: white; cursor: pointer; }
  article { border-top: 1px solid #8885; padding-block: 1rem; overflow-wrap: anywhere; }
  article p { margin: 0 0 .4rem; white-space: pre-wrap; }
  footer, .empty { color: #777; font-size: .9rem; }
  .problem { color: crimson; }
`;
