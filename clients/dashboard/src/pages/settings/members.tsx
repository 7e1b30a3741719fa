import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import type { SubmitEvent } from "react";
import { callIdentity } from "../../api.ts";
import { useOrganization } from "../../organization.ts";
import { Button } from "../../ui/button.tsx";
import { ConfirmButton } from "../../ui/confirm-button.tsx";
import { Field, Select } from "../../ui/field.tsx";
import { Notice, ErrorNotice } from "../../ui/notice.tsx";
import { Panel } from "../../ui/panel.tsx";
import { SecretValue } from "../../ui/secret-value.tsx";
import { PageTitle } from "../../ui/page-layout.tsx";
import { Cell, Table } from "../../ui/table.tsx";
import { Timestamp } from "../../ui/timestamp.tsx";

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

const MEMBERS = "members";
const INVITATIONS = "invitations";

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
  const { id: organizationId } = useOrganization();
  const query = new URLSearchParams({ organizationId, limit: "100" });
  const members = useQuery({
    queryKey: [MEMBERS, organizationId],
    queryFn: () => callIdentity<{ members: Member[] }>(`/organization/list-members?${query}`),
  });
  return (
    <Panel title="Members">
      <ErrorNotice error={members.error} />
      {members.data !== undefined && (
        <Table caption="Members" columns={["Name", "Email", "Role", "Joined", "Actions"]}>
          {members.data.members.map((member) => (
            <MemberRow key={member.id} member={member} />
          ))}
        </Table>
      )}
    </Panel>
  );
}

function MemberRow({ member: { id, role, createdAt, user } }: { member: Member }) {
  return (
    <tr>
      <Cell>{user.name}</Cell>
      <Cell>{user.email}</Cell>
      <Cell>
        <RoleSelect memberId={id} name={user.name} role={role} />
      </Cell>
      <Cell>
        <Timestamp at={createdAt} />
      </Cell>
      <Cell>
        <RemoveMember memberId={id} name={user.name} />
      </Cell>
    </tr>
  );
}

function RoleSelect({ memberId, name, role }: { memberId: string; name: string; role: string }) {
  const { organizationId, refresh } = useMembers();
  const change = useMutation({
    mutationFn: (next: string) =>
      callIdentity("/organization/update-member-role", { organizationId, memberId, role: next }),
    onSuccess: refresh,
  });
  return (
    <>
      <select
        aria-label={`Role of ${name}`}
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
      <ErrorNotice error={change.error} />
    </>
  );
}

function RemoveMember({ memberId, name }: { memberId: string; name: string }) {
  const { organizationId, refresh } = useMembers();
  const remove = useMutation({
    mutationFn: () => callIdentity("/organization/remove-member", { organizationId, memberIdOrEmail: memberId }),
    onSuccess: refresh,
  });
  return (
    <>
      <ConfirmButton
        label="Remove"
        accessibleLabel={`Remove ${name}`}
        question={`Remove ${name}?`}
        busy={remove.isPending}
        onConfirm={() => remove.mutate()}
      >
        The user immediately loses access, and their personal access tokens are revoked.
      </ConfirmButton>
      <ErrorNotice error={remove.error} />
    </>
  );
}

/** The organization of the page, and a function that reloads its members. */
function useMembers() {
  const client = useQueryClient();
  const { id: organizationId } = useOrganization();
  return { organizationId, refresh: () => client.invalidateQueries({ queryKey: [MEMBERS, organizationId] }) };
}

function InvitationsPanel() {
  const client = useQueryClient();
  const { id: organizationId } = useOrganization();
  const query = new URLSearchParams({ organizationId });
  const invitations = useQuery({
    queryKey: [INVITATIONS, organizationId],
    queryFn: () => callIdentity<Invitation[]>(`/organization/list-invitations?${query}`),
  });
  const invite = useMutation({
    mutationFn: (form: FormData) =>
      callIdentity<Invitation>("/organization/invite-member", {
        organizationId,
        email: form.get("email"),
        role: form.get("role"),
      }),
    onSuccess: () => client.invalidateQueries({ queryKey: [INVITATIONS, organizationId] }),
  });
  const submit = (event: SubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    invite.mutate(new FormData(event.currentTarget));
  };
  const pending = invitations.data?.filter(({ status }) => status === "pending") ?? [];
  return (
    <Panel
      title="Invitations"
      intro="The service sends no email. Send the link of the invitation to the user yourself."
    >
      <form className="grid items-end gap-4 sm:grid-cols-[2fr_1fr_auto]" onSubmit={submit}>
        <Field label="Email" name="email" type="email" required autoComplete="off" />
        <Select label="Role" name="role" options={ROLES} />
        <Button type="submit" variant="primary" busy={invite.isPending}>
          Invite
        </Button>
      </form>
      <ErrorNotice error={invite.error ?? invitations.error} />
      {invite.data !== undefined && (
        <Notice variant="success">
          <SecretValue label={`Invitation link for ${invite.data.email}`} value={invitationLink(invite.data.id)} />
        </Notice>
      )}
      {pending.length > 0 && (
        <Table caption="Pending invitations" columns={["Email", "Role", "Expiry", "Actions"]}>
          {pending.map((invitation) => (
            <InvitationRow key={invitation.id} invitation={invitation} />
          ))}
        </Table>
      )}
    </Panel>
  );
}

function InvitationRow({ invitation: { id, email, role, expiresAt } }: { invitation: Invitation }) {
  const client = useQueryClient();
  const { id: organizationId } = useOrganization();
  const cancel = useMutation({
    mutationFn: () => callIdentity("/organization/cancel-invitation", { invitationId: id }),
    onSuccess: () => client.invalidateQueries({ queryKey: [INVITATIONS, organizationId] }),
  });
  return (
    <tr>
      <Cell>
        {email}
        <ErrorNotice error={cancel.error} />
      </Cell>
      <Cell>{role}</Cell>
      <Cell>
        <Timestamp at={expiresAt} />
      </Cell>
      <Cell>
        <ConfirmButton
          label="Cancel invitation"
          question={`Cancel the invitation for ${email}?`}
          busy={cancel.isPending}
          onConfirm={() => cancel.mutate()}
        >
          The link stops working.
        </ConfirmButton>
      </Cell>
    </tr>
  );
}

function invitationLink(id: string): string {
  return `${location.origin}/invitations/${id}`;
}
