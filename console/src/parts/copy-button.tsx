import { useState } from 'react';

import { t } from '../text/text.ts';
import { Icon } from './icons.tsx';
import { Button } from './looks/button.tsx';

/** Copies a text, and says so for a moment. */
export function CopyButton({ text }: { readonly text: string }) {
  const [isCopied, setIsCopied] = useState(false);
  const copy = async () => {
    await navigator.clipboard.writeText(text);
    setIsCopied(true);
    setTimeout(() => setIsCopied(false), 1_500);
  };
  return (
    <Button
      kind="ghost"
      size="small"
      icon
      aria-label={t(isCopied ? 'copied' : 'copy')}
      title={t(isCopied ? 'copied' : 'copy')}
      onClick={() => void copy()}
    >
      <Icon name={isCopied ? 'check' : 'copy'} size={14} />
    </Button>
  );
}
