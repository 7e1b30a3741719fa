import { Autocomplete } from "@base-ui/react/autocomplete";
import { type ReactNode, useState } from "react";
import { INPUT_CLASS, Labeled } from "../../ui/field.tsx";

export interface SuggestionGroup<Item> {
  /** The heading of the group. */
  value: string;
  items: readonly Item[];
}

interface SuggestionFieldProps<Item> {
  label: string;
  name: string;
  hint?: string;
  placeholder: string;
  required?: boolean;
  autoFocus?: boolean;
  value: string;
  /** Receives what the user types. */
  onType: (text: string) => void;
  onChoose: (item: Item) => void;
  groups: readonly SuggestionGroup<Item>[];
  /** What a chosen suggestion enters into the field. */
  textOf: (item: Item) => string;
  renderItem: (item: Item) => ReactNode;
  /** A line below the suggestions: that they load, or why there are none. */
  status: string | null;
  /** Whether the suggestions are shown, which need not be loaded before. */
  onOpenChange: (isOpen: boolean) => void;
}

/** A text field with suggestions from the service. It accepts every other text too. */
export function SuggestionField<Item>(props: SuggestionFieldProps<Item>) {
  const { label, hint, value, onType, onChoose, groups, status, onOpenChange, textOf, renderItem, ...input } = props;
  const [isOpen, setOpen] = useState(false);
  const shown = groups.filter(({ items }) => items.length > 0);
  return (
    <Autocomplete.Root
      items={shown}
      mode="none"
      value={value}
      onValueChange={(text, { reason }) => {
        if (reason !== "item-press") onType(text);
      }}
      // Without suggestions, an empty box would cover the next field.
      open={isOpen && (shown.length > 0 || status !== null)}
      onOpenChange={(open) => {
        setOpen(open);
        onOpenChange(open);
      }}
      openOnInputClick
      itemToStringValue={textOf}
    >
      <Labeled label={label} {...(hint !== undefined && { hint })}>
        {(attributes) => (
          <Autocomplete.Input
            {...attributes}
            {...input}
            // While the suggestions are open, everything else is hidden from screen readers, with the label.
            aria-label={label}
            className={INPUT_CLASS}
            autoComplete="off"
            autoCapitalize="none"
            spellCheck={false}
          />
        )}
      </Labeled>
      <Autocomplete.Portal>
        <Autocomplete.Positioner sideOffset={4} className="z-50 w-(--anchor-width) outline-none">
          <Autocomplete.Popup className="flex max-h-[min(20rem,var(--available-height))] flex-col overflow-hidden rounded-lg border border-line bg-raised text-sm text-ink shadow-lg outline-none">
            <Autocomplete.List className="min-h-0 overflow-y-auto p-1 outline-none empty:hidden">
              {(group: SuggestionGroup<Item>) => (
                <SuggestionItems key={group.value} {...{ group, textOf, renderItem, onChoose }} />
              )}
            </Autocomplete.List>
            <Autocomplete.Status className="border-line px-3 py-2 wrap-anywhere text-muted not-first:border-t empty:hidden">
              {status}
            </Autocomplete.Status>
          </Autocomplete.Popup>
        </Autocomplete.Positioner>
      </Autocomplete.Portal>
    </Autocomplete.Root>
  );
}

interface SuggestionItemsProps<Item> extends Pick<SuggestionFieldProps<Item>, "onChoose" | "renderItem" | "textOf"> {
  group: SuggestionGroup<Item>;
}

function SuggestionItems<Item>({ group, textOf, renderItem, onChoose }: SuggestionItemsProps<Item>) {
  return (
    <Autocomplete.Group items={group.items}>
      <Autocomplete.GroupLabel className="truncate px-2 py-1 text-xs text-muted">{group.value}</Autocomplete.GroupLabel>
      <Autocomplete.Collection>
        {(item: Item) => (
          <Autocomplete.Item
            key={textOf(item)}
            value={item}
            onClick={() => onChoose(item)}
            className="flex min-h-8 cursor-pointer items-center justify-between gap-3 rounded-md px-2 outline-none select-none data-highlighted:bg-hover pointer-coarse:min-h-10"
          >
            {renderItem(item)}
          </Autocomplete.Item>
        )}
      </Autocomplete.Collection>
    </Autocomplete.Group>
  );
}
