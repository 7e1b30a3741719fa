import { useQuery } from "@tanstack/react-query";
import { useOrganization } from "../organization.ts";
import { ErrorNotice } from "../ui/notice.tsx";
import { Panel } from "../ui/panel.tsx";
import { PageTitle } from "../ui/page-layout.tsx";
import { Cell, Table } from "../ui/table.tsx";
import { Timestamp } from "../ui/timestamp.tsx";

export function AppsPage() {
  const { id: orgId, api } = useOrganization();
  const apps = useQuery({ queryKey: ["apps", orgId], queryFn: () => api.apps.browse.query({}) });
  return (
    <>
      <PageTitle>Apps</PageTitle>
      <Panel title="Deployed apps">
        <ErrorNotice error={apps.error} />
        {apps.data?.apps.length === 0 && <p className="text-sm">No apps yet. Deploy an app with an API key.</p>}
        {apps.data !== undefined && apps.data.apps.length > 0 && (
          <Table caption="Deployed apps" columns={["Name", "URL", "Status", "Created"]}>
            {apps.data.apps.map(({ id, name, url, status, created_at }) => (
              <tr key={id}>
                <Cell>{name}</Cell>
                <Cell>
                  <a href={url} className="underline" rel="noreferrer">
                    {new URL(url).host}
                  </a>
                </Cell>
                <Cell>{status}</Cell>
                <Cell>
                  <Timestamp at={created_at} />
                </Cell>
              </tr>
            ))}
          </Table>
        )}
      </Panel>
    </>
  );
}
