import { Autocomplete } from "@base-ui/react/autocomplete";
import { useNavigate } from "@tanstack/react-router";
import { Search } from "lucide-react";
import { useModal } from "./dialog.tsx";
import { type Command, type CommandGroup, useCommands } from "./use-commands.ts";

interface Props {
  organizationId: string;
  open: boolean;
  onOpenChange: (open: boolean) => void;
}

const ITEM_CLASS =
  "flex min-h-9 cursor-pointer items-center justify-between gap-3 rounded-md px-2.5 outline-none select-none data-highlighted:bg-hover";

/** Finds a page, an app, an agent, a document, a project or an action by its name, and opens it. */
export function CommandMenu({ organizationId, open, onOpenChange }: Props) {
  const navigate = useNavigate();
  const groups = useCommands(organizationId);
  const dialog = useModal(open);
  const run = ({ to }: Command): void => {
    onOpenChange(false);
    void navigate({ to, search: { org: organizationId } });
  };
  return (
    <dialog
      ref={dialog}
      aria-label="Search"
      onClose={() => onOpenChange(false)}
      onClick={({ target, currentTarget }) => target === currentTarget && currentTarget.close()}
      className="mx-auto mt-[12dvh] max-h-[70dvh] w-[min(36rem,calc(100vw-1rem))] overflow-hidden rounded-xl border border-line bg-raised p-0 text-ink shadow-xl open:flex open:flex-col"
    >
      {open && (
        <Autocomplete.Root open inline items={groups} autoHighlight="always" itemToStringValue={labelOf} limit={50}>
          <div className="flex items-center gap-2 border-b border-line px-3">
            <Search aria-hidden className="size-4 text-muted" />
            <Autocomplete.Input
              aria-label="Search pages, apps, agents and documents"
              placeholder="Search pages, apps, agents and documents"
              className="min-h-11 w-full bg-transparent text-base outline-none placeholder:text-muted"
            />
          </div>
          <Autocomplete.Empty>
            <p className="p-4 text-muted">Nothing has this name.</p>
          </Autocomplete.Empty>
          <Autocomplete.List className="min-h-0 overflow-y-auto p-1.5 empty:hidden">
            {(group: CommandGroup) => <CommandGroupItems key={group.value} group={group} onRun={run} />}
          </Autocomplete.List>
        </Autocomplete.Root>
      )}
    </dialog>
  );
}

interface CommandGroupItemsProps {
  group: CommandGroup;
  onRun: (command: Command) => void;
}

function CommandGroupItems({ group, onRun }: CommandGroupItemsProps) {
  return (
    <Autocomplete.Group items={group.items} className="mb-1">
      <Autocomplete.GroupLabel className="px-2.5 py-1 text-xs text-muted">{group.value}</Autocomplete.GroupLabel>
      <Autocomplete.Collection>
        {(command: Command) => (
          <Autocomplete.Item key={command.value} value={command} onClick={() => onRun(command)} className={ITEM_CLASS}>
            <span className="truncate">{command.label}</span>
            <span className="shrink-0 text-xs text-muted">{command.kind}</span>
          </Autocomplete.Item>
        )}
      </Autocomplete.Collection>
    </Autocomplete.Group>
  );
}

function labelOf({ label }: Command): string {
  return label;
}
