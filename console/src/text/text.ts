import { en, type Texts } from './en.ts';
import { zh } from './zh.ts';

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
const texts: Texts = language === 'zh' ? zh : en;
document.documentElement.lang = language === 'zh' ? 'zh-CN' : 'en';

/** The text with this key; `{name}` in it is replaced by the value of that name. */
export function t(key: keyof Texts, values: Readonly<Record<string, string | number>> = {}): string {
  return texts[key].replace(/\{(\w+)\}/g, (whole, name: string) => String(values[name] ?? whole));
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
