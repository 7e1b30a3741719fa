import { type UseQueryOptions, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Button } from "./button.tsx";
import { Select } from "./field.tsx";
import { Preformatted } from "./preformatted.tsx";
import { QueryContent } from "./query-content.tsx";
import { TextDifference } from "./text-difference.tsx";

interface VersionComparisonProps {
  noun: "version" | "revision";
  number: number;
  /** The numbers of all versions that it can be compared with, the newest first. */
  numbers: readonly number[];
  /** Returns the query of one version, whose content never changes. */
  queryOf: (number: number) => Pick<UseQueryOptions<{ content: string }>, "queryKey" | "queryFn">;
  onClose: () => void;
}

/** Shows one version of a text, or how it differs from another. At first from the one before it. */
export function VersionComparison({ noun, number, numbers, queryOf, onClose }: VersionComparisonProps) {
  const others = numbers.filter((each) => each !== number);
  const [other, setOther] = useState<number | null>(others.find((earlier) => earlier < number) ?? null);
  const shown = useQuery({ ...queryOf(number), staleTime: Infinity });
  const compared = useQuery({ ...queryOf(other ?? number), staleTime: Infinity });
  const title = noun === "version" ? "Version" : "Revision";
  return (
    <section aria-label={`${title} ${number}`} className="space-y-3 border-t border-line pt-4">
      <div className="flex flex-wrap items-end justify-between gap-3">
        <h3 ref={focus} tabIndex={-1} className="font-medium">
          {title} {number}
        </h3>
        <div className="flex items-end gap-2">
          <Select
            label="Compare with"
            value={other ?? ""}
            onChange={(event) => setOther(event.target.value === "" ? null : Number(event.target.value))}
            options={[
              ["", `No other ${noun}`],
              ...others.map((value) => [String(value), `${title} ${value}`] as const),
            ]}
          />
          <Button onClick={onClose}>Close</Button>
        </div>
      </div>
      <QueryContent query={shown}>
        {({ content }) =>
          other === null ? (
            <Preformatted label={`Content of ${noun} ${number}`} text={content} />
          ) : (
            <QueryContent query={compared}>
              {({ content: before }) => (
                <TextDifference label={`${title} ${other} compared with ${number}`} before={before} after={content} />
              )}
            </QueryContent>
          )
        }
      </QueryContent>
    </section>
  );
}

const focus = (element: HTMLElement | null): void => element?.focus();
