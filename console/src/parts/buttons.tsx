import { Link, type LinkProps } from '@tanstack/react-router';
import { useState } from 'react';

import { t } from '../text/text.ts';
import { Icon } from './icons.tsx';
import { Button, buttonLook } from './looks/button.tsx';

interface MoreButtonProps {
  readonly isLoading: boolean;
  /** Null when everything is shown: there is no button then. */
  readonly onMore: (() => void) | null;
}

/** Loads the next page of a list, below what is shown of it. */
export function MoreButton({ isLoading, onMore }: MoreButtonProps) {
  if (onMore === null) return null;
  return (
    <div className="p-4">
      <Button disabled={isLoading} onClick={onMore}>
        {t('list.more')}
      </Button>
    </div>
  );
}

/** Copies a text, and says so for a moment. Pages of an insecure origin may not copy: there is no button then. */
export function CopyButton({ text }: { readonly text: string }) {
  const [isCopied, setIsCopied] = useState(false);
  const { clipboard } = navigator as { readonly clipboard?: Clipboard };
  if (clipboard === undefined) return null;
  const copied = () => {
    setIsCopied(true);
    setTimeout(() => setIsCopied(false), 1_500);
  };
  return (
    <Button
      kind="ghost"
      size="small"
      icon
      label={t(isCopied ? 'copied' : 'copy')}
      // What the browser refuses is not said to be copied.
      onClick={() => void clipboard.writeText(text).then(copied, () => undefined)}
    >
      <Icon name={isCopied ? 'check' : 'copy'} size={14} />
    </Button>
  );
}

interface BackLinkProps extends Pick<LinkProps, 'to' | 'search'> {
  /** Where it leads, for who cannot see it. */
  readonly label: string;
}

/** The way back from the page of one thing to the list of them. */
export function BackLink({ label, ...target }: BackLinkProps) {
  return (
    <Link {...target} className={buttonLook({ kind: 'ghost', icon: true })} aria-label={label}>
      <Icon name="left" />
    </Link>
  );
}
