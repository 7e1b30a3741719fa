import { formatBytes } from "../../ui/quantities.ts";

interface QuotaName {
  label: string;
  format: (amount: number) => string;
}

const asNumber = (amount: number) => amount.toLocaleString("en");

/** How a quota of the plan is named and counted. */
export const QUOTA_NAMES: Readonly<Record<string, QuotaName | undefined>> = {
  apps: { label: "Apps", format: asNumber },
  documents: { label: "Documents", format: asNumber },
  document_bytes: { label: "Text of documents", format: formatBytes },
  builder_tokens: { label: "Tokens of the app builder agent this month", format: asNumber },
};
