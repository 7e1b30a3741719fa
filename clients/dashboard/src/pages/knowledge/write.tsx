import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type SubmitEvent, useId } from "react";
import { type Api, sendJson } from "../../api.ts";
import { useOrganization } from "../../organization.ts";
import { Button } from "../../ui/button.tsx";
import { Field, readText, Select, TEXT_AREA_CLASS } from "../../ui/field.tsx";
import { ErrorNotice } from "../../ui/notice.tsx";
import { Panel } from "../../ui/panel.tsx";
import { KINDS, knowledgeKey } from "./kinds.ts";

type Added = Awaited<ReturnType<Api["knowledge"]["add"]["mutate"]>>;

/** Adds a document that is written on the page. */
export function WritePanel() {
  const client = useQueryClient();
  const { id: orgId } = useOrganization();
  const field = useId();
  const add = useMutation({
    mutationFn: ({ form }: { form: FormData; element: HTMLFormElement }) =>
      sendJson<Added>(orgId, "POST", "/v1/knowledge/documents", {
        kind: readText(form, "kind"),
        title: readText(form, "title"),
        content: readText(form, "content"),
      }),
    onSuccess: async (_, { element }) => {
      element.reset();
      await client.invalidateQueries({ queryKey: knowledgeKey(orgId) });
    },
  });
  const submit = (event: SubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    add.mutate({ form: new FormData(event.currentTarget), element: event.currentTarget });
  };
  return (
    <Panel title="Write a document">
      <form aria-label="Write a document" className="space-y-4" onSubmit={submit}>
        <Select label="Kind" name="kind" options={KINDS} />
        <Field label="Title" name="title" maxLength={200} required />
        <label htmlFor={field} className="text-sm font-medium">
          Text as Markdown
        </label>
        <textarea id={field} name="content" rows={8} required className={TEXT_AREA_CLASS} />
        <Button type="submit" variant="primary" busy={add.isPending}>
          Add document
        </Button>
        <ErrorNotice error={add.error} />
      </form>
    </Panel>
  );
}
