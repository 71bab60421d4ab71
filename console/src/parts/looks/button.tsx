import type { ComponentProps } from 'react';

/** What a button is for: the one that the page is for, one of many, one that destroys something. */
type Kind = 'plain' | 'primary' | 'ghost' | 'bad' | 'ghost-bad';

interface ButtonLook {
  readonly kind?: Kind | undefined;
  readonly size?: 'normal' | 'small' | 'large' | undefined;
  /** As wide as it is high: it holds an icon alone. */
  readonly icon?: boolean | undefined;
  /** Higher where its words need more than one line. */
  readonly wraps?: boolean | undefined;
}

const ANY =
  'inline-flex items-center justify-center gap-1.5 rounded-control border font-medium ' +
  'transition-[background-color,border-color] duration-(--fast) ' +
  'aria-pressed:border-select-line aria-pressed:bg-select aria-pressed:text-text ' +
  'off:cursor-not-allowed off:border-line off:bg-sunken off:text-faint off:shadow-none';
const RAISED = 'border-line bg-surface shadow-(--shadow-1) hover:bg-hover active:bg-active';
const FLAT = 'border-transparent bg-transparent hover:bg-hover';
const KIND: Readonly<Record<Kind, string>> = {
  plain: `${RAISED} text-text`,
  primary: 'border-ink bg-ink text-on-ink shadow-(--shadow-1) hover:bg-ink-hover',
  ghost: `${FLAT} text-muted hover:text-text`,
  bad: `${RAISED} text-failed`,
  'ghost-bad': `${FLAT} text-failed hover:text-text`,
};
const SIZE = {
  normal: 'h-control text-13',
  small: 'h-control-small text-12',
  large: 'h-control-large text-14',
};
const WRAPS = {
  normal: 'min-h-control py-1.25 text-13',
  small: 'min-h-control-small text-12',
  large: 'min-h-control-large text-14',
};
const ICON = { normal: 'w-control p-0', small: 'w-control-small p-0', large: 'w-control p-0' };
const WORDS = { normal: 'px-3', small: 'px-2', large: 'px-4' };

/** The classes of a button, for links and for triggers of menus. */
export function buttonLook(look: ButtonLook = {}): string {
  const { kind = 'plain', size = 'normal', icon = false, wraps = false } = look;
  const height = wraps ? WRAPS[size] : `whitespace-nowrap ${SIZE[size]}`;
  return `${ANY} ${KIND[kind]} ${height} ${icon ? ICON[size] : WORDS[size]}`;
}

interface ButtonProps extends ButtonLook, ComponentProps<'button'> {
  /** What an icon alone stands for, for who cannot see it and for who points at it. */
  readonly label?: string;
}

/** A button; `type="submit"` sends its form. */
export function Button({ kind, size, icon, wraps, label, className = '', ...rest }: ButtonProps) {
  const look = `${buttonLook({ kind, size, icon, wraps })} ${className}`;
  return <button type="button" aria-label={label} title={label} {...rest} className={look} />;
}
