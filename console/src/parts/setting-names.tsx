import { Fragment } from 'react';

import { t } from '../text/text.ts';
import { CopyButton } from './copy-button.tsx';
import { tagLook } from './looks/panels.tsx';

/** Settings that make something real, as the server lists them: "A and B, or C". Copied as lines of an .env file. */
export function SettingNames({ text }: { readonly text: string }) {
  const parts = text.split(/(,? and |,? or |[,;] )/);
  const names = parts.filter((part) => !isBetween(part));
  return (
    <span className="flex items-center min-w-0 flex-wrap gap-1">
      {parts.map((part, index) => (
        <Fragment key={index}>
          {isBetween(part) ? wordsOf(part) : <code className={tagLook()}>{part}</code>}
        </Fragment>
      ))}
      <CopyButton text={names.map((name) => `${name}=`).join('\n')} />
    </span>
  );
}

function isBetween(part: string): boolean {
  return /^(,? and |,? or |[,;] )$/.test(part);
}

function wordsOf(part: string): string {
  if (part.endsWith('and ')) return t('list.and');
  return part.endsWith('or ') ? t('list.or') : t('list.comma');
}
