import { type Command, Argument } from "commander";
import type { Context } from "../context.ts";

const SHELLS = ["bash", "zsh", "fish"] as const;

const SCRIPTS: Readonly<Record<(typeof SHELLS)[number], string>> = {
  bash: `_svc() { local IFS=$'\\n'; COMPREPLY=($(compgen -W "$(svc complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)" -- "\${COMP_WORDS[COMP_CWORD]}")); }
complete -o default -F _svc svc`,
  zsh: `#compdef svc
_svc() { local -a words_found; words_found=("\${(@f)$(svc complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}"); compadd -a words_found; }
compdef _svc svc`,
  fish: `complete -c svc -f -a "(svc complete -- (commandline -opc)[2..] (commandline -ct) 2>/dev/null)"`,
};

export function defineCompletionCommands(program: Command, context: () => Context): void {
  program
    .command("completion")
    .summary("Print a script that completes commands in your shell")
    .description('Bash: add eval "$(svc completion bash)" to ~/.bashrc. The other shells work the same.')
    .addArgument(new Argument("<shell>", "your shell").choices(SHELLS))
    .action((shell: (typeof SHELLS)[number]) => {
      const script = SCRIPTS[shell];
      context().output.value({ script }, () => script);
    });
  program
    .command("complete", { hidden: true })
    .argument("[words...]")
    .action((words: string[]) => {
      const found = completeWords(program, words);
      context().output.value(found, () => found.join("\n"));
    });
}

/** Returns what can follow the words of a command line, the last of which may be incomplete. */
export function completeWords(program: Command, words: readonly string[]): string[] {
  const [last = "", ...before] = words.toReversed();
  let command = program;
  // The words after the command that are not options. A value of an option counts as one of them.
  let position = 0;
  for (const word of before.toReversed()) {
    const next = command.commands.find((each) => each.name() === word || each.aliases().includes(word));
    position = next !== undefined ? 0 : position + (word.startsWith("-") ? 0 : 1);
    command = next ?? command;
  }
  const options = [...command.options, ...program.options]
    .filter(({ hidden }) => !hidden)
    .map(({ long }) => long ?? "");
  const names = command.commands
    .flatMap((each) => [each.name(), ...each.aliases()])
    .filter((name) => name !== "complete");
  const choices = command.registeredArguments[position]?.argChoices ?? [];
  return (last.startsWith("-") ? options : [...names, ...choices]).filter((word) => word.startsWith(last)).toSorted();
}
