import type { ComponentProps } from 'react';

const BOX =
  'rounded-control border border-line-strong bg-surface font-normal max-sm:text-16 ' +
  'placeholder:text-faint placeholder:opacity-100 ' +
  'focus:border-transparent focus:outline-2 focus:-outline-offset-1 focus:outline-focus aria-invalid:border-failed-fill';

/** The classes of an input of one line. `width` is a class as well. */
export function inputLook(width = 'w-full'): string {
  return `${BOX} ${width} min-h-control px-2.5 py-1.25 text-13`;
}

interface Width {
  /** A class; the whole width without it. */
  readonly width?: string | undefined;
}

export function Input({ width, className = '', ...rest }: Width & ComponentProps<'input'>) {
  return <input {...rest} className={`${inputLook(width)} ${className}`} />;
}

interface SelectProps extends Omit<ComponentProps<'select'>, 'width'>, Width {
  /** The value of each option and what it is called; children in place of it where that is not all. */
  readonly options?: readonly (readonly [value: string | number, text: string])[];
  /** What is first in place of a value: nothing is chosen then. */
  readonly empty?: string | undefined;
}

export function Select({ width, className = '', empty, options = [], children, ...rest }: SelectProps) {
  return (
    <select {...rest} className={`${inputLook(width)} ${className}`}>
      {empty !== undefined && <option value="">{empty}</option>}
      {options.map(([value, text]) => (
        <option key={value} value={value}>
          {text}
        </option>
      ))}
      {children}
    </select>
  );
}

/** `short`: of two lines, where little is written. */
export function TextArea({
  short = false,
  className = '',
  ...rest
}: { readonly short?: boolean } & ComponentProps<'textarea'>) {
  const height = short ? 'min-h-16' : 'min-h-29';
  return (
    <textarea {...rest} className={`${BOX} w-full resize-y px-2.5 py-2 text-14 ${height} ${className}`} />
  );
}

const TICK =
  "checked:after:h-1 checked:after:w-2 checked:after:border-0 checked:after:border-b-2 checked:after:border-l-2 checked:after:border-solid checked:after:border-on-ink checked:after:content-[''] checked:after:[transform:rotate(-45deg)_translate(0,-1px)]";
/** A finger needs more than the box. */
const REACH = "max-sm:relative max-sm:before:absolute max-sm:before:-inset-3 max-sm:before:content-['']";

export function Check({ className = '', ...rest }: ComponentProps<'input'>) {
  return (
    <input
      {...rest}
      type="checkbox"
      className={`m-0 grid size-4 flex-none appearance-none place-items-center rounded-small border border-line-strong bg-surface checked:border-ink checked:bg-ink ${TICK} ${REACH} ${className}`}
    />
  );
}

/** A field: its name, its control, what helps. */
export function Field({ className = '', ...rest }: ComponentProps<'div'>) {
  return <div {...rest} className={`${fieldLook} ${className}`} />;
}
export const fieldLook = 'flex flex-col gap-1.5';

/** The classes of the name of a field, for legends and for names of groups. */
export const labelLook = 'flex items-center gap-2 p-0 text-12 font-medium text-muted';

export function Label({ className = '', ...rest }: ComponentProps<'label'>) {
  return <label {...rest} className={`${labelLook} ${className}`} />;
}

/** The classes of what helps with a field, or says what is wrong with it. */
export function helpLook(bad = false): string {
  return `flex gap-1.5 text-12 font-normal ${bad ? 'text-failed' : 'text-faint'}`;
}

export function Help({
  bad = false,
  className = '',
  ...rest
}: { readonly bad?: boolean } & ComponentProps<'p'>) {
  return <p {...rest} className={`${helpLook(bad)} ${className}`} />;
}

/** One of several that a list is filtered by. */
export function Chip({
  on = false,
  className = '',
  ...rest
}: { readonly on?: boolean } & ComponentProps<'button'>) {
  const look = on ? 'border-select-line bg-select text-text' : 'border-line bg-surface text-muted';
  return (
    <button
      type="button"
      {...rest}
      className={`inline-flex h-control-small items-center gap-1.5 rounded-control border px-2 text-12 font-normal whitespace-nowrap hover:bg-hover aria-pressed:border-select-line aria-pressed:bg-select aria-pressed:text-text ${look} ${className}`}
    />
  );
}

/** The classes of what stands around a search and its icon; the input then has `pl-8`. */
export const findLook =
  'relative min-w-0 [&>svg]:pointer-events-none [&>svg]:absolute [&>svg]:top-1/2 [&>svg]:left-2.25 [&>svg]:-translate-y-1/2 [&>svg]:text-faint';

/** Chips side by side; on phones they scroll under the edges of the page. */
export function Chips({ className = '', ...rest }: ComponentProps<'div'>) {
  return (
    <div
      role="group"
      {...rest}
      className={`flex flex-wrap items-center gap-2 max-sm:-mx-4 max-sm:flex-nowrap max-sm:overflow-x-auto max-sm:px-4 max-sm:py-0.5 max-sm:[scrollbar-width:none] ${className}`}
    />
  );
}
