import { CombinedGraphQLErrors } from '@apollo/client/errors';
import type { ReactNode } from 'react';

import { Refusal } from '../api/refusal.ts';
import { language, t, textOr } from '../text/text.ts';
import { Icon } from './icons.tsx';
import { ServerWords } from './server-words.tsx';

/** What a thrown error says to people: the server's own words, or that it could not be reached. */
export function problemText(error: unknown): string {
  const { words, detail } = problemOf(error);
  return detail === null ? words : t('problem.because', { words, detail });
}

/** A refusal in the reader's language, and what the server says besides, which is English. */
function problemOf(error: unknown): { readonly words: string; readonly detail: string | null } {
  if (error instanceof TypeError) {
    // Fetch and import fail with it, and so does a fault of this page.
    const isOfNetwork = /fetch|network|load failed|unreachable|import/i.test(error.message);
    return isOfNetwork
      ? { words: t('problem.unreachable'), detail: null }
      : { words: t('problem.page'), detail: error.message };
  }
  const refusals = refusalsOf(error);
  if (refusals === null) {
    return { words: error instanceof Error ? error.message : String(error), detail: null };
  }
  const said = refusals.map(({ message }) => message).join(' ');
  if (language === 'en') return { words: said, detail: null };
  const words = refusals.map(({ code }) => textOr(`refusal.${code}`, t('problem.refused')));
  return { words: [...new Set(words)].join(' '), detail: said === '' ? null : said };
}

/** What the server has refused; null where it was not the server that has failed. */
function refusalsOf(error: unknown): readonly { readonly message: string; readonly code: string }[] | null {
  if (error instanceof Refusal) return [error];
  if (!CombinedGraphQLErrors.is(error)) return null;
  return error.errors.map(({ message, extensions }) => ({ message, code: String(extensions?.['code']) }));
}

/** A failure in the place of what is missing, with its remedy. */
export function Problem({ error, children }: { readonly error: unknown; readonly children?: ReactNode }) {
  const { words, detail } = problemOf(error);
  return (
    <div className="note bad" role="alert">
      <Icon name="warning" />
      <div className="grow col">
        <p>{words}</p>
        {detail !== null && (
          <p className="c12">
            <ServerWords text={detail} />
          </p>
        )}
        {children}
      </div>
    </div>
  );
}

/** What a list says while it has nothing. */
export function Empty({
  title,
  text,
  children,
}: {
  readonly title: string;
  readonly text?: string;
  readonly children?: ReactNode;
}) {
  return (
    <div className="empty">
      <h2>{title}</h2>
      {text !== undefined && <p className="mute">{text}</p>}
      {children}
    </div>
  );
}

/** What a failure's code means, of a task or of a request. */
export function codeText(code: string): string {
  return textOr(`error.${code}`, textOr(`refusal.${code}`, code));
}
