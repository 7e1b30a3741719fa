import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Button } from "../../ui/button.tsx";
import { Disclosure } from "../../ui/disclosure.tsx";
import { Field, readText, Select, TextArea } from "../../ui/field.tsx";
import { ErrorNotice } from "../../ui/notice.tsx";
import { submitForm } from "../../ui/submit-form.ts";
import { showToast } from "../../show-toast.ts";
import { KINDS } from "../knowledge/kinds.ts";
import type { DocumentSet } from "./document-set.ts";

/** Adds a document that is written on the page. */
export function WriteDocument({ set }: { set: DocumentSet }) {
  const client = useQueryClient();
  const add = useMutation({
    mutationFn: (form: FormData) =>
      set.add({
        ...(set.hasKinds && { kind: readText(form, "kind") }),
        title: readText(form, "title"),
        content: readText(form, "content"),
      }),
    onSuccess: async ({ title }) => {
      showToast("Document added", title);
      await client.invalidateQueries({ queryKey: set.key });
    },
  });
  return (
    <Disclosure title="Write a document" hint="as Markdown">
      <form
        aria-label="Write a document"
        className="space-y-4"
        onSubmit={(event) => submitForm(event, (form, options) => add.mutate(form, options))}
      >
        <div className="grid gap-4 sm:grid-cols-[2fr_1fr]">
          <Field label="Title" name="title" maxLength={200} required autoComplete="off" />
          {set.hasKinds && <Select label="Kind" name="kind" options={KINDS} />}
        </div>
        <TextArea label="Text as Markdown" name="content" rows={8} required className="font-mono" />
        <Button type="submit" variant="primary" busy={add.isPending}>
          Add document
        </Button>
        <ErrorNotice error={add.error} />
      </form>
    </Disclosure>
  );
}
