import { type ComponentProps, type ReactNode, Fragment } from 'react';

import { t } from '../text/text.ts';
import { CopyButton } from './buttons.tsx';
import { tagLook } from './looks/panels.tsx';

/** A list of facts, each a name and a value. */
export function FactList({ className = '', ...rest }: ComponentProps<'dl'>) {
  return (
    <dl
      {...rest}
      className={`grid grid-cols-[minmax(96px,auto)_minmax(0,1fr)] gap-x-4 gap-y-1.5 text-13 font-normal ${className}`}
    />
  );
}

export function FactName({ children }: { readonly children: ReactNode }) {
  return <dt className="text-faint">{children}</dt>;
}

export function FactValue({ className = '', ...rest }: ComponentProps<'dd'>) {
  return <dd {...rest} className={`min-w-0 text-right wrap-anywhere tabular-nums ${className}`} />;
}

/** One line of a list of facts. */
export function Fact({ name, children }: { readonly name: string; readonly children: ReactNode }) {
  return (
    <>
      <FactName>{name}</FactName>
      <FactValue>{children}</FactValue>
    </>
  );
}

/** An id in one line, to be copied with a click. */
export function Id({ text }: { readonly text: string }) {
  return (
    <span data-id-row className="flex justify-end items-center gap-1 min-w-0">
      <span className="truncate font-mono [font-size:12px] min-w-0" title={text}>
        {text}
      </span>
      <CopyButton text={text} />
    </span>
  );
}

/** Settings that make something real, as the server lists them: "A and B, or C". Copied as lines of an .env file. */
export function SettingNames({ text }: { readonly text: string }) {
  const parts = text.split(/(,? and |,? or |[,;] )/);
  const names = parts.filter((part) => !isBetween(part));
  return (
    <span className="flex items-center min-w-0 flex-wrap gap-1">
      {parts.map((part, index) => (
        <Fragment key={index}>
          {isBetween(part) ? toWords(part) : <code className={tagLook()}>{part}</code>}
        </Fragment>
      ))}
      <CopyButton text={names.map((name) => `${name}=`).join('\n')} />
    </span>
  );
}

function isBetween(part: string): boolean {
  return /^(,? and |,? or |[,;] )$/.test(part);
}

function toWords(part: string): string {
  if (part.endsWith('and ')) return t('list.and');
  return part.endsWith('or ') ? t('list.or') : t('list.comma');
}
