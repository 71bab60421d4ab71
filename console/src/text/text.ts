import type enLater from './en-later.json';
import type en from './en.json';

/** A catalog of texts, by their keys. */
export type Texts = Readonly<Record<keyof typeof en | keyof typeof enLater, string>>;

/** The texts of the console in the language of the browser, or the one chosen here. */
export type Language = 'en' | 'zh';

const STORAGE_KEY = 'kiln.language';

function chosen(): Language {
  const stored = localStorage.getItem(STORAGE_KEY);
  if (stored === 'en' || stored === 'zh') return stored;
  return navigator.language.toLowerCase().startsWith('zh') ? 'zh' : 'en';
}

/** The language of this page; a change loads the page again. */
export const language: Language = chosen();
let texts: Partial<Texts> = {};
let others: Promise<void> | undefined;

/** Loads those of one language that the first view has; none is shown before. */
export async function loadTexts(): Promise<void> {
  const first = await (language === 'zh' ? import('./zh.json') : import('./en.json'));
  texts = { ...texts, ...first.default };
}

/** Loads the texts of everything that is loaded later. */
export function loadLaterTexts(): Promise<void> {
  others ??= (language === 'zh' ? import('./zh-later.json') : import('./en-later.json')).then(
    (later) => {
      texts = { ...texts, ...later.default };
    },
    (error: unknown) => {
      others = undefined;
      throw error;
    },
  );
  return others;
}
document.documentElement.lang = language === 'zh' ? 'zh-CN' : 'en';

/** Makes a value when it is first asked for: the first format of a kind loads data for as long as a page takes to be drawn. */
export function once<Value extends object>(make: () => Value): () => Value {
  let made: Value | undefined;
  return () => (made ??= make());
}

const numbers = once(() => new Intl.NumberFormat(language));
/** Loads what formats of numbers need, which takes as long as drawing a form: better before than while one is drawn. */
export const warmFormats = () => void numbers();
const plurals = once(() => new Intl.PluralRules(language));
const PLURAL = /\{(\w+), plural,((?: \w+ \{[^{}]*\})+)\}/g;

/** Values of a text by their names. */
type TextValues = Readonly<Record<string, string | number>>;

/**
 * The text with this key; `{name}` in it is replaced by the value of that name, and
 * `{count, plural, one {# file} other {# files}}` by the form that the language has for the number, `#` by the number itself.
 */
export function t(key: keyof Texts, values: TextValues = {}): string {
  return filled(texts[key] ?? key, values);
}

/** The texts of a page that is loaded later, by keys of its own: they come with it. */
export function createTexts<Key extends string>(
  ownEn: Readonly<Record<Key, string>>,
  ownZh: Readonly<Record<Key, string>>,
): (key: Key, values?: TextValues) => string {
  const own = language === 'zh' ? ownZh : ownEn;
  return (key, values = {}) => filled(own[key], values);
}

function filled(text: string, values: TextValues): string {
  return text
    .replace(PLURAL, (_, name: string, forms: string) => choosePlural(forms, values[name] ?? 0))
    .replace(/\{(\w+)\}/g, (whole, name: string) => String(values[name] ?? whole));
}

/** Numbers that are written already, such as 1.2K, are several. */
function choosePlural(forms: string, value: string | number): string {
  const rule = Number.isNaN(Number(value)) ? 'other' : plurals().select(Number(value));
  const found = new Map([...forms.matchAll(/(\w+) \{([^{}]*)\}/g)].map(([, name, form]) => [name, form]));
  const form = found.get(rule) ?? found.get('other') ?? '';
  return form.replaceAll('#', typeof value === 'number' ? numbers().format(value) : value);
}

/** The text with this key, or the other one: codes of a newer server may have none here. */
export function textOr(
  key: string,
  other: string,
  values: Readonly<Record<string, string | number>> = {},
): string {
  return key in texts ? t(key as keyof Texts, values) : other;
}

/** Remembers the language and loads the page in it. */
export function chooseLanguage(next: Language): void {
  localStorage.setItem(STORAGE_KEY, next);
  location.reload();
}
