import { HighlightStyle, syntaxHighlighting } from "@codemirror/language";
import type { Extension } from "@codemirror/state";
import { EditorView } from "@codemirror/view";
import { tags } from "@lezer/highlight";

/** The colors are those of the page, in both themes. */
const theme = EditorView.theme({
  "&": {
    border: "1px solid var(--color-line-strong)",
    borderRadius: "var(--radius-md)",
    backgroundColor: "var(--color-surface)",
    color: "var(--color-ink)",
    fontSize: "var(--text-sm)",
    maxHeight: "60dvh",
  },
  "&.cm-focused": { outline: "2px solid var(--color-focus)", outlineOffset: "2px" },
  ".cm-scroller": {
    fontFamily: "var(--font-mono)",
    fontVariantLigatures: "none",
    lineHeight: "1.55",
    overflow: "auto",
  },
  ".cm-content": { caretColor: "var(--color-ink)", padding: "0.5rem 0" },
  ".cm-line": { padding: "0 0.75rem" },
  ".cm-cursor": { borderLeftColor: "var(--color-ink)" },
  ".cm-placeholder": { color: "var(--color-muted)" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": {
    backgroundColor: "var(--color-selected)",
  },
  ".cm-content ::selection": { backgroundColor: "var(--color-selected)" },
});

/** The signs make changes visible without colors. */
const differenceTheme = EditorView.theme({
  ".cm-content .cm-line, .cm-content .cm-deletedLine": { position: "relative", padding: "0 0.75rem 0 1.75rem" },
  ".cm-changedLine::before, .cm-insertedLine::before, .cm-deletedLine::before": {
    position: "absolute",
    left: "0.75rem",
  },
  ".cm-changedLine::before, .cm-insertedLine::before": { content: "'+'", color: "var(--color-success)" },
  ".cm-deletedLine::before": { content: "'−'", color: "var(--color-danger)" },
  "&.cm-merge-b .cm-changedLine, .cm-inlineChangedLine": { backgroundColor: "var(--color-success-soft)" },
  ".cm-deletedChunk": { backgroundColor: "var(--color-danger-soft)", paddingLeft: "0" },
  "&.cm-merge-b .cm-changedText": {
    background: "none",
    textDecoration: "underline var(--color-success)",
    textUnderlineOffset: "3px",
  },
  ".cm-deletedChunk .cm-deletedText, & .cm-deletedText": {
    background: "none",
    textDecoration: "line-through var(--color-danger)",
  },
  "& ins.cm-insertedLine, & del, & del.cm-deletedLine": { textDecoration: "none" },
  ".cm-collapsedLines": {
    background: "var(--color-sunken)",
    color: "var(--color-muted)",
    padding: "0.25rem 0.75rem",
    fontFamily: "var(--font-sans)",
  },
  // The fonts of the page lack the signs of the library.
  "& .cm-collapsedLines:before, & .cm-collapsedLines:after": { content: "'⋯'" },
});

const markdownStyle = HighlightStyle.define([
  { tag: tags.heading, fontWeight: "600", color: "var(--color-ink)" },
  { tag: tags.strong, fontWeight: "600" },
  { tag: tags.emphasis, fontStyle: "italic" },
  { tag: tags.strikethrough, textDecoration: "line-through" },
  { tag: [tags.link, tags.url], color: "var(--color-link)" },
  { tag: tags.monospace, color: "var(--color-progress)" },
  { tag: [tags.processingInstruction, tags.quote, tags.meta, tags.contentSeparator], color: "var(--color-muted)" },
]);

export const EDITOR_THEME: Extension = [theme, syntaxHighlighting(markdownStyle), EditorView.lineWrapping];
export const DIFFERENCE_THEME: Extension = [EDITOR_THEME, differenceTheme];

/**
 * Opens an editor in a shadow root, because the editor adds its styles as a <style> element to a document, which the
 * Content-Security-Policy forbids. To a shadow root it adds them as a constructed style sheet.
 */
export function openEditor(host: HTMLElement, doc: string, extensions: Extension): EditorView {
  const root = host.shadowRoot ?? host.attachShadow({ mode: "open" });
  return new EditorView({ doc, extensions: [extensions, replaceSelectionOnInput], root, parent: root });
}

/**
 * Types over a selection. A browser would give the new text the style of the replaced one as a style attribute, which the
 * Content-Security-Policy forbids too.
 */
const replaceSelectionOnInput = EditorView.domEventHandlers({
  beforeinput: (event, view) => {
    const { state } = view;
    const isTyped = event.inputType === "insertText" && event.data !== null && !event.isComposing;
    if (!isTyped || state.readOnly || state.selection.main.empty) return false;
    view.dispatch(
      state.update(state.replaceSelection(event.data ?? ""), { userEvent: "input.type", scrollIntoView: true }),
    );
    event.preventDefault();
    return true;
  },
});
