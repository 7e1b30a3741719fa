import { useMutation, useQueryClient } from "@tanstack/react-query";
import type { SubmitEvent } from "react";
import { showToast } from "../../show-toast.ts";
import { Button } from "../../ui/button.tsx";
import { Disclosure } from "../../ui/disclosure.tsx";
import { Field, readText, TextArea } from "../../ui/field.tsx";
import { ErrorNotice, Notice } from "../../ui/notice.tsx";
import { ACCEPTED, readFile } from "../../ui/read-file.ts";
import type { DocumentDetail, DocumentSet } from "./document-set.ts";

/** Replaces the text of a document. */
export function EditDocument({ set, document }: { set: DocumentSet; document: DocumentDetail }) {
  const { document_id: id, content } = document;
  const client = useQueryClient();
  const change = useMutation({
    mutationFn: async (form: FormData) => {
      const file = form.get("file");
      const isFile = file instanceof File && file.name !== "";
      return set.change(id, isFile ? { file: await readFile(file) } : { content: readText(form, "content") });
    },
    onSuccess: async ({ status, version }) => {
      if (status !== "unchanged") showToast(`Version ${version} saved`);
      await client.invalidateQueries({ queryKey: set.key });
    },
  });
  const submit = (event: SubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    change.mutate(new FormData(event.currentTarget));
  };
  return (
    <Disclosure title="Change the text" hint="or replace it">
      <form aria-label="Text of the document" className="space-y-4" onSubmit={submit}>
        <TextArea label="Text as Markdown" name="content" rows={18} className="font-mono" defaultValue={content} />
        <Field label="Replace with a file" name="file" type="file" accept={ACCEPTED} />
        <Button type="submit" variant="primary" busy={change.isPending}>
          Save as new version
        </Button>
        <ErrorNotice error={change.error} />
        {change.data?.status === "unchanged" && <Notice>The text is the same as before.</Notice>}
      </form>
    </Disclosure>
  );
}
