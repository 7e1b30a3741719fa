import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { Api } from "../../api.ts";
import { useOrganization } from "../../organization.ts";
import { showToast } from "../../show-toast.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Field, readText, Select } from "../../ui/field.tsx";
import { ErrorNotice } from "../../ui/notice.tsx";
import { submitForm } from "../../ui/submit-form.ts";
import { KINDS, knowledgeKey } from "./kinds.ts";

type NewSource = Parameters<Api["knowledgeSources"]["add"]["mutate"]>[0];

const TYPES = [
  ["url", "Web page or file"],
  ["repository", "Repository"],
] as const;

/** A button that opens a dialog to add a source. */
export function AddSource() {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button onClick={() => setOpen(true)}>Add source</Button>
      <Dialog
        title="Add a source"
        description="It is read at once, and then every day. A private repository needs a git connection."
        open={isOpen}
        onClose={() => setOpen(false)}
      >
        {isOpen && <SourceForm onDone={() => setOpen(false)} />}
      </Dialog>
    </>
  );
}

function SourceForm({ onDone }: { onDone: () => void }) {
  const { id: orgId, api } = useOrganization();
  const client = useQueryClient();
  const [type, setType] = useState<string>("url");
  const add = useMutation({
    mutationFn: (form: FormData) => api.knowledgeSources.add.mutate(readSource(form)),
    onSuccess: async ({ url, repo }) => {
      showToast("Source added", url ?? repo ?? "");
      await client.invalidateQueries({ queryKey: knowledgeKey(orgId) });
      onDone();
    },
  });
  return (
    <form
      aria-label="Add a source"
      className="space-y-4"
      onSubmit={(event) => submitForm(event, (form, options) => add.mutate(form, options))}
    >
      <Select label="Source" options={TYPES} value={type} onChange={(event) => setType(event.target.value)} />
      {type === "url" ? (
        <Field
          label="URL"
          name="url"
          type="url"
          required
          autoComplete="off"
          placeholder="https://example.com/pricing"
          hint="One page or file. Its links are not followed."
        />
      ) : (
        <RepositoryFields />
      )}
      <Select label="Kind of its documents" name="kind" options={KINDS} />
      <div className="flex justify-end gap-2">
        <Button onClick={onDone}>Cancel</Button>
        <Button type="submit" variant="primary" busy={add.isPending}>
          Add source
        </Button>
      </div>
      <ErrorNotice error={add.error} />
    </form>
  );
}

function RepositoryFields() {
  return (
    <>
      <Field
        label="Repository"
        name="repo"
        required
        autoComplete="off"
        placeholder="acme/handbook"
        hint="As owner/name, or the URL of the repository or of a folder in it"
      />
      <div className="grid gap-4 sm:grid-cols-2">
        <Field label="Branch" name="branch" autoComplete="off" hint="By default main" />
        <Field label="Folder" name="path" autoComplete="off" hint="By default all of it" />
      </div>
    </>
  );
}

/** Leaves out empty fields. */
function readSource(form: FormData): NewSource {
  const kind = readText(form, "kind") as NewSource["kind"];
  if (form.has("url")) return { kind, url: readText(form, "url") };
  const [branch, path] = [readText(form, "branch"), readText(form, "path")];
  return { kind, repo: readText(form, "repo"), ...(branch !== "" && { branch }), ...(path !== "" && { path }) };
}
