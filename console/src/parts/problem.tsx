import { CombinedGraphQLErrors } from '@apollo/client/errors';
import type { ReactNode } from 'react';

import { t } from '../text/text.ts';
import { Icon } from './icons.tsx';

/** What a thrown error says to people: the server's own words, or that it could not be reached. */
export function problemText(error: unknown): string {
  if (CombinedGraphQLErrors.is(error)) return error.errors.map(({ message }) => message).join(' ');
  if (error instanceof TypeError) return t('problem.unreachable');
  return error instanceof Error ? error.message : String(error);
}

/** A failure in the place of what is missing, with its remedy. */
export function Problem({ error, children }: { readonly error: unknown; readonly children?: ReactNode }) {
  return (
    <div className="note bad" role="alert">
      <Icon name="warning" />
      <div className="grow col">
        <p>{problemText(error)}</p>
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
