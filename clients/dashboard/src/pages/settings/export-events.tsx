import { useMutation } from "@tanstack/react-query";
import { Download } from "lucide-react";
import { downloadFile } from "../../download-file.ts";
import type { AuditFilter } from "../../audit-filter.ts";
import { useOrganization } from "../../organization.ts";
import { Button } from "../../ui/button.tsx";
import { ErrorNotice } from "../../ui/notice.tsx";
import { formatCount } from "../../ui/quantities.ts";
import { showToast } from "../../show-toast.ts";
import { toCsv } from "./audit-csv.ts";
import type { AuditEvent } from "./audit-row.tsx";

/** More events would make a file that few spreadsheets open, and many requests. */
const MAX_EVENTS = 10_000;

/** Loads every event that matches the filter, and offers them as a file. */
export function ExportEvents({ filter }: { filter: AuditFilter }) {
  const { api } = useOrganization();
  const load = useMutation({
    mutationFn: async () => {
      const events: AuditEvent[] = [];
      let cursor: string | null = null;
      do {
        const page: { events: AuditEvent[]; next_cursor: string | null } = await api.audit.list.query(
          cursor === null ? filter : { ...filter, cursor },
        );
        events.push(...page.events);
        cursor = page.next_cursor;
      } while (cursor !== null && events.length < MAX_EVENTS);
      return { events, isComplete: cursor === null };
    },
    onSuccess: ({ events, isComplete }) => {
      downloadFile("audit-log.csv", "text/csv", toCsv(events));
      const advice = "Older events are not in the file. Narrow the filters to export them.";
      showToast(`Exported ${formatCount(events.length, "event")}.`, isComplete ? undefined : advice);
    },
  });
  return (
    <>
      <Button busy={load.isPending} onClick={() => load.mutate()}>
        <Download aria-hidden className="size-4" />
        {load.isPending ? "Exporting…" : "Export CSV"}
      </Button>
      <ErrorNotice error={load.error} />
    </>
  );
}
