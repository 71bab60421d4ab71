import { Link } from '@tanstack/react-router';

import { t } from '../text/text.ts';
import { buttonLook } from './looks/button.tsx';
import { Empty } from './problem.tsx';

/** What is shown where an address leads to nothing, with a way on. */
export function NotFound({ text = t('shell.notFoundText') }: { readonly text?: string }) {
  return (
    <Empty title={t('shell.notFound')} text={text}>
      <Link className={buttonLook()} to="/">
        {t('page.studio')}
      </Link>
    </Empty>
  );
}
