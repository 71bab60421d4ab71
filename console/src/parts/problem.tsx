import { CombinedGraphQLErrors } from '@apollo/client/errors';
import { KilnError } from '@kiln/client';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';

import { Refusal } from '../api/refusal.ts';
import { goToSignIn } from '../api/sign-in.ts';
import { language, t, textOr } from '../text/text.ts';
import { Icon } from './icons.tsx';
import { buttonLook } from './looks/button.tsx';
import { Note } from './looks/panels.tsx';

/** What a thrown error says to people: the server's own words, or that it could not be reached. */
export function problemText(error: unknown): string {
  const { words, detail, codes } = describeProblem(error);
  // What is wrong with an input the server alone can say.
  const isOfInput = language === 'en' && codes.includes('BAD_USER_INPUT');
  return detail === null || !isOfInput ? words : t('problem.because', { words, detail });
}

interface ProblemText {
  readonly words: string;
  readonly detail: string | null;
  /** Of what the server has refused. */
  readonly codes: readonly string[];
}

/** A refusal in the reader's language, and what the server says besides, which is English. */
function describeProblem(error: unknown): ProblemText {
  if (error instanceof TypeError) {
    // Fetch and import fail with it, and so does a fault of this page.
    const isOfNetwork = /fetch|network|load failed|unreachable|import/i.test(error.message);
    return isOfNetwork
      ? { words: t('problem.unreachable'), detail: null, codes: [] }
      : { words: t('problem.page'), detail: error.message, codes: [] };
  }
  if (error instanceof KilnError && error.code === 'UNREACHABLE')
    return { words: t('problem.unreachable'), detail: null, codes: [] };
  const refusals = listRefusals(error);
  if (refusals === null) {
    return { words: error instanceof Error ? error.message : String(error), detail: null, codes: [] };
  }
  const said = [...new Set(refusals.map(({ message }) => message))].join(' ');
  const codes = refusals.map(({ code }) => code);
  const words = codes.map((code) => textOr(`refusal.${code}`, t('problem.refused')));
  return { words: [...new Set(words)].join(' '), detail: said === '' ? null : said, codes };
}

/** What the server has refused; null where it was not the server that has failed. */
function listRefusals(error: unknown): readonly { readonly message: string; readonly code: string }[] | null {
  if (error instanceof Refusal || error instanceof KilnError) return [error];
  if (!CombinedGraphQLErrors.is(error)) return null;
  return error.errors.map(({ message, extensions }) => ({ message, code: String(extensions?.['code']) }));
}

/** A failure in the place of what is missing, with its remedy. */
export function Problem({ error, children }: { readonly error: unknown; readonly children?: ReactNode }) {
  const { words, detail, codes } = describeProblem(error);
  return (
    <Note tone="bad" role="alert">
      <Icon name="warning" />
      <div className="flex flex-col gap-2 flex-1 min-w-0">
        <p>{words}</p>
        {detail !== null && (
          <details className="text-12 font-normal" open={codes.includes('BAD_USER_INPUT')}>
            <summary>{t('problem.details')}</summary>
            <ServerWords text={detail} />
          </details>
        )}
        <WayOn codes={codes} />
        {children}
      </div>
    </Note>
  );
}

/** What can be done about a refusal, where that is not to try again. */
function WayOn({ codes }: { readonly codes: readonly string[] }) {
  if (codes.includes('UNAUTHENTICATED'))
    return <SignInButton className={`${buttonLook({ size: 'small' })} self-start`} />;
  if (!codes.includes('BUDGET_EXCEEDED')) return null;
  return (
    <Link className="link" to="/usage">
      {t('problem.budgets')}
    </Link>
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
    <div className="m-auto flex max-w-110 flex-col items-center gap-2 px-6 py-10 text-center [&_:is(a,button)]:mt-2">
      <h2>{title}</h2>
      {text !== undefined && <p className="text-muted">{text}</p>}
      {children}
    </div>
  );
}

/** What a failure's code means, of a task or of a request. */
export function codeText(code: string): string {
  return textOr(`error.${code}`, textOr(`refusal.${code}`, code));
}

/** Words of the server that have no code, such as what a provider has answered: they are English wherever they stand. */
export function ServerWords({ text }: { readonly text: string }) {
  return <span lang={language === 'en' ? undefined : 'en'}>{text}</span>;
}

/** What is shown where an address leads to nothing, with a way on. */
export function NotFound({ text = t('shell.notFoundText') }: { readonly text?: string }) {
  return (
    <Empty title={t('shell.notFound')} text={text}>
      <Link className={buttonLook()} to="/">
        {t('page.studio')}
      </Link>
    </Empty>
  );
}

/** Leaves for the login page of the identity provider; the way back ends at this page. */
export function SignInButton({ className }: { readonly className: string }) {
  return (
    <button type="button" className={className} onClick={() => void goToSignIn()}>
      <Icon name="avatar" />
      {t('signIn.signIn')}
    </button>
  );
}
