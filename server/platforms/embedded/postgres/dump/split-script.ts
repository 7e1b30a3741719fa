/** How much is sent at once. The statements of one request are one transaction, which keeps all of its locks. */
const MAX_STATEMENTS = 50;
const MAX_LENGTH = 256 * 1024;

/**
 * The tokens that matter for the end of a statement. A doubled quotation mark is the end of one token and the begin of the next. A token
 * without an end reaches to the end of the script, so that the time is linear.
 * https://www.postgresql.org/docs/current/sql-syntax-lexical.html
 */
const TOKEN =
  /[eE]'(?:[^'\\]|\\[^]?|'')*(?:'|$)|'[^']*(?:'|$)|"[^"]*(?:"|$)|--[^\n]*|\/\*[^]*?(?:\*\/|$)|\$((?:[\p{L}_][\p{L}\p{N}_]*)?)\$[^]*?(?:\$\1\$|$)|[\p{L}_][\p{L}\p{N}_$]*|[();]|[^'"\-/$\p{L}_();]+|[^]/gu;

/** The beginning of a statement that can have a body with statements. */
const HAS_BODY = /^create (?:or replace )?(?:function|procedure) /;

/** Splits a script of `pg_dump` into parts with complete statements. */
export function* splitScript(script: string): Generator<string> {
  let start = 0;
  let statements = 0;
  const statement = new Statement();
  for (const { 0: token, index } of script.matchAll(TOKEN)) {
    if (!statement.isEndedBy(token)) continue;
    const end = index + token.length;
    if (++statements < MAX_STATEMENTS && end - start < MAX_LENGTH) continue;
    yield script.slice(start, end);
    start = end;
    statements = 0;
  }
  yield script.slice(start);
}

/** Follows the tokens of a statement, as `psql` does. */
class Statement {
  #words = "";
  #wordCount = 0;
  #parentheses = 0;
  #bodies = 0;

  isEndedBy(token: string): boolean {
    if (token === "(") this.#parentheses++;
    else if (token === ")") this.#parentheses--;
    else if (token === ";") return this.#end();
    else if (/^[\p{L}_]/u.test(token)) this.#addWord(token.toLowerCase());
    return false;
  }

  #end(): boolean {
    if (this.#parentheses > 0 || this.#bodies > 0) return false;
    this.#words = "";
    this.#wordCount = 0;
    return true;
  }

  #addWord(word: string): void {
    if (this.#wordCount++ < 4) this.#words += `${word} `;
    if (this.#parentheses > 0 || !HAS_BODY.test(this.#words)) return;
    if (word === "begin" || (word === "case" && this.#bodies > 0)) this.#bodies++;
    else if (word === "end" && this.#bodies > 0) this.#bodies--;
  }
}
