import type { ComponentProps } from 'react';

import { t } from '../../text/text.ts';

/** What a page is made of: its bar, its ground, and what lies on it. */

export function PageTop({ className = '', ...rest }: ComponentProps<'header'>) {
  return (
    <header
      {...rest}
      className={`sticky top-0 z-(--z-nav) flex min-h-14 items-center gap-3 border-b border-line bg-bg px-6 py-2 max-lg:flex-wrap max-sm:static max-sm:px-4 ${className}`}
    />
  );
}

export function Page({ className = '', ...rest }: ComponentProps<'div'>) {
  return (
    <div
      {...rest}
      className={`flex w-full max-w-[calc(var(--page-w)+48px)] flex-col gap-6 p-6 max-sm:gap-4 max-sm:p-4 ${className}`}
    />
  );
}

/** The classes of a card, where it is no section. */
export const cardLook = 'min-w-0 rounded-panel border border-line bg-surface';

export function Card({ className = '', ...rest }: ComponentProps<'section'>) {
  return <section {...rest} className={`${cardLook} ${className}`} />;
}

interface CardHeadProps extends ComponentProps<'header'> {
  /** The heading that stands first. */
  readonly title?: string;
}

export function CardHead({ title, className = '', children, ...rest }: CardHeadProps) {
  return (
    <header
      {...rest}
      className={`flex min-h-11 flex-wrap items-center gap-2 border-b border-line px-4 max-sm:py-2 ${className}`}
    >
      {title !== undefined && <h2>{title}</h2>}
      {children}
    </header>
  );
}

/** Plain says something, warn asks for care, bad is a failure. */
export type Tone = 'plain' | 'warn' | 'bad';
const TONE: Readonly<Record<Tone, string>> = {
  plain: 'border-line bg-surface',
  warn: 'border-transparent bg-attention-bg',
  bad: 'border-transparent bg-failed-bg',
};

/** The classes of a note, where it is a list. */
export function noteLook(tone: Tone = 'plain'): string {
  return `flex items-start gap-3 rounded-panel border px-4 py-3 [&_svg]:mt-0.5 ${TONE[tone]}`;
}

export function Note({
  tone = 'plain',
  className = '',
  ...rest
}: { readonly tone?: Tone } & ComponentProps<'div'>) {
  return <div {...rest} data-note={tone} className={`${noteLook(tone)} ${className}`} />;
}

const TAG =
  'inline-flex h-5 items-center gap-1 rounded-small border px-1.5 text-12 font-normal whitespace-nowrap text-muted';
/** The classes of a small mark beside a name; `dashed` for what is no real one. */
export function tagLook(dashed = false): string {
  return `${TAG} ${dashed ? 'border-dashed border-line-strong bg-transparent' : 'border-line bg-sunken'}`;
}

export function Tag({ className = '', ...rest }: ComponentProps<'span'>) {
  return <span {...rest} className={`${tagLook()} ${className}`} />;
}

/** What lies in the place of something while it is loaded; `className` is its height. */
export function Skeleton({ className = '', ...rest }: ComponentProps<'div'>) {
  return <div {...rest} className={`animate-skeleton rounded-small bg-active ${className}`} />;
}

/** The classes of one of the figures of a page, which stand side by side. */
export const figureLook =
  'flex flex-col gap-0.5 border-l border-line p-4 first:border-l-0 max-sm:odd:border-l-0 max-sm:nth-[n+3]:border-t';

/** The classes of a line that says what a colour means. */
export const legendLook = 'inline-flex items-center gap-1.5 text-12 font-normal text-muted';

/** The classes of a card that is chosen by a press. */
export const choiceLook =
  'flex h-full w-full gap-3 rounded-panel border border-line bg-surface p-4 text-left hover:bg-hover aria-pressed:border-select-line aria-pressed:bg-select';

/** The classes of the form at the side of the Studio, and of its fields, which scroll by themselves. */
export const sideFormLook =
  'border-r border-r-line bg-surface flex flex-col sticky top-14.25 h-[calc(100vh_-_57px)] max-sm:static max-sm:h-auto max-sm:border-r-0';
export const sideFieldsLook = 'p-4 flex flex-col gap-5 overflow-y-auto flex-1 max-sm:overflow-visible';

/** Marks what is drawn on this machine and costs nothing. */
export function SandboxTag() {
  return (
    <span className={tagLook(true)} title={t('sandbox.meaning')}>
      {t('sandbox')}
    </span>
  );
}
