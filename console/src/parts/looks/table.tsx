import type { ComponentProps } from 'react';

import { t } from '../../text/text.ts';
import { figuresLook } from './lines.tsx';

/** The frame of a table: it scrolls by itself where the window is narrower, by the keyboard too. */
export function TableFrame({
  label,
  className = '',
  ...rest
}: { readonly label: string } & ComponentProps<'div'>) {
  return (
    <div
      {...rest}
      className={`relative overflow-x-auto ${className}`}
      tabIndex={0}
      role="region"
      aria-label={label}
    />
  );
}

interface WideProps {
  /** Left out on phones. */
  readonly wide?: boolean;
}

/** The head of a column of figures. */
export function FiguresHead({ wide = false, className = '', ...rest }: WideProps & ComponentProps<'th'>) {
  return <th {...rest} className={`${figuresLook} ${wide ? 'max-sm:hidden' : ''} ${className}`} />;
}

/** A cell with figures. */
export function FiguresCell({ wide = false, className = '', ...rest }: WideProps & ComponentProps<'td'>) {
  return <td {...rest} className={`${figuresLook} ${wide ? 'max-sm:hidden' : ''} ${className}`} />;
}

/** The head of a column of buttons, for who cannot see it. */
export function ActionsHead() {
  return (
    <th>
      <span className="sr-only">{t('task.actions')}</span>
    </th>
  );
}
