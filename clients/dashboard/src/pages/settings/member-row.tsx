import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { highestRole } from "../../../../../domain/shared/roles.ts";
import { callIdentity } from "../../api.ts";
import { assignableRoles } from "../../assignable-roles.ts";
import { type Member, MEMBERS } from "../../members-query.ts";
import { reloadMemberships } from "../../memberships.ts";
import { roleQuery, useOrganization } from "../../organization.ts";
import { ConfirmButton } from "../../ui/confirm-button.tsx";
import { SELECT_CLASS } from "../../ui/field.tsx";
import { ErrorNotice } from "../../ui/notice.tsx";
import { Cell, Row } from "../../ui/table.tsx";
import { Timestamp } from "../../ui/timestamp.tsx";

interface Props {
  member: Member;
  /** Whether the member is the user of this page. */
  isSelf: boolean;
  /** Whether no other member is an owner. The only owner stays one. */
  isOnlyOwner: boolean;
}

/** A member, with the controls that the role of the user permits. */
export function MemberRow({ member, isSelf, isOnlyOwner }: Props) {
  const { role: ownRole } = useOrganization();
  const { user, role, createdAt } = member;
  const canManage = !isOnlyOwner && assignableRoles(ownRole).includes(highestRole(role));
  return (
    <Row>
      <Cell>{user.name}</Cell>
      <Cell>{user.email}</Cell>
      <Cell>{canManage ? <RoleSelect member={member} isSelf={isSelf} /> : highestRole(role)}</Cell>
      <Cell>
        <Timestamp at={createdAt} />
      </Cell>
      <Cell>
        {isSelf && !isOnlyOwner && <Leave />}
        {!isSelf && canManage && <Remove member={member} />}
      </Cell>
    </Row>
  );
}

function RoleSelect({ member: { id: memberId, role, user }, isSelf }: { member: Member; isSelf: boolean }) {
  const client = useQueryClient();
  const { id: organizationId, role: ownRole } = useOrganization();
  const change = useMutation({
    mutationFn: (next: string) =>
      callIdentity("/organization/update-member-role", { organizationId, memberId, role: next }),
    onSuccess: async () => {
      if (isSelf) await client.invalidateQueries(roleQuery(organizationId));
      await client.invalidateQueries({ queryKey: [MEMBERS, organizationId] });
    },
  });
  return (
    <>
      <select
        aria-label={`Role of ${user.name}`}
        className={SELECT_CLASS}
        value={change.isPending ? change.variables : highestRole(role)}
        // Not `disabled`: the browser takes the focus away from a disabled control.
        aria-disabled={change.isPending}
        onChange={(event) => change.isPending || change.mutate(event.currentTarget.value)}
      >
        {assignableRoles(ownRole).map((name) => (
          <option key={name}>{name}</option>
        ))}
      </select>
      <ErrorNotice error={change.error} />
    </>
  );
}

function Remove({ member: { id, user } }: { member: Member }) {
  const client = useQueryClient();
  const { id: organizationId } = useOrganization();
  const remove = useMutation({
    mutationFn: () => callIdentity("/organization/remove-member", { organizationId, memberIdOrEmail: id }),
    onSuccess: () => client.invalidateQueries({ queryKey: [MEMBERS, organizationId] }),
  });
  return (
    <>
      <ConfirmButton
        label="Remove"
        accessibleLabel={`Remove ${user.name}`}
        question={`Remove ${user.name}?`}
        busy={remove.isPending}
        onConfirm={() => remove.mutate()}
      >
        The user immediately loses access, and their personal access tokens are revoked.
      </ConfirmButton>
      <ErrorNotice error={remove.error} />
    </>
  );
}

function Leave() {
  const client = useQueryClient();
  const navigate = useNavigate();
  const { id: organizationId, name } = useOrganization();
  const leave = useMutation({
    mutationFn: () => callIdentity("/organization/leave", { organizationId }),
    onSuccess: async () => {
      await reloadMemberships(client);
      await navigate({ to: "/", search: {} });
    },
  });
  return (
    <>
      <ConfirmButton label="Leave" question={`Leave ${name}?`} busy={leave.isPending} onConfirm={() => leave.mutate()}>
        You immediately lose access, and your personal access tokens of this organization are revoked.
      </ConfirmButton>
      <ErrorNotice error={leave.error} />
    </>
  );
}
