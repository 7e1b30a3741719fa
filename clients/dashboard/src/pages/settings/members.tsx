import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import type { SubmitEvent } from "react";
import { identity } from "../../api.ts";
import { Button } from "../../ui/button.tsx";
import { Confirm } from "../../ui/confirm-button.tsx";
import { Field, Select } from "../../ui/field.tsx";
import { Notice, Problem } from "../../ui/notice.tsx";
import { Panel } from "../../ui/panel.tsx";
import { Secret } from "../../ui/secret-value.tsx";
import { PageTitle } from "../../ui/page-layout.tsx";
import { Cell, Table } from "../../ui/table.tsx";
import { When } from "../../ui/timestamp.tsx";

interface Member {
  id: string;
  role: string;
  createdAt: string;
  user: { name: string; email: string };
}

interface Invitation {
  id: string;
  email: string;
  role: string;
  status: string;
  expiresAt: string;
}

const ROLES = [
  ["member", "member"],
  ["admin", "admin"],
  ["owner", "owner"],
] as const;

const MEMBERS = ["members"];
const INVITATIONS = ["invitations"];

export function MembersPage() {
  return (
    <>
      <PageTitle>Members</PageTitle>
      <MembersPanel />
      <InvitationsPanel />
    </>
  );
}

function MembersPanel() {
  const members = useQuery({
    queryKey: MEMBERS,
    queryFn: () => identity<{ members: Member[] }>("/organization/list-members?limit=100"),
  });
  return (
    <Panel title="Members">
      <Problem error={members.error} />
      {members.data !== undefined && (
        <Table caption="Members" columns={["Name", "Email", "Role", "Since", "Actions"]}>
          {members.data.members.map((member) => (
            <MemberRow key={member.id} member={member} />
          ))}
        </Table>
      )}
    </Panel>
  );
}

function MemberRow({ member: { id, role, createdAt, user } }: { member: Member }) {
  const client = useQueryClient();
  const refresh = () => client.invalidateQueries({ queryKey: MEMBERS });
  const remove = useMutation({
    mutationFn: () => identity("/organization/remove-member", { memberIdOrEmail: id }),
    onSuccess: refresh,
  });
  const change = useMutation({
    mutationFn: (next: string) => identity("/organization/update-member-role", { memberId: id, role: next }),
    onSuccess: refresh,
  });
  return (
    <tr>
      <Cell>
        {user.name}
        <Problem error={remove.error ?? change.error} />
      </Cell>
      <Cell>{user.email}</Cell>
      <Cell>
        <select
          aria-label={`Role of ${user.name}`}
          className="min-h-10 rounded-md border border-zinc-400 bg-white px-2 dark:border-zinc-600 dark:bg-zinc-900"
          value={role}
          disabled={change.isPending}
          onChange={(event) => change.mutate(event.currentTarget.value)}
        >
          {ROLES.map(([value, text]) => (
            <option key={value} value={value}>
              {text}
            </option>
          ))}
        </select>
      </Cell>
      <Cell>
        <When at={createdAt} />
      </Cell>
      <Cell>
        <Confirm
          label="Remove"
          longLabel={`Remove ${user.name}`}
          question={`Remove ${user.name}?`}
          busy={remove.isPending}
          onConfirm={() => remove.mutate()}
        >
          They are refused from now on, and so are their personal access tokens.
        </Confirm>
      </Cell>
    </tr>
  );
}

function InvitationsPanel() {
  const client = useQueryClient();
  const invitations = useQuery({
    queryKey: INVITATIONS,
    queryFn: () => identity<Invitation[]>("/organization/list-invitations"),
  });
  const invite = useMutation({
    mutationFn: (form: FormData) =>
      identity<Invitation>("/organization/invite-member", { email: form.get("email"), role: form.get("role") }),
    onSuccess: () => client.invalidateQueries({ queryKey: INVITATIONS }),
  });
  const submit = (event: SubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    invite.mutate(new FormData(event.currentTarget));
  };
  const open = invitations.data?.filter(({ status }) => status === "pending") ?? [];
  return (
    <Panel title="Invitations" intro="Nothing is sent by email: hand the link to the person yourself.">
      <form className="grid items-end gap-4 sm:grid-cols-[2fr_1fr_auto]" onSubmit={submit}>
        <Field label="Email" name="email" type="email" required autoComplete="off" />
        <Select label="Role" name="role" options={ROLES} />
        <Button type="submit" look="primary" busy={invite.isPending}>
          Invite
        </Button>
      </form>
      <Problem error={invite.error ?? invitations.error} />
      {invite.data !== undefined && (
        <Notice look="good">
          <Secret label={`Link for ${invite.data.email}`} value={linkOf(invite.data.id)} />
        </Notice>
      )}
      {open.length > 0 && (
        <Table caption="Open invitations" columns={["Email", "Role", "Expires", "Actions"]}>
          {open.map((invitation) => (
            <InvitationRow key={invitation.id} invitation={invitation} />
          ))}
        </Table>
      )}
    </Panel>
  );
}

function InvitationRow({ invitation: { id, email, role, expiresAt } }: { invitation: Invitation }) {
  const client = useQueryClient();
  const cancel = useMutation({
    mutationFn: () => identity("/organization/cancel-invitation", { invitationId: id }),
    onSuccess: () => client.invalidateQueries({ queryKey: INVITATIONS }),
  });
  return (
    <tr>
      <Cell>
        {email}
        <Problem error={cancel.error} />
      </Cell>
      <Cell>{role}</Cell>
      <Cell>
        <When at={expiresAt} />
      </Cell>
      <Cell>
        <Confirm
          label="Cancel invitation"
          question={`Cancel the invitation of ${email}?`}
          busy={cancel.isPending}
          onConfirm={() => cancel.mutate()}
        >
          The link stops working.
        </Confirm>
      </Cell>
    </tr>
  );
}

function linkOf(id: string): string {
  return `${location.origin}/invitations/${id}`;
}
