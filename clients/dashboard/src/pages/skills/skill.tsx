import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useOrganization } from "../../organization.ts";
import { usePathParameter } from "../../page-params.ts";
import { DetailPage } from "../../ui/detail-page.tsx";
import { HelpText } from "../../ui/help-text.tsx";
import { Panel } from "../../ui/panel.tsx";
import { Preformatted } from "../../ui/preformatted.tsx";
import { formatBytes } from "../../ui/quantities.ts";
import { QueryContent } from "../../ui/query-content.tsx";

/** A skill: what it requires, and its files. */
export function SkillPage() {
  const { id: orgId, api } = useOrganization();
  const name = usePathParameter("name");
  const [path, setPath] = useState("SKILL.md");
  const skill = useQuery({
    queryKey: ["skills", orgId, name],
    queryFn: () => api.skills.get.query({ name }),
  });
  return (
    <DetailPage title={name} list={{ to: "/skills", label: "All skills" }} query={skill}>
      {({ description, files, license }) => (
        <>
          <p className="wrap-anywhere">{description}</p>
          {license !== null && <HelpText>License: {license}</HelpText>}
          <Panel title="Files">
            <ul className="space-y-1 font-mono text-xs">
              {files.map((file) => (
                <li key={file.path}>
                  <button
                    type="button"
                    aria-pressed={file.path === path}
                    className="text-left text-link underline wrap-anywhere aria-pressed:font-semibold"
                    onClick={() => setPath(file.path)}
                  >
                    {file.path}
                  </button>{" "}
                  <span className="text-muted">{formatBytes(file.size_bytes)}</span>
                </li>
              ))}
            </ul>
          </Panel>
          <SkillFile name={name} path={path} />
        </>
      )}
    </DetailPage>
  );
}

function SkillFile({ name, path }: { name: string; path: string }) {
  const { id: orgId, api } = useOrganization();
  const content = useQuery({
    queryKey: ["skills", orgId, name, "file", path],
    queryFn: () => api.skills.files.query({ name, path }),
  });
  return (
    <Panel title={path}>
      <QueryContent query={content}>
        {({ files: [file] }) =>
          file === undefined || file.encoding === "base64" ? (
            <HelpText>This file is not text.</HelpText>
          ) : (
            <Preformatted label={path} text={file.content} />
          )
        }
      </QueryContent>
    </Panel>
  );
}
