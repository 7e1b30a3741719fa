/** What the form of a question says about its answer. */
export interface QuestionKind {
  /** Whether the answer has a number: "How much", "How often". */
  asksForAmount: boolean;
  /** Whether the answer has a sum of money: "What does it cost". */
  asksForPrice: boolean;
  /** Whether the answer has a number or a date, mostly. */
  asksForNumber: boolean;
  /** Whether it asks what is allowed. Then the sentence that forbids something counts more. */
  asksForPermission: boolean;
  /** Whether it asks what something is. */
  asksForDefinition: boolean;
  /** Its versions and numbers with a point, which the passage must have literally: `1.0.0`. */
  versions: readonly string[];
}

const AMOUNT =
  /\bhow (?:much|many|long|often|large|big|far)\b|\bwie ?viele?\b|\bwie (?:teuer|hoch|lange|oft)\b|\b(?:was|wat|what (?:does|do|is)).*\b(?:kostet|kosten|kost|costs?)\b|\bcombien\b|\bcu[aá]nt[oa]s?\b|\bquant[oaie]s?\b|\bhoe(?:veel|lang|vaak)\b|сколько|многих?|多少|几[天个次年月]|多久|多长|いくら|何[日時年回人個月]|どのくらい/iu;
const PRICE =
  /\bcosts?\b|(?<!\p{L})(?:kostet|kosten|kost|co[uû]te|co[uû]tent|cuestan?|custam?|costano?|стоит|стоят|стоить)(?!\p{L})|多少钱|收费多少|料金はいくら/iu;
const MONEY =
  /[$€£¥₽]|(?<!\p{L})(?:euros?|dollars?|usd|eur|francs?|pounds?|cents?|рубл\p{L}*|free|kostenlos|gratis|gratuit\p{L}*|бесплатно)(?!\p{L})|\d\s*[元円]|免费|無料|%|percent|prozent/iu;
const NUMBER_TOO = /\b(?:when|price|prices|fee|fees|rate|limit|percent|deadline|soon|late|early)\b/i;
const PERMISSION =
  /^(?:may|can|could|am i|are|is)\b|\ballowed\b|\bpermitted\b|^(?:darf|dürfen|kann|sind|ist)(?!\p{L})|\berlaubt\b|^(?:puis-je|peut-on)|autorisée?s?|^¿?(?:puedo|se puede|está)(?!\p{L})|^(?:posso|pode-se|si può)(?!\p{L})|^(?:mag|mogen|zijn)\b|можно ли|可以|ますか？?$|か？$/iu;
const DEFINITION =
  /^(?:what (?:is|are|does)|was (?:ist|sind|bedeutet)|qu['\u2019]est|que signifie|¿?qué (?:es|son|significa)|o que (?:é|são)|cos['\u2019]è|che cosa|wat (?:is|zijn|betekent)|что такое|什么是)(?!\p{L})/iu;
const VERSION = /\d+(?:\.\d+)+/g;

const NUMBER_WORDS =
  /(?<!\p{L})(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|thirty|hundred|once|twice|half|daily|weekly|monthly|yearly|annually|free|unlimited|never|always|zwei|drei|vier|fünf|sechs|sieben|acht|neun|zehn|zwölf|einmal|zweimal|kostenlos|unbegrenzt|täglich|wöchentlich|monatlich|jährlich|deux|trois|quatre|cinq|sept|huit|neuf|dix|gratuit\p{L}*|illimité\p{L}*|dos|tres|cuatro|cinco|siete|ocho|nueve|diez|gratis|gratuit[oa]s?|dois|duas|três|quatro|sete|oito|nove|dez|due|tre|quattro|cinque|sette|otto|dieci|twee|drie|vijf|zes|zeven|negen|tien|tweemaal|дв[аух]\p{L}*|тр[иёе]\p{L}*|четыр\p{L}*|пят\p{L}*|шест\p{L}*|сем[ьи]|девят\p{L}*|десят\p{L}*|бесплатн\p{L}*)(?![\p{L}-])|[一二三四五六七八九十百千两半]|免费|無料/iu;

export function readQuestionKind(question: string): QuestionKind {
  const text = question.trim();
  const asksForAmount = AMOUNT.test(text);
  return {
    asksForAmount,
    asksForPrice: PRICE.test(text),
    asksForNumber: asksForAmount || NUMBER_TOO.test(text),
    asksForPermission: PERMISSION.test(text),
    asksForDefinition: DEFINITION.test(text),
    versions: text.match(VERSION) ?? [],
  };
}

/** Whether a sentence can be the answer. The cells of a table have their units in other cells. */
export function hasAmount({ asksForAmount, asksForPrice }: QuestionKind, quote: string): boolean {
  const text = quote.replaceAll(/\]\([^)\s]*\)|\bhttps?:\S+/g, " ");
  if (asksForPrice && !quote.startsWith("|")) return MONEY.test(text);
  return !asksForAmount || hasNumber(text);
}

/** Versions such as `0.1.0` are names of something, and the numbers of list items belong to no text. */
const NAMES_WITH_DIGITS = /\d+\.(?:\d+|\p{L})\.\S+|(?<![\p{L}\p{N}][^\S\n]?)\d{1,3}[.)][^\S\n]+(?=\D)/gu;

/** Whether a text has a number, as digits or as a word. */
export function hasNumber(text: string): boolean {
  return /\p{N}/u.test(text.replaceAll(NAMES_WITH_DIGITS, "")) || NUMBER_WORDS.test(text);
}

/** Whether a sentence says what something is. */
export function isDefinition(sentence: string): boolean {
  return /\b(?:refers to|means|is (?:a|an|our|the)|are (?:a|an|our|the)|stands for)\b|\b(?:ist|sind) (?:ein|die|der|das)|bezeichnet|\best (?:un|une|le|la)\b|désigne|\bes (?:un|una|el|la)\b|\bé (?:um|uma|o|a)\b|è (?:un|una|il|la)\b|\bis (?:een|de|het)\b|—\s*это|是指|とは/iu.test(
    sentence,
  );
}
