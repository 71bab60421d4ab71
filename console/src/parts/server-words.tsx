import { language } from '../text/text.ts';

/** Words of the server that have no code, such as what a provider has answered: they are English wherever they stand. */
export function ServerWords({ text }: { readonly text: string }) {
  return <span lang={language === 'en' ? undefined : 'en'}>{text}</span>;
}
