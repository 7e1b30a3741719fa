import { useEffect, useId, useRef, useState } from "react";
import { SCOPE_DESCRIPTIONS, SCOPES } from "../../../../domain/shared/scopes.ts";
import { Select } from "./field.tsx";

interface Props {
  label: string;
  name: string;
  /** The first one is selected at first. */
  values: readonly string[];
  /** For each value what it means. */
  descriptions: Readonly<Record<string, string | undefined>>;
}

/** A choice in the grid of a form, and below the grid what the selected value means. */
export function DescribedSelect({ label, name, values, descriptions }: Props) {
  const [first = ""] = values;
  const [value, setValue] = useState(first);
  const id = useId();
  const description = useRef<HTMLParagraphElement>(null);
  useEffect(() => {
    const form = description.current?.closest("form");
    const reset = () => setValue(first);
    form?.addEventListener("reset", reset);
    return () => form?.removeEventListener("reset", reset);
  }, [first]);
  return (
    <>
      <Select
        label={label}
        name={name}
        options={values.map((option) => [option, option] as const)}
        value={value}
        aria-describedby={id}
        onChange={({ target }) => setValue(target.value)}
      />
      <p ref={description} id={id} className="col-span-full text-muted max-sm:-mt-2 sm:order-last">
        {descriptions[value]}.
      </p>
    </>
  );
}

/** The broadest scope first. */
const SCOPE_VALUES = SCOPES.toReversed();
const SCOPE_SUMMARIES = Object.fromEntries(SCOPES.map((scope) => [scope, SCOPE_DESCRIPTIONS[scope].summary]));

/** The choice of the scope of a new token. */
export function ScopeSelect() {
  return <DescribedSelect label="Permissions" name="scope" values={SCOPE_VALUES} descriptions={SCOPE_SUMMARIES} />;
}
