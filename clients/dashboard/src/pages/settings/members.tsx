import { useQuery } from "@tanstack/react-query";
import { highestRole, ROLE_DESCRIPTIONS, ROLES } from "../../../../../domain/shared/roles.ts";
import { type Member, membersQuery } from "../../members-query.ts";
import { useOrganization } from "../../organization.ts";
import { sessionQuery } from "../../session-query.ts";
import { DefinitionList } from "../../ui/definition-list.tsx";
import { HelpText } from "../../ui/help-text.tsx";
import { PageTitle } from "../../ui/page-header.tsx";
import { Panel } from "../../ui/panel.tsx";
import { QueryContent } from "../../ui/query-content.tsx";
import { RoleHint } from "../../ui/require-role.tsx";
import { Table } from "../../ui/table.tsx";
import { InvitationsPanel } from "./invitations-panel.tsx";
import { MemberRow } from "./member-row.tsx";

export function MembersPage() {
  return (
    <>
      <PageTitle>Members</PageTitle>
      <MembersPanel />
      <InvitationsPanel />
      <Panel title="Roles">
        <DefinitionList entries={ROLES.map((role) => [role, ROLE_DESCRIPTIONS[role]])} />
      </Panel>
    </>
  );
}

function MembersPanel() {
  const { id: organizationId } = useOrganization();
  const session = useQuery(sessionQuery);
  const members = useQuery(membersQuery(organizationId));
  const isOwner = ({ role }: Member) => highestRole(role) === "owner";
  return (
    <Panel title="Members">
      <QueryContent query={members}>
        {(list) => (
          <>
            <RoleNotes hasOneOwner={list.filter(isOwner).length === 1} />
            <Table caption="Members" columns={["Name", "Email", "Role", "Joined", "Actions"]}>
              {list.map((member) => (
                <MemberRow
                  key={member.id}
                  member={member}
                  isSelf={member.userId === session.data?.user.id}
                  isOnlyOwner={isOwner(member) && list.filter(isOwner).length === 1}
                />
              ))}
            </Table>
          </>
        )}
      </QueryContent>
    </Panel>
  );
}

/** Explains which controls of the members are missing, and why. */
function RoleNotes({ hasOneOwner }: { hasOneOwner: boolean }) {
  const { role } = useOrganization();
  if (role === "member") return <RoleHint role="admin" to="change roles and remove members" />;
  if (role === "admin") return <RoleHint role="owner" to="change or remove owners" />;
  return hasOneOwner ? (
    <HelpText>You are the only owner. Make another member an owner before you leave or change your role.</HelpText>
  ) : null;
}
