const OBJECTS = String.raw`(?:instruction|rule|prompt|guideline|direction|command|context|message|polic(?:y|ie)|constraint|restriction)s?`;

/**
 * Forms of texts that try to direct a language model: orders to ignore earlier instructions, a new identity, the markup of
 * conversations and tool calls, and orders to hide or send something. Each matches a text in lowercase.
 */
const FORMS: readonly RegExp[] = [
  new RegExp(
    String.raw`\b(?:ignore|disregard|forget|override|bypass|drop|do not follow|don't follow|stop following)\b[^.!?\n]{0,40}\b(?:all|any|every|previous|prior|above|earlier|preceding|existing|your|system|these|those)\b[^.!?\n]{0,40}\b${OBJECTS}\b`,
  ),
  new RegExp(String.raw`\b(?:new|updated|real|actual|secret|hidden) (?:system )?(?:instructions?|prompt|rules?)\s*:`),
  /\byou are (?:now (?:an?|the|in|my|free)|(?:no longer|not) (?:bound|restricted|limited))\b/,
  /\b(?:from now on|henceforth),? (?:you|your|act|always|never|respond|reply|answer|ignore|pretend)\b/,
  /\b(?:pretend|act|behave|roleplay) (?:to be|as if you|as though you|as an? (?:unrestricted|unfiltered|different|evil|new)|as (?:dan|root|admin|system|developer))\b/,
  /\b(?:system|developer) (?:prompt|message|override|instructions?)\b/,
  /\b(?:jailbreak|developer mode|god mode|do anything now)\b/,
  /^[ \t]*(?:#+[ \t]*|\*\*)?(?:system|assistant|developer)(?:\*\*)?[ \t]*:/m,
  /^[ \t]*#+[ \t]*(?:system|instructions?)\b|\[(?:system|assistant|developer)\]/m,
  /<\|[a-z_]{2,30}\|>|\[\/?inst\]|<<\/?sys>>|<\/?(?:system|instructions?|tool_call|tool_use|function_calls?|invoke)\b[^>]{0,200}>/,
  /\b(?:do not|don't|never|without) (?:tell|telling|inform|informing|mention|mentioning|reveal|revealing|show|showing)\b[^.!?\n]{0,30}\b(?:the )?(?:user|human|operator|admin|anyone)\b/,
  /\b(?:send|post|upload|forward|exfiltrate|leak|reveal|print|output|repeat)\b[^.!?\n]{0,60}\b(?:system prompt|your (?:instructions|prompt|rules)|api keys?|access tokens?|passwords?|credentials|secrets?|env(?:ironment)? variables?)\b/,
  /\b(?:ignoriere?|vergiss|missachte)\b[^.!?\n]{0,60}\b(?:anweisung|regel|vorgabe|instruktion)/,
  /\bignore[zr]?\b[^.!?\n]{0,60}\b(?:consignes|instructions|règles) (?:précédentes|antérieures|ci-dessus)/,
  /\b(?:ignora|ignore|olvida|esqueça|dimentica)\b[^.!?\n]{0,60}\b(?:instrucciones|instruções|istruzioni|reglas|regras|regole)/,
  /(?:忽略|无视|忘记|無視|忽視)[^。!?\n]{0,20}(?:指令|指示|提示|规则|規則)/,
  /(?:以前|これまで|上記|前)の(?:指示|命令|ルール)[^。!?\n]{0,10}(?:無視|忘れ)/,
  /(?:игнорируй|забудь|проигнорируй)[^.!?\n]{0,60}(?:инструкци|правил|указани)/,
];

/**
 * Whether a text has the form of an instruction to a language model. It is only a mark for readers: a text without it can
 * still be one, so no text of a memory is ever to be followed.
 */
export function isInstructionLike(content: string): boolean {
  const text = content
    .normalize("NFKC")
    .replace(/\p{Cf}/gu, "")
    .replaceAll("\u2019", "'")
    .toLowerCase();
  // Keeps all characters after which `^` matches.
  const line = text.replace(/[^\S\n\r\u2028\u2029]+/g, " ");
  const unbroken = text.replace(/\s+/g, " ");
  return FORMS.some((form) => form.test(line) || form.test(unbroken));
}
