import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { formatError } from "../../api.ts";
import { useOrganization } from "../../organization.ts";
import { Button } from "../../ui/button.tsx";
import { Checkbox, TextArea } from "../../ui/field.tsx";
import { Alert } from "../../ui/notice.tsx";
import { showToast } from "../../show-toast.ts";
import { useApp } from "./app-context.ts";
import { type EnvFile, parseEnvFile } from "./parse-env-file.ts";

interface FailedVariable {
  name: string;
  value: string;
  reason: string;
}

/** A field for the text of a `.env` file, whose variables are set. What fails stays in the field, with the reason. */
export function ImportVariables() {
  const [text, setText] = useState("");
  const [isSecret, setSecret] = useState(true);
  const { variables, problems } = parseEnvFile(text);
  const set = useSetVariables((failed) =>
    setText(failed.map(({ name, value }) => `${name}=${JSON.stringify(value)}`).join("\n")),
  );
  return (
    <div className="space-y-3">
      <TextArea
        label="Text of the file"
        rows={5}
        value={text}
        spellCheck={false}
        placeholder={'API_KEY=…\nGREETING="Hello"'}
        onChange={(event) => setText(event.currentTarget.value)}
        className="font-mono"
      />
      <EnvFileProblems lines={problems} />
      {set.data?.map(({ name, reason }) => (
        <Alert key={name}>{`${name}: ${reason}`}</Alert>
      ))}
      <div className="flex flex-wrap items-center gap-x-6 gap-y-3">
        <Checkbox
          label="All of them are secrets"
          checked={isSecret}
          onChange={(event) => setSecret(event.currentTarget.checked)}
        />
        <Button
          variant="primary"
          className="ml-auto"
          busy={set.isPending}
          disabled={variables.length === 0}
          onClick={() => set.mutate({ variables, isSecret })}
        >
          {variables.length === 0 ? "Set variables" : `Set ${variables.length} variables`}
        </Button>
      </div>
    </div>
  );
}

/** Says which lines of a `.env` file are not understood. */
export function EnvFileProblems({ lines }: { lines: readonly number[] }) {
  if (lines.length === 0) return null;
  return <Alert>{`Not understood: line ${lines.join(", ")}. Write NAME=value in each line.`}</Alert>;
}

/** Sets variables one after the other, and passes on those that failed. */
function useSetVariables(onFailed: (failed: readonly FailedVariable[]) => void) {
  const { id: orgId, api } = useOrganization();
  const { id } = useApp();
  const client = useQueryClient();
  return useMutation({
    mutationFn: async ({ variables, isSecret }: { variables: EnvFile["variables"]; isSecret: boolean }) => {
      const failed: FailedVariable[] = [];
      for (const { name, value } of variables) {
        try {
          await api.variables.set.mutate({ id, name, value, secret: isSecret });
        } catch (error) {
          failed.push({ name, value, reason: formatError(error) });
        }
      }
      return failed;
    },
    onSuccess: async (failed, { variables }) => {
      onFailed(failed);
      showToast(`${variables.length - failed.length} of ${variables.length} variables are set.`);
      await client.invalidateQueries({ queryKey: ["app", orgId, id, "variables"] });
    },
  });
}
