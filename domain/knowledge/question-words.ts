import { getLoadedAnalyzer } from "../search/analyzer.ts";
import { prefixOf, type Language } from "../search/languages.ts";

/** Words that say how a question is asked, and not what it is about. */
const WORDS: Partial<Record<Language, string>> = {
  english:
    "actually another other allowed maximum minimum always ask asking available bring called can company cost costs could describe do does exactly explain find get gets give given got happen happens have how kind know limit list long look make many may me mean means much must need needed needs next offer often okay our permitted please possible provide really say says see should show somebody someone still take tell thing things type use used using want way we what when where which while who why will wish without work works would write your",
  german:
    "anfallen hochstens höchstens maximal mindestens minimal angeben angegeben arbeiten bekommen bekomme bekommt bestehen bitte brauche brauchen braucht darf duerfen durfen einreichen erhalten erhalte erlaubt findet finden funktioniert gelten geben gibt gilt genau haben habe hat heisst heißt kann kommen kosten kostet konnen koennen lange lautet machen macht mal möglich moglich muss mussen muessen müssen nutzen oft passiert reichen reiche sagen sind soll sollen stehen steht teuer tun verwenden viel viele wann warum was welche welchem welchen welcher welches wer wie wieviel wo wofur wofür worunter woher wohin wozu wird werden",
  french:
    "ai aide maximal maximale maximum minimal minimale minimum autorise autorisé autorisée autorisés avoir coute coûte coûtent couter coûter combien comment dois doit demander dispose est-ce existe faire fait falloir faut fonctionne indique marche mettre obtenir offre offrir peut peuvent peux possible pouvoir pourquoi prix prendre quand quel quelle quelles quels qui quoi sert signifie sont trouve trouver utilise utiliser veut vouloir où",
  spanish:
    "cuál cuáles cual cuales cuándo cuando cuánta cuántas cuánto cuántos cuanta cuantas cuanto cuantos cómo como cuesta cuestan costar debe deben debo dónde donde dice existe funciona hace hacer hacen hago hay necesito necesita obtener permite permitido permitida posible puede pueden puedo poder qué que quién quien significa sirve tener tengo tiene tienen usar usa utilizar",
  portuguese:
    "como consigo custa custam custar deve devem devo dizer diz existe fazer faço faz fazem funciona há obter onde permite permitido permitida pode podem posso poder por preciso precisa qual quais quando quanta quantas quanto quantos que quem serve significa tem tenho ter usa usar utilizar é",
  italian:
    "avere bisogna bisogno come costa costano costare cosa cos deve devo devono dice dove esiste fa fanno fare faccio funziona ha ho hanno ottenere perché perche permesso permessa possibile posso possono può puo potere qual quale quali quando quanta quante quanti quanto quanto chi serve significa usa usare utilizzare è",
  dutch:
    "betekent doen doet dien dienen gebruik gebruiken gebruikt geldt gelden heb hebben heeft heet hoe hoelang hoeveel kan kosten kost krijg krijgen krijgt kun kunnen lang maak maken mag mogen moet moeten mogelijk nodig staat toegestaan vaak waar waaronder waarom waarvoor wanneer wat welk welke werkt werken wie wordt worden zeggen zegt zijn",
  russian:
    "быть будет где делать делает должен должна должны есть зачем иметь имеет как какая какие какой какое каков какова каковы когда кто куда можно могу может могут надо называется нужен нужна нужно нужны означает откуда получить почему работает разрешено разрешен сколько сдавать сделать следует стоит стоят стоить использовать что чем",
  chinese:
    "什么 么时 少钱 长时 么样 怎么 怎样 如何 哪里 哪儿 哪些 哪个 多少 多久 多长 多大 多 几 几天 几个 几次 几年 为什么 为何 谁 何时 是否 可以 可否 能否 能够 能 需要 必须 应该 应当 请问 使用 进行 有 吗 呢 之内 时候 提供 允许 最多 最少 之 要 会 到 钱 天 在 次 用 做 作 得 最",
  japanese:
    "何 何日 何時 何年 何回 何人 何個 誰 今 必要 可能 使用 利用 使 場合 方法 時 事 出来 教 際 以内 以上 以下 言 行 無 有 意味 理由 日 日目 目 月 年 回 中",
};

const terms = new Map<Language, ReadonlySet<string>>();

/** Returns the terms of such words in a language, whose analyzer must be loaded. */
export function questionTerms(language: Language): ReadonlySet<string> {
  const known = terms.get(language);
  if (known !== undefined) return known;
  const analyzer = getLoadedAnalyzer(language);
  const prefix = prefixOf(language);
  const words = WORDS[language] ?? "";
  // A word of two characters is a pair in the index, and both characters. Only the whole word is meant.
  const unspaced = words.split(" ").map((word) => prefix + word);
  const found = prefix === "zh:" || prefix === "ja:" ? unspaced : analyzer.analyze(words).map(({ text }) => text);
  if (analyzer.language === language) terms.set(language, new Set(found));
  return new Set(found);
}
