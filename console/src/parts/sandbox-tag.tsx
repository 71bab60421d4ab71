import { t } from '../text/text.ts';

/** Marks what is drawn on this machine and costs nothing. */
export function SandboxTag() {
  return (
    <span className="tag sandbox" title={t('sandbox.meaning')}>
      {t('sandbox')}
    </span>
  );
}
