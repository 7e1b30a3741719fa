import { useMutation, useQueryClient } from "@tanstack/react-query";
import { TRPCClientError } from "@trpc/client";
import { useState } from "react";
import type { Api } from "../../api.ts";
import { useOrganization } from "../../organization.ts";
import { draftKey, type InstructionsVersion, readDraft, removeDraft, storeDraft } from "./instructions-draft.ts";
import { instructionsKey } from "./instructions-query.ts";

export interface InstructionsEdit {
  text: string;
  /** The version that is being edited. */
  base: InstructionsVersion;
  isChanged: boolean;
  /** When the text was last changed: ISO 8601. */
  changedAt: string | null;
  /** Whether the browser keeps the draft. */
  isKept: boolean;
  /** Changes when the text was replaced other than by typing. */
  editorKey: number;
  setText(text: string): void;
  /** Continues with another text, as a change of another version. */
  replace(base: InstructionsVersion, text: string): void;
  /** Continues with the same text, as a change of another version. */
  rebase(base: InstructionsVersion): void;
  /** Discards the draft. */
  discard(): void;
}

/** The text of an editor, whose draft survives leaving the page. */
export function useInstructionsEdit(agentId: string, current: InstructionsVersion): InstructionsEdit {
  const { id: orgId } = useOrganization();
  const key = draftKey(orgId, agentId);
  const [state, setState] = useState(() => {
    const draft = readDraft(key);
    const { base, text, changedAt } = draft ?? { base: current, text: current.content, changedAt: null };
    return { base, text, changedAt, isKept: true, editorKey: 0, seen: current.content_hash };
  });
  const isChanged = state.text !== state.base.content;
  const keep = (base: InstructionsVersion, text: string) => {
    const changedAt = new Date().toISOString();
    if (text === base.content) removeDraft(key);
    const isKept = text === base.content || storeDraft(key, { base, text, changedAt });
    return { base, text, changedAt, isKept };
  };
  const start = { base: current, text: current.content, changedAt: null, editorKey: state.editorKey + 1 };
  if (state.seen !== current.content_hash) {
    // Somebody else saved. Without own changes, the editor shows their version.
    const isOther = !isChanged && current.content_hash !== state.base.content_hash;
    setState({ ...state, ...(isOther && start), seen: current.content_hash });
  }
  return {
    ...state,
    isChanged,
    setText: (text) => setState((previous) => ({ ...previous, ...keep(previous.base, text) })),
    replace: (base, text) => setState({ ...state, ...keep(base, text), editorKey: state.editorKey + 1 }),
    rebase: (base) => setState((previous) => ({ ...previous, ...keep(base, previous.text) })),
    discard: () => {
      removeDraft(key);
      setState({ ...state, ...start });
    },
  };
}

type Saved = { saved: InstructionsVersion } | { theirs: InstructionsVersion };

/** Saves instructions, unless somebody else has saved others meanwhile: then it returns theirs. */
export function useSaveInstructions(agentId: string) {
  const client = useQueryClient();
  const { id: orgId, api } = useOrganization();
  return useMutation({
    mutationFn: (change: { text: string; base: InstructionsVersion }) => save(api, agentId, change),
    onSuccess: async (result: Saved) => {
      const currentKey = [...instructionsKey(orgId, agentId), "current"];
      const current = "saved" in result ? result.saved : result.theirs;
      client.setQueryData(currentKey, (old: object | undefined) => old && { ...old, ...current });
      await client.invalidateQueries({ queryKey: instructionsKey(orgId, agentId) });
    },
  });
}

async function save(api: Api, id: string, { text, base }: { text: string; base: InstructionsVersion }): Promise<Saved> {
  try {
    const request = { id, content: text, expected_hash: base.content_hash };
    const { after, revision } = await api.instructions.replace.mutate(request);
    return { saved: { content: text, content_hash: after.content_hash, revision } };
  } catch (error) {
    if (!isConflict(error)) throw error;
    const { content, content_hash, revision } = await api.instructions.get.query({ id });
    // Other conflicts have other reasons, such as a gateway that cannot do it.
    if (content_hash === base.content_hash) throw error;
    return { theirs: { content, content_hash, revision } };
  }
}

function isConflict(error: unknown): boolean {
  return error instanceof TRPCClientError && (error.data as { code?: unknown } | null)?.code === "CONFLICT";
}
