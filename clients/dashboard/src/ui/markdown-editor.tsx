import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { markdownKeymap, markdownLanguage } from "@codemirror/lang-markdown";
import { Compartment, type Extension, Prec } from "@codemirror/state";
import { drawSelection, EditorView, keymap, placeholder } from "@codemirror/view";
import { type Ref, useEffect, useEffectEvent, useImperativeHandle, useRef, useState } from "react";
import { EDITOR_THEME, openEditor } from "./editor-theme.ts";
import { Checkbox } from "./field.tsx";

export interface MarkdownEditorHandle {
  focus(): void;
}

interface MarkdownEditorProps {
  /** The accessible name. */
  label: string;
  /** The name of the file, which is shown above it. */
  file: string;
  /** The text at first. Use another `key` to replace it later. */
  initialText: string;
  /** Shown while the editor is empty. */
  hint: string;
  onChange: (text: string) => void;
  /** Ctrl+S, or Cmd+S. */
  onSave: () => void;
  ref?: Ref<MarkdownEditorHandle>;
}

/** An editor for Markdown. The Tab key leaves it, unless the user wants it to indent. */
export function MarkdownEditor({ label, file, initialText, hint, onChange, onSave, ref }: MarkdownEditorProps) {
  const host = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView>(null);
  const [tabKey] = useState(() => new Compartment());
  const [indents, setIndents] = useState(false);
  const change = useEffectEvent(onChange);
  const save = useEffectEvent(onSave);
  const open = useEffectEvent((element: HTMLElement) =>
    openEditor(element, initialText, [
      ...createExtensions({ label, hint, onSave: () => save() }),
      tabKey.of([]),
      EditorView.updateListener.of((update) => {
        if (update.docChanged) change(update.state.doc.toString());
      }),
    ]),
  );
  useEffect(() => {
    if (host.current === null) return;
    const opened = open(host.current);
    view.current = opened;
    return () => opened.destroy();
  }, []);
  useEffect(() => {
    view.current?.dispatch({ effects: tabKey.reconfigure(indents ? keymap.of([indentWithTab]) : []) });
  }, [indents, tabKey]);
  useImperativeHandle(ref, () => ({ focus: () => view.current?.focus() }));
  return (
    <div className="space-y-1">
      <div className="flex flex-wrap items-center justify-between gap-x-4">
        <span className="font-mono text-sm text-muted">{file}</span>
        <Checkbox
          label="Tab key indents (Esc, then Tab leaves)"
          checked={indents}
          onChange={(event) => setIndents(event.target.checked)}
        />
      </div>
      <div ref={host} />
    </div>
  );
}

function createExtensions({ label, hint, onSave }: { label: string; hint: string; onSave: () => void }): Extension[] {
  const run = (): boolean => {
    onSave();
    return true;
  };
  return [
    history(),
    drawSelection(),
    markdownLanguage,
    Prec.high(keymap.of([{ key: "Mod-s", run, preventDefault: true }, ...markdownKeymap])),
    keymap.of([...defaultKeymap, ...historyKeymap]),
    placeholder(hint),
    EditorView.contentAttributes.of({ "aria-label": label, spellcheck: "true" }),
    EditorView.theme({ ".cm-content": { minHeight: "14rem" } }),
    EDITOR_THEME,
  ];
}
