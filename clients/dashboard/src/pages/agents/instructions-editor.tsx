import { type RefObject, useRef, useState } from "react";
import { flushSync } from "react-dom";
import { showToast } from "../../show-toast.ts";
import { Button } from "../../ui/button.tsx";
import { ConfirmButton } from "../../ui/confirm-button.tsx";
import { MarkdownEditor, type MarkdownEditorHandle } from "../../ui/markdown-editor.tsx";
import { Notice, ErrorNotice } from "../../ui/notice.tsx";
import { TextDifference } from "../../ui/text-difference.tsx";
import { Timestamp } from "../../ui/timestamp.tsx";
import { InstructionsConflict } from "./instructions-conflict.tsx";
import type { InstructionsVersion } from "./instructions-draft.ts";
import type { Instructions } from "./instructions-query.ts";
import { type InstructionsEdit, useInstructionsEdit, useSaveInstructions } from "./use-instructions-edit.ts";

type Step = "edit" | "review" | { theirs: InstructionsVersion };

const HINT = "What should the agent know and do? Write Markdown.";

/** Edits the instructions of an agent, and shows the changes before it saves them. */
export function InstructionsEditor({ current }: { current: Instructions }) {
  const edit = useInstructionsEdit(current.agent_id, current);
  const editor = useRef<MarkdownEditorHandle>(null);
  const { step, save, isOutdated, backToEditor, review, submit, acceptMerge } = useSteps({ edit, current, editor });
  return (
    <>
      <div hidden={step !== "edit"} className="space-y-4">
        <MarkdownEditor
          key={edit.editorKey}
          ref={editor}
          label="Instructions"
          file="AGENTS.md"
          initialText={edit.text}
          hint={HINT}
          onChange={edit.setText}
          onSave={review}
        />
        {isOutdated && <Notice>Another version was saved since you began. The next step merges it with yours.</Notice>}
        <EditorFooter edit={edit} onReview={review} onDiscard={backToEditor} />
      </div>
      {step === "review" && (
        <Review edit={edit} busy={save.isPending} error={save.error} onSave={submit} onBack={backToEditor} />
      )}
      {typeof step === "object" && (
        <InstructionsConflict
          // A later conflict starts without resolutions.
          key={step.theirs.content_hash}
          mine={edit.text}
          base={edit.base.content}
          theirs={step.theirs}
          onMerged={(merged) => acceptMerge(step.theirs, merged)}
          onBack={backToEditor}
        />
      )}
    </>
  );
}

interface StepsOptions {
  edit: InstructionsEdit;
  current: Instructions;
  editor: RefObject<MarkdownEditorHandle | null>;
}

/** The way from the editor to saved instructions. */
function useSteps({ edit, current, editor }: StepsOptions) {
  const save = useSaveInstructions(current.agent_id);
  const [step, setStep] = useState<Step>("edit");
  const isOutdated = edit.isChanged && edit.base.content_hash !== current.content_hash;
  const backToEditor = (): void => {
    flushSync(() => setStep("edit"));
    editor.current?.focus();
  };
  const review = (): void => {
    if (!edit.isChanged) return;
    save.reset();
    setStep(isOutdated ? { theirs: current } : "review");
  };
  const finish = (saved: InstructionsVersion): void => {
    flushSync(() => edit.rebase(saved));
    showToast("Instructions saved");
    backToEditor();
  };
  const submit = (): void =>
    save.mutate(edit, {
      onSuccess: (result) => {
        if ("saved" in result) finish(result.saved);
        else if (result.theirs.content === edit.text) finish(result.theirs);
        else setStep(result);
      },
    });
  const acceptMerge = (theirs: InstructionsVersion, merged: string): void => {
    flushSync(() => edit.replace(theirs, merged));
    if (merged === theirs.content) backToEditor();
    else setStep("review");
  };
  return { step, save, isOutdated, backToEditor, review, submit, acceptMerge };
}

interface EditorFooterProps {
  edit: InstructionsEdit;
  onReview: () => void;
  onDiscard: () => void;
}

function EditorFooter({ edit, onReview, onDiscard }: EditorFooterProps) {
  const { isChanged, isKept, changedAt, base, discard } = edit;
  const throwAway = (): void => {
    flushSync(discard);
    onDiscard();
  };
  return (
    <div className="flex flex-wrap items-center gap-x-4 gap-y-2 text-sm">
      <Button variant="primary" disabled={!isChanged} onClick={onReview}>
        Review changes
      </Button>
      {isChanged && (
        <ConfirmButton label="Discard draft" question="Discard your draft?" onConfirm={throwAway}>
          Your changes are removed. The saved instructions stay as they are.
        </ConfirmButton>
      )}
      <span className="text-muted">
        {!isChanged && (base.revision > 0 ? `Revision ${base.revision}` : "Not saved as a revision yet")}
        {isChanged && isKept && (
          <>
            Unsaved draft, <Timestamp at={changedAt} />
          </>
        )}
        {isChanged && !isKept && "Unsaved changes. This browser cannot keep them if you leave the page."}
      </span>
    </div>
  );
}

interface ReviewProps {
  edit: InstructionsEdit;
  busy: boolean;
  error: Error | null;
  onSave: () => void;
  onBack: () => void;
}

function Review({ edit: { base, text }, busy, error, onSave, onBack }: ReviewProps) {
  return (
    <section aria-label="Review of the changes" className="space-y-4">
      <h3 ref={focus} tabIndex={-1} className="font-medium">
        Your changes {base.revision > 0 && `to revision ${base.revision}`}
      </h3>
      <TextDifference label="Changes to the instructions" before={base.content} after={text} />
      <div className="flex flex-wrap gap-2">
        <Button variant="primary" busy={busy} onClick={onSave}>
          Save instructions
        </Button>
        <Button onClick={onBack}>Continue editing</Button>
      </div>
      <ErrorNotice error={error} />
    </section>
  );
}

const focus = (element: HTMLElement | null): void => element?.focus();
