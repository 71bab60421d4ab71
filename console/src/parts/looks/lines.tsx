import type { HTMLAttributes } from 'react';

interface LineProps extends HTMLAttributes<HTMLElement> {
  /** Its element; a `span` stands within words. */
  readonly as?: 'span' | 'p' | 'div';
}

/** What stands beside one another, on one line; with `wrap` on several where there is no room. */
export function Row({ as: Tag = 'div', wrap = false, className = '', ...rest }: LineProps & RowProps) {
  return (
    <Tag {...rest} className={`flex min-w-0 items-center gap-2 ${wrap ? 'flex-wrap' : ''} ${className}`} />
  );
}

interface RowProps {
  readonly wrap?: boolean;
}

/** What is said besides, smaller and paler. */
export function Small({ as: Tag = 'span', className = '', ...rest }: LineProps) {
  return <Tag {...rest} className={`text-12 font-normal text-muted ${className}`} />;
}

interface FiguresProps extends LineProps {
  readonly tone?: 'text' | 'muted' | 'faint';
  readonly small?: boolean;
}

const TONE = { text: '', muted: 'text-muted', faint: 'text-faint' };

/** The classes of figures: digits of one width, never broken. */
export const figuresLook = 'text-right whitespace-nowrap tabular-nums';

/** Figures that are compared with others: digits of one width, never broken. */
export function Figures({
  as: Tag = 'span',
  tone = 'text',
  small = false,
  className = '',
  ...rest
}: FiguresProps) {
  const size = small ? 'text-12 font-normal' : '';
  return <Tag {...rest} className={`${figuresLook} ${TONE[tone]} ${size} ${className}`} />;
}
