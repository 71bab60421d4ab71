import { t } from '../text/text.ts';
import { tagLook } from './looks/panels.tsx';

/** Marks what is drawn on this machine and costs nothing. */
export function SandboxTag() {
  return (
    <span className={tagLook(true)} title={t('sandbox.meaning')}>
      {t('sandbox')}
    </span>
  );
}
