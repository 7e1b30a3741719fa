import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import type { SubmitEvent } from "react";
import { type AuditFilter, fromLocalInput, readAuditFilter, toLocalInput } from "../../audit-filter.ts";
import { membersQuery } from "../../members-query.ts";
import { useOrganization } from "../../organization.ts";
import { Button } from "../../ui/button.tsx";
import { Field, readText, Select } from "../../ui/field.tsx";
import { ExportEvents } from "./export-events.tsx";

interface Props {
  filter: AuditFilter;
  /** Actions to suggest. */
  actions: readonly string[];
}

/** Changes the filter in the URL of the page. */
export function AuditFilterForm({ filter, actions }: Props) {
  const { id: org } = useOrganization();
  const navigate = useNavigate();
  const apply = (next: AuditFilter) => void navigate({ to: "/settings/audit", search: { org, ...next } });
  const submit = (event: SubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const [from, to] = [fromLocalInput(readText(form, "from")), fromLocalInput(readText(form, "to"))];
    const [user_id, action, target] = ["user_id", "action", "target"].map((name) => readText(form, name));
    const chosen = { user_id, action, target, from, to };
    apply({ ...readAuditFilter({ credential_id: filter.credential_id }), ...readAuditFilter(chosen) });
  };
  return (
    <form className="grid items-end gap-4 sm:grid-cols-2 lg:grid-cols-5" onSubmit={submit}>
      <UserSelect selected={filter.user_id ?? ""} />
      <Field
        label="Action"
        name="action"
        defaultValue={filter.action}
        list="audit-actions"
        placeholder="apps.deploy"
        autoComplete="off"
      />
      <datalist id="audit-actions">
        {actions.map((action) => (
          <option key={action} value={action} />
        ))}
      </datalist>
      <Field
        label="Target"
        name="target"
        defaultValue={filter.target}
        placeholder="Id of an app, a token, …"
        autoComplete="off"
        spellCheck={false}
      />
      <Field label="From" name="from" type="datetime-local" defaultValue={toLocalInput(filter.from)} />
      <Field label="Before" name="to" type="datetime-local" defaultValue={toLocalInput(filter.to)} />
      <div className="col-span-full flex flex-wrap gap-2">
        <Button type="submit" variant="primary">
          Apply
        </Button>
        {Object.keys(filter).length > 0 && <Button onClick={() => apply({})}>Clear filters</Button>}
        <ExportEvents filter={filter} />
      </div>
    </form>
  );
}

function UserSelect({ selected }: { selected: string }) {
  const { id: organizationId } = useOrganization();
  const { data: members = [] } = useQuery(membersQuery(organizationId));
  const options = members.map(({ userId, user }) => [userId, `${user.name} (${user.email})`] as const);
  const isFormerMember = selected !== "" && !members.some(({ userId }) => userId === selected);
  return (
    <Select
      // The options arrive after the first display, which would otherwise decide what is selected.
      key={options.length}
      label="User"
      name="user_id"
      defaultValue={selected}
      options={[["", "All users"], ...options, ...(isFormerMember ? [[selected, selected] as const] : [])]}
    />
  );
}
