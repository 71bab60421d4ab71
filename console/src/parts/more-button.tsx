import { t } from '../text/text.ts';
import { Button } from './looks/button.tsx';

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
