import { t } from '../text/text.ts';

interface MoreButtonProps {
  readonly isLoading: boolean;
  readonly onMore: () => void;
}

/** Loads the next page of a list, below what is shown of it. */
export function MoreButton({ isLoading, onMore }: MoreButtonProps) {
  return (
    <div className="pad">
      <button type="button" className="btn" disabled={isLoading} onClick={onMore}>
        {t('list.more')}
      </button>
    </div>
  );
}
