import { t, textOr } from '../../../../text/text.ts';
import type { OptionField } from '../../../../work/options/fields.ts';

/** What an option is called; `isOurs` tells whether in the reader's language or in the vendor's words. */
export function nameOf({ path, title }: OptionField): { readonly text: string; readonly isOurs: boolean } {
  const name = path.at(-1) ?? '';
  const own = textOr(`option.${name}`, '');
  return own === '' ? { text: title ?? spaced(name), isOurs: false } : { text: own, isOurs: true };
}

/** A value of the vendor in words, where there are some. */
export function wordsOf(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return textOr(`value.${text}`, text);
}

/** What the vendor takes where nothing is set; empty when that is not told. */
export function standardText({ standard }: OptionField): string {
  if (standard === undefined || standard === null || standard === '') return t('field.default');
  return t('options.default', { value: wordsOf(standard) });
}

/** snake_case and camelCase as words. */
function spaced(name: string): string {
  const words = name
    .replaceAll('_', ' ')
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase();
  return words.charAt(0).toUpperCase() + words.slice(1);
}
