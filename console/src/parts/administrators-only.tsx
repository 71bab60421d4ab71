import { Link } from '@tanstack/react-router';

import { useCaller } from '../api/caller.ts';
import { t } from '../text/text.ts';
import { buttonLook } from './looks/button.tsx';
import { Empty, SignInButton } from './problem.tsx';

/** In the place of a page that only administrators have, for whoever has come by its address. */
export function AdministratorsOnly() {
  const isVisitor = useCaller()?.kind === 'ANONYMOUS';
  return (
    <Empty
      title={t('signIn.administrators')}
      text={t(isVisitor ? 'signIn.administratorsVisitor' : 'signIn.administratorsText')}
    >
      {isVisitor ? (
        <SignInButton className={buttonLook({ kind: 'primary' })} />
      ) : (
        <Link className={buttonLook()} to="/">
          {t('page.studio')}
        </Link>
      )}
    </Empty>
  );
}
