import type { UseMutationResult } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { ConfirmButton } from "./confirm-button.tsx";
import { ErrorNotice } from "./notice.tsx";
import { Cell, Row } from "./table.tsx";
import { Timestamp } from "./timestamp.tsx";

interface Props {
  noun: "version" | "revision";
  number: number;
  /** The number of the older version that this one repeats. */
  restored: number | null;
  /** ISO 8601. */
  createdAt: string;
  isCurrent: boolean;
  /** `null` if nobody can restore it. */
  restore: UseMutationResult<unknown, Error, void> | null;
  /** What becomes current again. */
  content: "text" | "content";
  /** Cells between the time and the button. */
  children: ReactNode;
}

/** One version in the history of a text, with a button that makes it current again. */
export function VersionRow({ noun, number, restored, createdAt, isCurrent, restore, content, children }: Props) {
  return (
    <Row>
      <Cell>
        {number}
        {restored !== null && ` (restored ${restored})`}
      </Cell>
      <Cell>
        <Timestamp at={createdAt} />
      </Cell>
      {children}
      <Cell>
        {isCurrent && "current"}
        {!isCurrent && restore !== null && (
          <ConfirmButton
            label="Restore"
            accessibleLabel={`Restore ${noun} ${number}`}
            question={`Restore ${noun} ${number}?`}
            busy={restore.isPending}
            onConfirm={() => restore.mutate()}
          >
            Its {content} becomes current again, as a new {noun}.
          </ConfirmButton>
        )}
        <ErrorNotice error={restore?.error ?? null} />
      </Cell>
    </Row>
  );
}
